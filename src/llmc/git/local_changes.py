"""What a fast-forward meets in the user's checkout: local changes that stay, and files that stand in its way.

Git itself has the last word when it happens. This tells beforehand, so that nobody waits for checks in vain.
"""

from __future__ import annotations

from llmc.git.parse import nul_fields
from llmc.git.repository import status
from llmc.git.runner import Git
from llmc.host.entries import holds_anything
from llmc.values import Value

_SUBMODULE = "160000"
_NONE = "000000"


class Overlap(Value):
    kept: tuple[str, ...] = ()
    """Local changes that the fast-forward does not touch."""
    in_the_way: tuple[str, ...] = ()
    """Files for which git would refuse it."""


class _TreeChange(Value):
    path: str
    old_mode: str
    mode: str
    sha: str

    @property
    def is_new(self) -> bool:
        return self.old_mode == _NONE

    @property
    def ends_submodule(self) -> bool:
        return self.old_mode == _SUBMODULE != self.mode


def overlap(git: Git, root: str, checkout: str, old: str, new: str) -> Overlap:
    """`old` and `new` are commits or trees that `root` knows; the checkout's repository need not have them yet."""
    every = _changes(git, root, old, new)
    # Git moves submodules without looking into them.
    changes = [change for change in every if _SUBMODULE not in (change.old_mode, change.mode)]
    local = [entry.path for entry in status(git, checkout)]
    touched = [change for change in changes if change.path in set(local)]
    blocking = {change.path for change in touched}
    blocking |= {path for change in changes if change.is_new and (path := _occupied(git, checkout, change.path))}
    blocking -= _already_staged(git, checkout, touched)
    blocking |= _buried(checkout, every)
    return Overlap(tuple(path for path in local if path not in blocking), tuple(sorted(blocking)))


def buried_submodules(git: Git, root: str, checkout: str, old: str, new: str) -> tuple[str, ...]:
    """Submodules in the checkout whose place files take: git removes all that is in there, and asks nobody."""
    return tuple(sorted(_buried(checkout, _changes(git, root, old, new))))


def _buried(checkout: str, changes: list[_TreeChange]) -> set[str]:
    ended = [change for change in changes if change.ends_submodule and holds_anything(f"{checkout}/{change.path}")]
    added = [change.path for change in changes if change.mode not in (_NONE, _SUBMODULE)]
    return {each.path for each in ended if any(path == each.path or path.startswith(f"{each.path}/") for path in added)}


def _changes(git: Git, root: str, old: str, new: str) -> list[_TreeChange]:
    fields = nul_fields(git.run(root, "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", old, new).out)
    found = []
    for raw, path in zip(fields[::2], fields[1::2], strict=True):
        old_mode, new_mode, _old, new_sha, _status = raw.removeprefix(":").split(" ")
        found.append(_TreeChange(path, old_mode, new_mode, new_sha))
    return found


def _already_staged(git: Git, checkout: str, changes: list[_TreeChange]) -> set[str]:
    """Paths whose new content the user has staged already: git takes these as they are."""
    wanted = {change.path: f"{change.mode} {change.sha} 0" for change in changes}
    if not wanted:
        return set()
    listed = (line.partition("\t") for line in nul_fields(git.run(checkout, "ls-files", "--stage", "-z").out))
    staged = {path for entry, _, path in listed if wanted.get(path) == entry}
    touched = set(nul_fields(git.run(checkout, "diff-files", "-z", "--name-only").out))
    return staged - touched


def _occupied(git: Git, checkout: str, path: str) -> str | None:
    """The file or directory of the user's that stands where a new file goes; None when nothing does."""
    for shorter in _and_parents(path):
        there = f"{checkout}/{shorter}"
        if git.host.exists(there) and not git.host.is_dir(there):
            return None if shorter != path and _is_tracked(git, checkout, shorter) else shorter
    if git.host.is_dir(f"{checkout}/{path}") and _untracked_in(git, checkout, path):
        return path
    return None


def _and_parents(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]


def _is_tracked(git: Git, checkout: str, path: str) -> bool:
    """A tracked file in place of a directory is part of the change itself."""
    return bool(git.run(checkout, "--literal-pathspecs", "ls-files", "-z", "--", path).out)


def _untracked_in(git: Git, checkout: str, path: str) -> bool:
    listing = ("--literal-pathspecs", "ls-files", "-z", "--others", "--", path)
    return bool(git.run(checkout, *listing).out)
