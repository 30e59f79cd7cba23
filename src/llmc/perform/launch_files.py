"""The files that an agent is started with: settings of its own, and links to those of the person."""

from __future__ import annotations

import os
from pathlib import Path

from llmc.agents.base import Launch
from llmc.host.files import write_atomically


def write_launch_files(launch: Launch, own: str = "") -> None:
    """A link in place of a file is replaced: it may lead to a file of the person's. One to a directory, too.

    `own` is a directory which the last agent could write to.
    """
    for path, content in launch.files.items():
        _without_links(path, own)
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        write_atomically(Path(path), content)
    for path, target in launch.links.items():
        if not os.path.lexists(path):
            _without_links(path, own)
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            os.symlink(target, path)


def _without_links(path: str, own: str) -> None:
    place = os.path.dirname(path)
    while own and place.startswith(f"{own}/"):
        if os.path.islink(place):
            os.unlink(place)
        place = os.path.dirname(place)
