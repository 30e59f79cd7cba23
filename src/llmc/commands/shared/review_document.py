"""A worker's work as a reviewer sees it, as data. Looks only: nothing is rebased, and it does not count as a review."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from llmc.commands.shared.known_checks import checks_data
from llmc.commands.shared.known_conflicts import conflicts_to_come
from llmc.commands.shared.losses import can_be_asked
from llmc.commands.shared.rounds import Span, comments_in
from llmc.core.diff_data import PatchData
from llmc.core.landing.plan import AcceptPlan
from llmc.core.tasks.rounds import Fate, ReviewRecord, comment_data, round_data
from llmc.errors import LlmcError
from llmc.git.hidden import whole_status
from llmc.git.line_history import read_patch, what_became
from llmc.git.repository import require_object
from llmc.git.since_review import expected_tree
from llmc.model import Worker
from llmc.observe.branches import work_span
from llmc.site import Site
from llmc.values import Value


class WorkLook(Value):
    """What there is to see. All of it is read once, so that it fits together while the agent goes on."""

    span: Span
    """Empty names where there is no work."""
    tree: str
    shown: Span
    """What to show the difference of: the span, or what changed since the last look."""
    record: ReviewRecord
    fates: dict[int, Fate]
    """What became of the lines of each comment; none where there is no work."""
    since: str = ""
    """In words, what is compared with; empty where all of the work is shown."""


def look_at_work(site: Site, worker: Worker, *, since_last: bool = False) -> WorkLook:
    git, root = site.git, site.root.path
    record = comments_in(site).of(worker)
    span = work_span(site, worker)
    if span is None:
        if since_last:
            raise no_work(worker)
        return WorkLook(("", ""), "", ("", ""), record, {})
    tree = require_object(git, root, span[1], "tree")
    fates = what_became(git, root, (*record.earlier, *record.open), span)
    since, expected = _last_seen(site, worker, record, span) if since_last else ("", span[0])
    return WorkLook(span, tree, (expected, span[1]), record, fates, since)


def no_work(worker: Worker) -> LlmcError:
    return LlmcError(f"{worker.name} has no work to review", f"`llmc explain {worker.name}` tells what it is at")


def _last_seen(site: Site, worker: Worker, record: ReviewRecord, span: Span) -> tuple[str, str]:
    """The work of the last round, or of the last review, on what the present work stands on."""
    all_of_it = f"`llmc review {worker.name}` shows all of the work"
    if record.rounds:
        last = record.rounds[-1]
        since, base, commit = f"round {last.number}", last.base_sha, last.commit_sha
    elif worker.reviewed is not None and worker.reviewed.commit:
        since, base, commit = "the last review", worker.reviewed.base, worker.reviewed.commit
    else:
        raise LlmcError(f"nobody has reviewed {worker.name}'s work before", all_of_it)
    expected = expected_tree(site.git, site.root.path, base, span[0], commit)
    if expected is None:
        raise LlmcError(f"the commit of {since} is gone ({commit[:12]})", all_of_it)
    return since, expected


def review_document(site: Site, worker: Worker, look: WorkLook, plan: AcceptPlan | LlmcError) -> dict[str, Any]:
    """`plan` is what accepting would do, or why that is not known."""
    commit = look.span[1]
    changes = read_patch(site.git, site.root.path, *look.shown) if commit else PatchData("")
    return {
        "worker": worker.name,
        "task": worker.task or None,
        "prompt": worker.current_prompt,
        "commit_sha": worker.commit_sha,
        "base_sha": worker.base_sha,
        "reviewed_sha": commit,
        "tree": look.tree,
        "since": look.since or None,
        "checks": checks_data(site, plan),
        "uncommitted": _uncommitted(site, worker),
        "conflicts": _conflicts(site, worker),
        "comments": [
            comment_data(each, look.fates.get(each.number)) for each in (*look.record.earlier, *look.record.open)
        ],
        "rounds": [round_data(each) for each in look.record.rounds],
        "files": changes.files,
        "hunks": changes.hunks,
        "diff": changes.text,
    }


def _uncommitted(site: Site, worker: Worker) -> list[str] | None:
    """None where nobody can tell."""
    with suppress(LlmcError):
        if site.host.is_dir(worker.worktree_path) and can_be_asked(site, worker):
            return [entry.path for entry in whole_status(site.git, worker.worktree_path).entries]
    return None


def _conflicts(site: Site, worker: Worker) -> list[dict[str, Any]] | None:
    with suppress(LlmcError):
        return conflicts_to_come(site, worker.name)
    return None
