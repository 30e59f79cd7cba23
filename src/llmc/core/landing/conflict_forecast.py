"""Which workers can stand in each other's way at all, and how that is told. Pure.

Comparing two sets of paths costs next to nothing; merging two workers' work costs a process.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any

from llmc.values import Value

SCHEMA = 1


class Touched(Value):
    """The paths that a worker's work adds to, changes in and removes from the branch."""

    added: frozenset[str] = frozenset()
    changed: frozenset[str] = frozenset()
    removed: frozenset[str] = frozenset()

    @property
    def all(self) -> frozenset[str]:
        return self.added | self.changed | self.removed


class FileClash(Value):
    path: str
    kind: str


class ForecastStanding(Value):
    """Where a worker's commits stand: what was seen holds as long as they stand there."""

    head: str | None = None
    """What its worktree has checked out."""
    tip: str | None = None
    """That of its branch."""


class Seen(Value):
    """What was seen of one worker."""

    at_unix: float
    touched: Touched = field(default_factory=Touched)
    uncommitted: bool = False
    with_branch: tuple[FileClash, ...] = ()
    unknown: str = ""
    """Why nothing could be seen."""
    standing: ForecastStanding = field(default_factory=ForecastStanding)


def may_clash(one: Touched, other: Touched) -> bool:
    """Never False where git would find a conflict."""
    mine, yours = one.all, other.all
    return bool(
        mine & yours
        or mine & _directories(yours)
        or yours & _directories(mine)
        or _moved_under(one, other)
        or _moved_under(other, one)
    )


def _moved_under(mover: Touched, other: Touched) -> bool:
    """Whether one may have renamed a directory in which the other has something new."""
    return bool(mover.added and mover.removed and _directories(mover.removed) & _directories(other.added))


def _directories(paths: Iterable[str]) -> set[str]:
    """Every directory above one of these paths, the top left out."""
    found: set[str] = set()
    for path in paths:
        above = path.rpartition("/")[0]
        while above and above not in found:
            found.add(above)
            above = above.rpartition("/")[0]
    return found


Pairs = Mapping[tuple[str, str], tuple[FileClash, ...]]
Document = dict[str, object]


def radar_document(
    branch: str, upstream: str | None, seen: Mapping[str, Seen], pairs: Pairs, at_unix: float
) -> Document:
    """What `llmc conflicts --json` says and the daemon keeps. `at_unix` of a worker is when it was looked at."""
    return {
        "schema": SCHEMA,
        "branch": branch,
        "upstream": upstream,
        "at_unix": at_unix,
        "workers": {name: _worker(one) for name, one in seen.items()},
        "with_each_other": [
            {"workers": list(both), "files": _files(clashes)} for both, clashes in sorted(pairs.items()) if clashes
        ],
    }


def is_current(document: Mapping[str, Any], upstream: str | None, standings: Mapping[str, ForecastStanding]) -> bool:
    """Whether nobody has committed since that was seen. Files that are not committed may be newer."""
    seen = {
        name: ForecastStanding(worker.get("head"), worker.get("tip")) for name, worker in document["workers"].items()
    }
    return document.get("upstream") == upstream and seen == standings


def _worker(seen: Seen) -> Document:
    return {
        "at_unix": seen.at_unix,
        "head": seen.standing.head,
        "tip": seen.standing.tip,
        "files_touched": len(seen.touched.all),
        "uncommitted": seen.uncommitted,
        "with_branch": _files(seen.with_branch),
        "unknown": seen.unknown or None,
    }


def _files(clashes: tuple[FileClash, ...]) -> list[dict[str, str]]:
    return [{"path": clash.path, "kind": clash.kind} for clash in clashes]
