"""What a reviewer should know before the diff: task, commits, checks, what is in the way, conflicts to come."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from llmc.commands.shared.known_conflicts import look_now, seen_by_daemon
from llmc.commands.shared.losses import find_loss
from llmc.core.display import one_line, plain, some
from llmc.core.landing.commit_message import first_line
from llmc.core.landing.plan import Obstacle
from llmc.core.lifecycle.effects import MergeWork
from llmc.core.paint import Paint
from llmc.errors import LlmcError
from llmc.git.history import Commit, diff_summary, own_commits
from llmc.model import Worker
from llmc.perform.accept import plan_for
from llmc.site import Site

MOST_COMMITS = 10
MOST_TASK_LINES = 12


def review_head(site: Site, worker: Worker, span: tuple[str, str], tip: str, paint: Paint) -> list[str]:
    """Harmless lines, the most important of them coloured."""
    base, commit = span
    commits = own_commits(site.git, site.root.path, commit, base) if commit else ()
    size = diff_summary(site.git, site.root.path, base, commit).rpartition("\n")[2].strip() if commit else ""
    facts = {
        "task": _task(worker),
        "commits": [_commit(each) for each in commits[:MOST_COMMITS]] + _rest(len(commits) - MOST_COMMITS),
        "changes": [size],
        "checks": [_checks(site)],
    }
    lines = fact_lines(facts, paint)
    warnings = [*_in_the_way(site, worker, tip), *_only_there(site, worker), *_to_come(site, worker)]
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


def _checks(site: Site) -> str:
    listed = ", ".join(f"`{command}`" for command in site.config.repo.validate)
    return f"{listed}: run when you accept" if listed else "none are set (repo.validate)"


def _in_the_way(site: Site, worker: Worker, tip: str) -> list[str]:
    try:
        found: Obstacle | LlmcError | None = plan_for(site, worker, tip, MergeWork(None)).obstacle
    except LlmcError as refused:
        found = refused
    return [f"accept would refuse it now: {found.what}; {found.hint}"] if found is not None else []


def _only_there(site: Site, worker: Worker) -> list[str]:
    """Commits of a submodule that the landed work would name, and that nobody else has."""
    with suppress(LlmcError):
        found = find_loss(site, worker).not_kept
        return [f"only in its worktree, and not part of what lands: {found}"] if found else []
    return []


def _to_come(site: Site, worker: Worker) -> list[str]:
    try:
        seen = seen_by_daemon(site) or look_now(site)
    except LlmcError as unknown:
        return [f"whether it will conflict with others is not known: {unknown.what}"]
    return [
        f"will conflict with {_other(pair, worker.name)} in {some(tuple(file['path'] for file in pair['files']))}"
        for pair in seen["with_each_other"]
        if worker.name in pair["workers"]
    ]


def _other(pair: dict[str, Any], name: str) -> str:
    return str(next(other for other in pair["workers"] if other != name))
