"""Whether a worktree is still the one that LLMC made for its worker. Reads three small files and starts no process."""

from __future__ import annotations

from llmc.git.parse import decode
from llmc.host.base import Host

_POINTER = "gitdir: "
_LONGEST = 8192
"""More than any path. What is longer, or has no length, such as a named pipe, is not read at all."""


def foreign_git(host: Host, root: str, name: str) -> str | None:
    """Why the worktree's git is not LLMC's any more; None when it and the clone's record of it name each other."""
    worktree, record = f"{root}/.worktrees/{name}", f"{root}/.git/worktrees/{name}"
    if not host.is_dir(worktree):
        return "its directory is gone"
    if host.read_link(worktree) is not None:
        return "its directory is a link to another place"
    return _wrong_pointer(host, worktree, record) or _wrong_record(host, root, worktree, record)


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


def _wrong_record(host: Host, root: str, worktree: str, record: str) -> str | None:
    if not host.is_dir(record) or host.read_link(record) is not None:
        return "the clone has no record of it"
    if not _leads_to(host, record, _line(host, f"{record}/gitdir"), f"{worktree}/.git"):
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
