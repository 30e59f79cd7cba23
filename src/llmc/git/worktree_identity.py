"""Whether a worktree is still the one that LLMC made. Reads a few small files and starts no process."""

from __future__ import annotations

import re

from llmc.errors import LlmcError
from llmc.git.own_view import SUBMODULES, place_of, record_of, records_of
from llmc.git.parse import decode
from llmc.git.plain_refs import is_alias
from llmc.host.base import Host

_POINTER = "gitdir: "
_HEAD = re.compile(r"ref: refs/heads/\S+|[0-9a-f]{40,64}")
_LONGEST = 8192
"""More than any path. What is longer, or has no length, such as a named pipe, is not read at all."""


class NotOursError(LlmcError):
    """The worktree is another repository's by now; nothing was changed."""


def require_ours(host: Host, root: str, name: str) -> None:
    why = foreign_git(host, root, name)
    if why is not None:
        raise NotOursError(
            f"{name}'s worktree is not the one that LLMC made: {why}",
            f"`llmc doctor --repair` repairs that, `llmc reset {name}` empties it too; both keep what is there",
        )


def foreign_git(host: Host, root: str, name: str) -> str | None:
    """Why the worktree's git is not LLMC's any more; None when it and the clone's record of it name each other."""
    worktree = place_of(root, name)
    if not host.is_dir(worktree):
        return "its directory is gone"
    if host.read_link(worktree) is not None:
        return "its directory is a link to another place"
    wrong = _wrong_pointer(host, worktree, record_of(root, name)) or _wrong_record(host, root, name)
    if wrong is None and is_alias(host, root, f"refs/heads/llmc/{name}"):
        return "its branch is only another name for somebody else's"
    return wrong


def points_at_record(host: Host, root: str, name: str) -> bool:
    return _wrong_pointer(host, place_of(root, name), record_of(root, name)) is None


def recorded_head(host: Host, root: str, name: str) -> str | None:
    """What the clone's record says is checked out; None where it is not the clone's or says nothing."""
    record = record_of(root, name)
    if any(host.read_link(path) is not None for path in (records_of(root), record, f"{record}/HEAD")):
        return None
    line = _line(host, f"{record}/HEAD")
    return line if _HEAD.fullmatch(line) else None


def has_whole_record(host: Host, root: str, name: str) -> bool:
    """Whether the clone's record can be used once it names the right places again."""
    record = record_of(root, name)
    # Git makes no links there, and what it empties, such as `rebase-merge`, it empties through a link as well.
    return recorded_head(host, root, name) is not None and not host.has_odd_files(record, SUBMODULES, links_too=True)


def _wrong_pointer(host: Host, worktree: str, record: str) -> str | None:
    path = f"{worktree}/.git"
    if not host.exists(path):
        return "its .git is gone"
    if host.read_link(path) is not None:
        return "its .git is a link to another place"
    if host.is_dir(path):
        return "its .git is a repository of its own"
    line = _line(host, path)
    if not line.startswith(_POINTER):
        return "its .git cannot be read"
    if not _leads_to(host, worktree, line.removeprefix(_POINTER), record):
        return "its .git belongs to another repository"
    return None


def _wrong_record(host: Host, root: str, name: str) -> str | None:
    record = record_of(root, name)
    if not has_whole_record(host, root, name):
        return "the clone has no usable record of it"
    if not _leads_to(host, record, _line(host, f"{record}/gitdir"), f"{place_of(root, name)}/.git"):
        return "the clone's record of it names another place"
    if not _leads_to(host, record, _line(host, f"{record}/commondir"), f"{root}/.git"):
        return "the clone's record of it belongs to another repository"
    return None


def _line(host: Host, path: str) -> str:
    """Empty for whatever is no small file."""
    size = host.size(path)
    if not size or size > _LONGEST or host.is_dir(path):
        return ""
    return decode(host.read(path) or b"").strip()


def _leads_to(host: Host, start: str, pointer: str, wanted: str) -> bool:
    """Git writes absolute paths or, with worktree.useRelativePaths, those that begin where the pointer stands."""
    if not pointer or "\0" in pointer:
        return False
    target = pointer if pointer.startswith("/") else f"{start}/{pointer}"
    return host.real_path(target) == host.real_path(wanted)
