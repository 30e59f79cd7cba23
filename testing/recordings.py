"""Recorded screens with true labels: `DIRECTORY/CLI/LABEL/SCENARIO-WIDTHxHEIGHT-N.txt`, with a `.json` beside each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llmc.agents.packs import load_pack
from llmc.agents.packs.examples import recorded_screen
from llmc.core.classify import Reading, Screen, read_screen


@dataclass(frozen=True, slots=True)
class Recording:
    path: Path
    facts: dict[str, Any]

    @property
    def cli(self) -> str:
        return self.path.parent.parent.name

    @property
    def label(self) -> str:
        return self.path.parent.name

    @property
    def name(self) -> str:
        return f"{self.cli}/{self.label}/{self.path.stem}"

    @property
    def screen(self) -> Screen:
        return recorded_screen(self.path)

    def read(self, *, bare: bool = False) -> Reading:
        """What its pack says; when bare, of the text alone."""
        screen = Screen(self.screen.text) if bare else self.screen
        return read_screen(load_pack(self.cli), screen)

    def is_right(self, reading: Reading) -> bool:
        return reading.state in (self.label, self.facts.get("alt_label"))


def recordings(directory: Path) -> Iterator[Recording]:
    for path in sorted(directory.glob("*/*/*.txt")):
        yield Recording(path, json.loads(path.with_suffix(".json").read_text("utf-8")))
