"""What can be seen and written inside the fence, and where: mounts as values.

A mount lower down in the tree overrules the ones above it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import IntEnum

from llmc.values import Value


class Sight(IntEnum):
    """How a place appears inside; of two for the same place the higher one holds."""

    SYSTEM = 1
    """Read-only, because every program needs it."""
    SECRET = 2
    """Absent, unless the settings name that very place."""
    READABLE = 3
    WRITABLE = 4
    ABSENT = 5
    """LLMC's own state: whatever the settings say."""
    OWN_READABLE = 6
    OWN = 7
    """What belongs to the worker, writable."""
    HIDDEN = 8
    """The settings hide it."""


_HIDES = frozenset((Sight.SECRET, Sight.ABSENT, Sight.HIDDEN))
_WRITES = frozenset((Sight.WRITABLE, Sight.OWN))


class Mount(Value):
    target: str
    """Where it is inside."""
    sight: Sight
    source: str = ""
    """Where it is outside, if it is elsewhere."""
    is_file: bool = False

    @property
    def hides(self) -> bool:
        return self.sight in _HIDES


class Symlink(Value):
    """A symbolic link inside."""

    path: str
    leads_to: str


def is_inside(path: str, directory: str) -> bool:
    """Whether it is the directory or anything below."""
    return path == directory or path.startswith(f"{directory.rstrip('/')}/")


def in_force(mounts: Iterable[Mount]) -> tuple[Mount, ...]:
    """One for each place, those higher up in the tree first, and nothing hidden that nobody would see anyway."""
    best: dict[str, Mount] = {}
    for mount in mounts:
        known = best.get(mount.target)
        if known is None or known.sight <= mount.sight:
            best[mount.target] = mount
    ordered = sorted(best.values(), key=lambda mount: (mount.target.rstrip("/").count("/"), mount.target))
    kept: list[Mount] = []
    for mount in ordered:
        around = next((each for each in reversed(kept) if is_inside(mount.target, each.target)), None)
        if _changes(mount, around):
            kept.append(mount)
    return tuple(kept)


def _changes(mount: Mount, around: Mount | None) -> bool:
    """Whether anything would look otherwise inside without it. `around` is what it stands in."""
    if mount.hides:
        return mount.sight is Sight.ABSENT or (around is not None and not around.hides)
    plain = mount.sight not in _WRITES and not mount.source
    return not (plain and around is not None and not around.hides and around.sight not in _WRITES and not around.source)


def mount_words(mounts: Iterable[Mount]) -> Iterator[str]:
    """As bubblewrap takes them. What is empty becomes read-only last: there may be places to make in it."""
    ordered = in_force(mounts)
    for mount in ordered:
        if not mount.hides:
            yield from ("--bind" if mount.sight in _WRITES else "--ro-bind", mount.source or mount.target, mount.target)
        elif mount.is_file:
            yield from ("--ro-bind", "/dev/null", mount.target)
        else:
            yield from ("--tmpfs", mount.target)
    for mount in ordered:
        if mount.hides and not mount.is_file:
            yield from ("--remount-ro", mount.target)


def link_words(links: Iterable[Symlink]) -> Iterator[str]:
    for link in links:
        yield from ("--symlink", link.leads_to, link.path)
