"""What a reviewer should know before the diff: task, commits, checks, what is in the way, conflicts to come."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from llmc.commands.shared.known_checks import check_lines
from llmc.commands.shared.known_conflicts import conflicts_to_come
from llmc.commands.shared.losses import find_loss
from llmc.commands.shared.review_document import WorkLook
from llmc.core.display import one_line, plain, some
from llmc.core.landing.commit_message import first_line
from llmc.core.landing.plan import AcceptPlan
from llmc.core.lifecycle.effects import MergeWork
from llmc.core.paint import Paint
from llmc.core.tasks.rounds import brief
from llmc.errors import LlmcError
from llmc.git.history import Commit, diff_summary, own_commits
from llmc.model import Worker
from llmc.perform.accept import plan_for
from llmc.site import Site

MOST_COMMITS = 10
MOST_TASK_LINES = 12
MOST_COMMENTS = 12


def review_head(site: Site, worker: Worker, look: WorkLook, plan: AcceptPlan | LlmcError, paint: Paint) -> list[str]:
    """Harmless lines, the most important of them coloured. `plan` is what accepting would do, if that is known."""
    base, commit = look.span
    commits = own_commits(site.git, site.root.path, commit, base) if commit else ()
    size = diff_summary(site.git, site.root.path, base, commit).rpartition("\n")[2].strip() if commit else ""
    facts = {
        "task": _task(worker),
        "commits": [_commit(each) for each in commits[:MOST_COMMITS]] + _rest(len(commits) - MOST_COMMITS),
        "changes": [size],
        "checks": check_lines(site, plan),
        "comments": _comments(look),
    }
    lines = fact_lines(facts, paint)
    in_the_way = _in_the_way(plan)
    warnings = [*in_the_way, *_only_there(site, worker), *_to_come(site, worker, lands=not in_the_way)]
    return [*lines, *(paint("waits", plain(f"! {each}")) for each in warnings)]


def fact_lines(facts: Mapping[str, list[str]], paint: Paint) -> list[str]:
    return [line for name, texts in facts.items() for line in _fact(name, texts, paint)]


def _fact(name: str, texts: list[str], paint: Paint) -> list[str]:
    labels = [paint("faint", f"{name:<8}"), *[" " * 8] * len(texts)]
    return [f"{label} {plain(text)}" for label, text in zip(labels, texts, strict=False) if text]


def _task(worker: Worker) -> list[str]:
    lines = worker.current_prompt.strip().splitlines() or ["it was not given through LLMC"]
    more = len(lines) - MOST_TASK_LINES
    return lines[:MOST_TASK_LINES] + ([f"... and {more} more lines"] if more > 0 else [])


def _commit(commit: Commit) -> str:
    return f"{commit.sha[:8]} {one_line(first_line(commit.message), 100)}"


def _rest(number: int) -> list[str]:
    return [f"... and {number} more"] if number > 0 else []


def plan_of(site: Site, worker: Worker, tip: str) -> AcceptPlan | LlmcError:
    try:
        return plan_for(site, worker, tip, MergeWork(None))
    except LlmcError as refused:
        return refused


def _in_the_way(plan: AcceptPlan | LlmcError) -> list[str]:
    found = plan if isinstance(plan, LlmcError) else plan.obstacle
    return [f"accept would refuse it now: {found.what}; {found.hint}"] if found is not None else []


def _only_there(site: Site, worker: Worker) -> list[str]:
    """Commits of a submodule that the landed work would name, and that nobody else has."""
    with suppress(LlmcError):
        found = find_loss(site, worker).not_kept
        return [f"only in its worktree, and not part of what lands: {found}"] if found else []
    return []


def _to_come(site: Site, worker: Worker, *, lands: bool) -> list[str]:
    try:
        found = conflicts_to_come(site, worker.name)
    except LlmcError as unknown:
        return [f"whether it will conflict with others is not known: {unknown.what}"]
    now = "lands cleanly now; " if lands else ""
    return [f"{now}will conflict with {each['worker']} in {some(each['files'])}" for each in found]


def _comments(look: WorkLook) -> list[str]:
    lines = [f"open: {brief(each)}" for each in look.record.open]
    if not look.since:  # else each is shown with its lines
        earlier = reversed(look.record.earlier)
        lines += [f"round {each.round}: {brief(each, look.fates.get(each.number))}" for each in earlier]
    return lines[:MOST_COMMENTS] + _rest(len(lines) - MOST_COMMENTS)
