"""A home of the worker's own, for a CLI that reads its settings from nowhere else: all else leads to the person's."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path


def links_to(person: Path, worker: str, *, own: Collection[str]) -> dict[str, str]:
    """Links in the worker's directory to everything that the person has in theirs, but for what is the worker's own."""
    names = sorted(entry.name for entry in person.iterdir()) if person.is_dir() else []
    return {f"{worker}/{name}": str(person / name) for name in names if name not in own}
