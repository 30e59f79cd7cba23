"""This program as one archive, for a machine that has none."""

from __future__ import annotations

import io
import tarfile
from importlib.util import find_spec
from pathlib import Path

PACKAGES = ("llmc", "inotify_simple", "tomlkit")
"""With what the commands of a machine need beside it; all of it is Python alone."""


def own_package() -> bytes:
    """As it is unpacked among the packages of a Python there."""
    pack = io.BytesIO()
    with tarfile.open(fileobj=pack, mode="w:gz") as archive:
        for name in PACKAGES:
            found = find_spec(name)
            if found is None or found.origin is None:
                continue  # where the system has no use for it
            place = Path(found.origin)
            place = place.parent if place.name == "__init__.py" else place
            archive.add(place, place.name, filter=_without_caches)
    return pack.getvalue()


def _without_caches(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    return None if "__pycache__" in entry.name else entry
