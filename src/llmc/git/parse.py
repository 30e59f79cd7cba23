"""Git's machine-readable output as values. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum

from llmc.values import Value


def decode(raw: bytes) -> str:
    """Paths are bytes to git. What is no UTF-8 survives the way back through `encode`."""
    return raw.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def nul_fields(raw: bytes) -> tuple[str, ...]:
    """The fields of output whose every field ends with NUL (`-z`)."""
    return tuple(decode(raw).split("\0")[:-1])


class StatusKind(StrEnum):
    """How a path differs from HEAD."""

    CHANGED = "changed"
    UNMERGED = "unmerged"
    UNTRACKED = "untracked"


class StatusEntry(Value):
    """One path of `git status`. A repository of its own inside the worktree is untracked and ends with "/"."""

    path: str
    kind: StatusKind
    code: str
    """Git's XY: index and worktree, `.` for unchanged; `??` for untracked."""
    inner: bool = False
    """Files inside of a submodule changed, which this repository cannot see."""


class Unmerged(Value):
    """A path in conflict: one mode per stage (base, ours, theirs), "000000" where that stage has no file."""

    path: str
    code: str
    modes: tuple[str, str, str]
    worktree_mode: str


class WorktreeStatus(Value):
    """All that one `git status` tells."""

    head: str | None
    """None before the first commit."""
    branch: str | None
    """None when HEAD is detached."""
    entries: tuple[StatusEntry, ...]
    index: tuple[str, ...]
    """The lines of `git ls-files -v --stage`."""


def parse_worktree_status(raw: bytes, index: tuple[str, ...]) -> WorktreeStatus:
    """Reads the output that `parse_status` reads, with what `--branch` adds to it."""
    told = dict(field[2:].split(" ", 1) for field in nul_fields(raw) if field.startswith("# branch."))
    head, branch = told["branch.oid"], told["branch.head"]
    return WorktreeStatus(
        None if head == "(initial)" else head, None if branch == "(detached)" else branch, parse_status(raw), index
    )


def parse_status(raw: bytes) -> tuple[StatusEntry, ...]:
    """Reads `git status --porcelain=v2 -z --no-renames`."""
    return tuple(_status_entry(record) for record in nul_fields(raw) if not record.startswith("# "))


def _status_entry(record: str) -> StatusEntry:
    match record[:2]:
        case "? ":
            return StatusEntry(record[2:], StatusKind.UNTRACKED, "??")
        case "1 ":
            inner = record[5] == "S" and record[7:9] != ".."
            return StatusEntry(record.split(" ", 8)[8], StatusKind.CHANGED, record[2:4], inner)
        case "u ":
            return StatusEntry(record.split(" ", 10)[10], StatusKind.UNMERGED, record[2:4])
    raise ValueError(f"git status said {record!r}")


def parse_unmerged(raw: bytes) -> tuple[Unmerged, ...]:
    """The conflicts in the same output that `parse_status` reads."""
    records = (record.split(" ", 10) for record in nul_fields(raw) if record.startswith("u "))
    return tuple(Unmerged(f[10], f[1], (f[3], f[4], f[5]), f[6]) for f in records)


class Worktree(Value):
    """One entry of `git worktree list`."""

    path: str
    head: str | None = None
    branch: str | None = None
    """Without `refs/heads/`; None when HEAD is detached or the repository bare."""
    bare: bool = False
    locked: bool = False
    unfinished: bool = False
    """Git still fills the directory, or was ended while it did."""
    missing: bool = False
    """The directory is gone; git would prune the entry."""


def parse_worktrees(raw: bytes) -> tuple[Worktree, ...]:
    """Reads `git worktree list --porcelain -z`."""
    return tuple(_worktree(dict(_attributes(block))) for block in decode(raw).split("\0\0") if block)


def _attributes(block: str) -> Iterator[tuple[str, str]]:
    for line in block.split("\0"):
        name, _, value = line.partition(" ")
        yield name, value


def _worktree(found: dict[str, str]) -> Worktree:
    branch = found.get("branch")
    return Worktree(
        path=found["worktree"],
        head=found.get("HEAD"),
        branch=branch.removeprefix("refs/heads/") if branch else None,
        bare="bare" in found,
        locked="locked" in found,
        unfinished=found.get("locked") == "initializing",
        missing="prunable" in found,
    )


_REFUSAL = re.compile(r"would be (overwritten|removed) by|would lose untracked files")


def refused_files(words: str) -> tuple[str, ...]:
    """The files that git lists, indented, when it will not overwrite local changes; none for other complaints."""
    if not _REFUSAL.search(words):
        return ()
    listed = [line.strip() for line in words.split("\n") if line[:1] in ("\t", " ")]
    return tuple(dict.fromkeys(name for name in listed if name))
