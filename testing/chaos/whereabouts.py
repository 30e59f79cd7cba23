"""Where everything is now, by looking: worktrees, branches, backups, the user's branch, files that were put aside."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from testing.chaos.belongings import Belonging, blob_of
from testing.chaos.world import World

LARGEST = 1 << 16
"""No belonging is as large as that."""


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """What can be reached, by the name of the place."""

    places: dict[str, frozenset[str]]
    """Commits, trees and blobs of all that has a name in git."""
    aside: dict[str, Path]
    """Blobs of plain files in the root, outside of worktrees and git."""
    missing: frozenset[str]
    """Objects that something with a name needs, and that are not there."""

    def of_belonging(self, belonging: Belonging) -> str | None:
        """None when it is nowhere."""
        if belonging.is_there:
            return "where it was written"
        return self.of_object(belonging.blob) or (
            f"in {self.aside[belonging.blob]}" if belonging.blob in self.aside else None
        )

    def of_object(self, sha: str) -> str | None:
        return next((place for place, objects in self.places.items() if sha in objects), None)


def look(world: World) -> Whereabouts:
    missing: set[str] = set()

    def reached(*words: str) -> frozenset[str]:
        found = _objects(world.read_git("rev-list", "--objects", "--missing=print", *words))
        missing.update(each.removeprefix("?") for each in found if each.startswith("?"))
        return found

    places = {
        "on main": _objects(world.git("rev-list", "--objects", "main")),
        "on a worker's branch": reached("--glob=refs/heads/llmc/*"),
        "in a backup": reached("--glob=refs/llmc/backup/*"),
        "at another name in the clone": reached("--all"),
    }
    aside = {blob: file for file in _files(Path(world.root.path)) if (blob := _blob(file))}
    return Whereabouts(places, aside, frozenset(missing))


def _objects(listed: str) -> frozenset[str]:
    return frozenset(line.partition(" ")[0] for line in listed.splitlines())


def _files(root: Path) -> Iterator[Path]:
    """Worktrees that nobody knows any more are looked into as well."""
    for folder, directories, names in os.walk(root):
        if Path(folder) == root:
            directories[:] = [name for name in directories if name != ".git"]
        yield from (Path(folder, name) for name in names)


def _blob(file: Path) -> str:
    try:
        return blob_of(file.read_bytes()) if file.is_file() and file.stat().st_size < LARGEST else ""
    except OSError:
        return ""
