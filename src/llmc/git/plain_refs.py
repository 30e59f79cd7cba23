"""Refs with a value of their own.

Agents can make a ref stand for another one (`git symbolic-ref`, or a symlink). Git follows that when it writes: what is
LLMC's own step on one branch would move somebody else's.
"""

from __future__ import annotations

from llmc.git.repository import resolve
from llmc.git.runner import Git
from llmc.host.base import Host

_ALIAS = b"ref:"
_LONGEST = 8192
"""More than any name. What has no length, such as a named pipe, is not read."""


def is_alias(host: Host, root: str, ref: str) -> bool:
    """Only a file of its own can make it one: packed refs always have values."""
    path = f"{root}/.git/{ref}"
    if host.read_link(path) is not None:
        return True
    is_small_file = 0 < (host.size(path) or 0) <= _LONGEST and not host.is_dir(path)
    return is_small_file and (host.read(path) or b"").startswith(_ALIAS)


def make_plain(git: Git, root: str, ref: str) -> None:
    """Keeps the commit that it names, and no longer moves with the other."""
    if not is_alias(git.host, root, ref):
        return
    sha = resolve(git, root, ref)
    if sha is None or git.host.read_link(f"{root}/.git/{ref}") is not None:
        git.host.remove_tree(f"{root}/.git/{ref}")
    if sha is not None:
        git.run(root, "update-ref", "--no-deref", "-m", "llmc: no other name for another ref", ref, sha)
