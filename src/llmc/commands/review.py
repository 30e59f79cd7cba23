"""`llmc review`: what a worker has made, brought up to date first."""

from __future__ import annotations

from argparse import Namespace

from llmc.app import App
from llmc.care.acting import acting_for, catch_up_if_free, finish_checks, newest_tip
from llmc.commands.shared.receipts import notes_of, unless_refused
from llmc.commands.shared.result import Result
from llmc.commands.shared.viewers import show_work
from llmc.core.display import plain
from llmc.core.landing.commit_message import first_line
from llmc.core.lifecycle import events as ev
from llmc.core.tasks.pool import next_to_review
from llmc.errors import LlmcError
from llmc.git.history import is_ancestor
from llmc.git.repository import require_object
from llmc.git.since_review import keep_reviewed
from llmc.model import Work, Worker
from llmc.observe.branches import work_span
from llmc.perform.steps import decide_and_run
from llmc.site import Site


def run(app: App, args: Namespace) -> Result:
    site = app.site()
    name = _oldest(site) if args.worker is None else args.worker
    with acting_for(site, name):
        finish_checks(site, name)
        worker, notes = bring_up_to_date(site, name)
        # Exactly what is noted here is shown, also if the agent commits in this very moment.
        base, commit = work_span(site, worker) or ("", "")
        tree = require_object(site.git, site.root.path, commit, "tree") if commit else ""
        site.ledger.apply(name, ev.ReviewOpened(site.now(), commit, tree, base))
        keep_reviewed(site.git, site.root.path, name, commit)
        site.ledger.remember_reviewed(name)
    shown = show_work(app, site, worker, (base, commit), args.interface)
    task = plain(first_line(worker.current_prompt or "work without a task"))
    head = f"{name}: {task}  (commit {(worker.commit_sha or '')[:12]})"
    after = f'accept it with `llmc accept {name}`, send it back with `llmc reject {name} "..."`'
    text = "\n".join(part for part in (head, *notes, shown.note, shown.text, after) if part)
    data = {
        "worker": name,
        "commit_sha": worker.commit_sha,
        "base_sha": worker.base_sha,
        "reviewed_sha": commit,
        "tree": tree,
        "diff": shown.text,
    }
    return Result(text, data, coloured=shown.coloured)


def _oldest(site: Site) -> str:
    for name in site.ledger.load().workers:
        catch_up_if_free(site, name, finish=True)
    worker = next_to_review(site.ledger.load().workers.values())
    if worker is None:
        raise LlmcError("no work waits for review", "see `llmc status`")
    return worker.name


def bring_up_to_date(site: Site, name: str) -> tuple[Worker, list[str]]:
    """Rebases when the branch has moved on, with what is to be told of it.

    Conflicts go to the agent, and there is nothing to see yet.
    """
    worker = site.worker(name)
    tip = newest_tip(site)
    if worker.work is not Work.NEEDS_REVIEW or worker.commit_sha is None:
        return worker, []
    if is_ancestor(site.git, site.root.path, tip, worker.commit_sha):
        return worker, []
    settled = unless_refused(decide_and_run(site, name, ev.RebaseAsked(site.now(), tip)))
    worker = site.worker(name)
    if worker.work is Work.REBASING:
        raise LlmcError(
            f"{name}'s work conflicts with {site.config.repo.branch} in {', '.join(worker.conflicted_files)}",
            "the agent was asked to resolve it; it comes back for review",
        )
    return worker, notes_of(settled)
