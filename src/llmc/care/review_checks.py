"""Work that waits for review is checked as it would land, before anybody looks at it."""

from __future__ import annotations

from llmc.care.retries import count_try, try_again
from llmc.care.send_back import reject_work
from llmc.core.landing.plan import MakeCommit
from llmc.core.lifecycle import events as ev
from llmc.core.lifecycle.effects import MergeWork
from llmc.core.tasks.checks import CheckResult, TreeVerdict
from llmc.errors import LlmcError
from llmc.model import Turn, Work, Worker
from llmc.observe.branches import upstream_tip
from llmc.perform.accept import commit_of_work, plan_for
from llmc.perform.checks import check_commit, known_verdict, note_checked, state_of
from llmc.perform.notices import tell
from llmc.site import Site
from llmc.store.check_files import WorkChecks, read_checks, write_note

AS_IT_IS = MergeWork(None, changed=True)
"""Also work that nobody has reviewed yet."""

Looked = tuple[str, str, tuple[str, ...]]
"""The worker's commit, the branch that it would land on, and the checks."""


def check_if_new(site: Site, name: str, looked_at: Looked | None) -> Looked | None:
    """Checks what waits for review, unless it is what was looked at before. None where there is nothing to check."""
    waiting = _waiting(site, name)
    if waiting is None or waiting == looked_at:
        return waiting
    return waiting if _check(site, name, waiting[1]) else None


def _waiting(site: Site, name: str) -> Looked | None:
    worker, repo = site.worker(name), site.config.repo
    at_rest = not worker.pending and worker.turn is not Turn.OPEN and not worker.worktree_lost
    tip = upstream_tip(site) if worker.work is Work.NEEDS_REVIEW and at_rest else None
    if tip is None or worker.commit_sha is None or site.ledger.tasks.train.has(name):
        return None  # the train has it checked on top of what is before it
    return worker.commit_sha, tip, repo.validate


def _check(site: Site, name: str, tip: str) -> bool:
    """False when the work cannot land as it is, so that there is nothing to check. What fails is told once."""
    worker = site.worker(name)
    plan = plan_for(site, worker, tip, AS_IT_IS)
    tree = next((step.tree for step in plan.steps if isinstance(step, MakeCommit)), None)
    path = site.root.checks_file(name)
    if tree is None or worker.commit_sha is None:
        write_note(path, WorkChecks())
        return False
    before, known = read_checks(path), known_verdict(site, tree)
    if known is not None and (before.tree, before.commit, before.state) == (tree, worker.commit_sha, state_of(known)):
        return True
    try:
        verdict = known or _checked(site, worker, worker.commit_sha, tip)
    except LlmcError as unknown:
        write_note(path, WorkChecks(commit=worker.commit_sha, at_unix=site.now(), problem=unknown.what))
        raise
    _tell(site, worker, worker.commit_sha, verdict)
    if verdict.failed is not None and before.tree != tree:
        _send_back(site, name, (worker.commit_sha, tip), verdict.failed)
    return True


def _checked(site: Site, worker: Worker, head: str, tip: str) -> TreeVerdict:
    commit, _ = commit_of_work(site, worker, tip, AS_IT_IS, signed=False)
    write_note(site.root.checks_file(worker.name), WorkChecks("running", head, at_unix=site.now()))
    return check_commit(site, commit)


def _tell(site: Site, worker: Worker, head: str, verdict: TreeVerdict) -> None:
    name, failed = worker.name, verdict.failed
    words = f"`{failed.command}` {failed.problem}" if failed is not None else ""
    tell(site, site.ledger.apply(name, ev.ChecksRan(site.now(), head, words)))
    note_checked(site, worker, verdict)


def _send_back(site: Site, name: str, looked_at: tuple[str, str], failed: CheckResult) -> None:
    """With policy `auto` the agent gets what failed, as often as a task may be tried again."""
    head, tip = looked_at
    if not site.ledger.policy_of(name).recovers or not check_commit(site, tip).passed:
        return  # what fails on the branch itself is not the work's fault
    with site.lock_of(name):
        worker = site.worker(name)
        wanted = try_again(site, worker, failed) if worker.commit_sha == head else None
        if wanted is None:
            return
        count_try(site, worker, wanted.why)
        unsent = reject_work(site, worker, wanted.text)
    if unsent:
        raise LlmcError(f"what failed was not given to its agent: {unsent}", f"see `llmc explain {name}`")
