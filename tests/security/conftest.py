"""A place where somebody means harm."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from testing.story import Story, told_in


@pytest.fixture
def story(tmp_path: Path) -> Iterator[Story]:
    with told_in(tmp_path) as story:
        yield story


@pytest.fixture
def precious(tmp_path: Path) -> Path:
    """Files of the user outside of everything that LLMC has to do with."""
    place = tmp_path / "precious"
    (place / "below").mkdir(parents=True)
    (place / "kept").write_text("kept\n")
    (place / "below" / "kept").write_text("kept too\n")
    return place
