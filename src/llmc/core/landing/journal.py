"""A landing as it stands in the journal, and whose a file is that one which was cut short has left. Pure."""

from __future__ import annotations

from enum import StrEnum

from llmc.values import Value


class Landing(Value):
    """Work on its way onto a branch of the user's, written down before anything of theirs is touched."""

    id: str
    source: str
    checkout: str | None
    """The user's worktree that has the branch checked out; None when only the branch itself is moved."""
    branch: str
    old: str
    new: str
    ref: str
    """What keeps the new commit in LLMC's clone."""
    workers: tuple[str, ...]
    title: str
    begun_unix: float
    staged: tuple[str, ...] = ()
    """What the user had staged before: theirs, even where it is what the landing brings."""

    @property
    def words(self) -> str:
        """For a person who has to do with it."""
        whose = f"the work of {', '.join(self.workers)}" if self.workers else "work"
        return f"{whose} ({self.title or self.new[:12]}) onto {self.branch} of {self.checkout or self.source}"


class Kind(StrEnum):
    FILE = "file"
    PROGRAM = "program"
    LINK = "symlink"
    OTHER = "other"
    """A directory, a pipe, ...: nothing that git writes as one path."""


class Entry(Value):
    """What stands at a path: a file's content, or where a symlink leads."""

    kind: Kind
    content: bytes = b""

    @property
    def is_file(self) -> bool:
        return self.kind in (Kind.FILE, Kind.PROGRAM)


class Whose(StrEnum):
    AS_BEFORE = "as before"
    LANDING = "written by the landing"
    USER = "the user's own"


def whose(found: Entry | None, old: Entry | None, new: Entry | None, *, modes_count: bool = True) -> Whose:
    """Who made what stands at a path that the landing changes from `old` to `new`; None is nothing.

    A file that git was writing when it ended has the first part of its content, or none at all: git removes a file
    before it writes it anew. The same is true of whoever was putting the old one back. Whatever is called the
    landing's here is in one of the two commits with every byte, so that nothing is lost by replacing it.
    """
    if _same(found, old, modes_count) or (old is None and found is not None and found.kind is Kind.OTHER):
        return Whose.AS_BEFORE
    if found is None or _same(found, new, modes_count) or _begins(found, new) or _begins(found, old):
        return Whose.LANDING
    return Whose.USER


def _same(one: Entry | None, other: Entry | None, modes_count: bool) -> bool:
    if one is None or other is None or modes_count or not (one.is_file and other.is_file):
        return one == other
    return one.content == other.content


def _begins(found: Entry, whole: Entry | None) -> bool:
    return (
        whole is not None
        and found.is_file
        and whole.is_file
        and len(found.content) < len(whole.content)
        and whole.content.startswith(found.content)
    )
