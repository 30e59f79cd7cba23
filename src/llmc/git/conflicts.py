"""What kind of conflict a file has, whose side is whose, and where its markers are.

Git's words turn around in a rebase: "ours" (stage 2) is the branch that the work moves onto, "theirs" (stage 3) is
the worker's own commit. In a merge it is the other way. Users and agents only ever see "worker" and "upstream".
"""

from __future__ import annotations

import re
from dataclasses import replace
from enum import StrEnum

from llmc.git.failure import GitError
from llmc.git.merge_tree import MergeKind, merge_in_memory
from llmc.git.parse import Unmerged, decode, parse_unmerged
from llmc.git.repository import Operation, operations, raw_status, resolve
from llmc.git.runner import Git
from llmc.git.scratch_objects import throw_away_store
from llmc.git.worktree_commit import commit_tree
from llmc.host.files import read_below
from llmc.values import Value

_LARGEST = 16 * 1024 * 1024
"""Bytes of a file in which anybody looks for markers."""
_NONE = "000000"
_FILE = "100"
_SYMLINK = "120000"
_SUBMODULE = "160000"


class ConflictKind(StrEnum):
    """Why git could not merge a path by itself."""

    CONTENT = "content"
    BINARY = "binary"
    ADDED_BY_BOTH = "added by both"
    DELETED_UPSTREAM = "changed by the worker, deleted upstream"
    DELETED_BY_WORKER = "deleted by the worker, changed upstream"
    ADDED_BY_WORKER = "added or renamed by the worker"
    ADDED_UPSTREAM = "added or renamed upstream"
    RENAMED_OR_DELETED_BY_BOTH = "renamed or deleted by both"
    RENAMED_BY_BOTH = "renamed differently by both"
    RENAMED_AND_DELETED = "renamed by one side, deleted by the other"
    RENAME_COLLISION = "renamed by one side to a name that the other uses"
    DIRECTORY_RENAMED = "in a directory that the other side renamed"
    FILE_OR_DIRECTORY = "a file on one side, a directory on the other"
    SUBMODULE = "submodule"
    SYMLINK = "symbolic link"
    TYPE = "file type"
    MODE = "file mode"


_TOLD_BY_MERGE = {
    MergeKind.RENAMED_BY_BOTH: ConflictKind.RENAMED_BY_BOTH,
    MergeKind.RENAMED_AND_DELETED: ConflictKind.RENAMED_AND_DELETED,
    MergeKind.RENAME_COLLISION: ConflictKind.RENAME_COLLISION,
    MergeKind.DIRECTORY_RENAMED: ConflictKind.DIRECTORY_RENAMED,
    MergeKind.FILE_OR_DIRECTORY: ConflictKind.FILE_OR_DIRECTORY,
    MergeKind.TYPE: ConflictKind.TYPE,
}
"""What the stages of the index alone do not tell: git has to do the merge once more to say it."""


class Region(Value):
    """One pair of conflict markers. Line numbers count from 1."""

    first_line: int
    last_line: int
    ours: str
    base: str | None
    """Only where git is set to show it (diff3, zdiff3)."""
    theirs: str
    text: str
    """The markers with what is between them and some lines around."""
    complete: bool
    """False when the closing marker is missing: somebody stopped in the middle of resolving."""


class Conflict(Value):
    """One path that needs a decision. The stage numbers tell which `git show :N:PATH` is whose; None: has no file."""

    path: str
    kind: ConflictKind
    code: str
    worker_stage: int | None
    upstream_stage: int | None
    regions: tuple[Region, ...] = ()


def conflicts(git: Git, worktree: str) -> tuple[Conflict, ...]:
    """Every path that is still unmerged, classified, with its marker regions."""
    found = parse_unmerged(raw_status(git, worktree))
    if not found:
        return ()
    rebasing = Operation.REBASE in operations(git, worktree)
    told = _told_by_merge(git, worktree) if rebasing and any(_is_unclear(entry) for entry in found) else {}
    classified = [(entry, classify(entry, 3 if rebasing else 2)) for entry in found]
    return tuple(_with_regions(git, worktree, entry, _told(conflict, told)) for entry, conflict in classified)


def _is_unclear(entry: Unmerged) -> bool:
    return entry.code not in ("UU", "AA")


def _told(conflict: Conflict, told: dict[str, MergeKind]) -> Conflict:
    # Where git had to rename one of two files out of the way, it has put a name of its own behind the path.
    kind = told.get(conflict.path) or told.get(conflict.path.partition("~")[0])
    return replace(conflict, kind=_TOLD_BY_MERGE[kind]) if kind in _TOLD_BY_MERGE else conflict


def _told_by_merge(git: Git, worktree: str) -> dict[str, MergeKind]:
    """The same merge in memory: the worker's commit, from its parent, onto what the rebase has made so far."""
    worker, head, base = (resolve(git, worktree, rev) for rev in ("REBASE_HEAD", "HEAD", "REBASE_HEAD^"))
    if worker is None or head is None or base is None:
        return {}
    with throw_away_store(git, worktree) as store:
        upstream = commit_tree(git, worktree, f"{head}^{{tree}}", base, store)
        merged = merge_in_memory(git, worktree, upstream, worker, store.env())
    kinds = {clash.path.partition("~")[0]: clash.kind for clash in merged.clashes}
    return kinds | {clash.path: clash.kind for clash in merged.clashes}


def classify(entry: Unmerged, worker_stage: int) -> Conflict:
    upstream_stage = 5 - worker_stage
    has = {stage: entry.modes[stage - 1] != _NONE for stage in (1, 2, 3)}
    return Conflict(
        entry.path,
        _special_kind(entry) or _kind(has[1], has[worker_stage], has[upstream_stage]),
        entry.code,
        worker_stage if has[worker_stage] else None,
        upstream_stage if has[upstream_stage] else None,
    )


def _special_kind(entry: Unmerged) -> ConflictKind | None:
    sides = [mode for mode in entry.modes[1:] if mode != _NONE]
    if _SUBMODULE in sides:
        return ConflictKind.SUBMODULE
    if sides == [_SYMLINK, _SYMLINK]:
        return ConflictKind.SYMLINK
    if len(sides) == 2 and _SYMLINK in sides:
        return ConflictKind.TYPE
    return None


def _kind(base: bool, worker: bool, upstream: bool) -> ConflictKind:
    match base, worker, upstream:
        case True, True, True:
            return ConflictKind.CONTENT
        case False, True, True:
            return ConflictKind.ADDED_BY_BOTH
        case True, True, False:
            return ConflictKind.DELETED_UPSTREAM
        case True, False, True:
            return ConflictKind.DELETED_BY_WORKER
        case False, True, False:
            return ConflictKind.ADDED_BY_WORKER
        case False, False, True:
            return ConflictKind.ADDED_UPSTREAM
    return ConflictKind.RENAMED_OR_DELETED_BY_BOTH


def _with_regions(git: Git, worktree: str, entry: Unmerged, conflict: Conflict) -> Conflict:
    marked = conflict.kind in (ConflictKind.CONTENT, ConflictKind.ADDED_BY_BOTH)
    if not marked or not entry.worktree_mode.startswith(_FILE):
        return conflict
    content = read_below(worktree, conflict.path, _LARGEST)  # what is in it may be told to whoever wrote it
    if b"\0" in content:
        return replace(conflict, kind=ConflictKind.BINARY)
    regions = conflict_regions(content.decode("utf-8", "replace"))
    if not regions and entry.modes[1] != entry.modes[2]:
        return replace(conflict, kind=ConflictKind.MODE)
    return replace(conflict, regions=regions)


def leftover_markers(git: Git, worktree: str, base: str, tip: str) -> tuple[str, ...]:
    """The files in which the commits since `base` have added lines that are conflict markers."""
    # Git checks white space in the same go; the settings for that are none of our business here.
    no_space = ("-c", "core.whitespace=-blank-at-eol,-blank-at-eof,-space-before-tab")
    done = git.run(
        worktree,
        *no_space,
        "-c",
        "core.quotePath=false",
        "diff",
        "--no-ext-diff",
        "--no-textconv",
        "--check",
        base,
        tip,
        "--",
        check=False,
    )
    if done.code not in (0, 2):
        raise GitError(("diff", "--check"), done.complaint, done.code)
    found = _LEFT_OVER.findall(decode(done.out))
    return tuple(dict.fromkeys(found))


_LEFT_OVER = re.compile(r"^(.*):\d+: leftover conflict marker$", re.MULTILINE)
_MARKER = re.compile(r"(<{7}|\|{7}|={7}|>{7})(?: .*)?\r?$")


def conflict_regions(text: str, context: int = 5) -> tuple[Region, ...]:
    """Every marked conflict in a file, each with up to `context` lines around it."""
    lines = text.split("\n")
    regions: list[Region] = []
    at = 0
    while at < len(lines):
        if _marker(lines[at]) == "<":
            region = _region(lines, at, context)
            regions.append(region)
            at = region.last_line
        else:
            at += 1
    return tuple(regions)


def _region(lines: list[str], start: int, context: int) -> Region:
    parts: dict[str, list[str]] = {"<": []}
    part = "<"
    end = start + 1
    while end < len(lines):
        mark = _marker(lines[end])
        if mark in ("<", ">"):
            break
        if (mark == "=" and part != "=") or (mark == "|" and part == "<"):
            part = mark
            parts.setdefault(part, [])
        else:
            parts[part].append(lines[end])
        end += 1
    complete = end < len(lines) and _marker(lines[end]) == ">"
    stop = end + 1 if complete else end
    return Region(
        first_line=start + 1,
        last_line=stop,
        ours="\n".join(parts["<"]),
        base="\n".join(parts["|"]) if "|" in parts else None,
        theirs="\n".join(parts.get("=", [])),
        text="\n".join(lines[max(0, start - context) : stop + context]),
        complete=complete,
    )


def _marker(line: str) -> str | None:
    found = _MARKER.match(line)
    return found[1][0] if found else None
