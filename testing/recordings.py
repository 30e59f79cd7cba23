"""Recorded screens with true labels: `DIRECTORY/CLI/LABEL/SCENARIO-WIDTHxHEIGHT-N.txt`, with a `.json` beside each."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llmc.agents.packs import load_pack
from llmc.agents.packs.examples import recorded_screen
from llmc.core.screen.classify import ScreenReading, read_screen
from llmc.core.screen.screen import Screen
from llmc.tmux.server import Tmux

FACTS = ("pane_title", "pane_current_command", "cursor_x", "cursor_y", "alternate_on")
COLOURED = ("NEEDS_CONFIRMATION",)
"""The labels of which the colours are kept, too: some CLIs mark the chosen option of a dialog by nothing else."""


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

    def read(self, *, bare: bool = False) -> ScreenReading:
        """What its pack says; when bare, of the text alone."""
        screen = Screen(self.screen.text) if bare else self.screen
        return read_screen(load_pack(self.cli), screen)

    def is_right(self, reading: ScreenReading) -> bool:
        return reading.state in (self.label, self.facts.get("alt_label"))


def keep_frame(tmux: Tmux, pane: str, path: Path, known: Mapping[str, object], shown_as: Mapping[str, str]) -> None:
    """Writes what the terminal shows now, and what tmux knows of it. Names of this machine are shown as others."""
    form = "\t".join(f"#{{{name}}}" for name in FACTS)
    facts = tmux.run("display-message", "-p", "-t", pane, form).text.rstrip("\n").split("\t")
    path.parent.mkdir(parents=True, exist_ok=True)
    _write(path, tmux.run("capture-pane", "-p", "-t", pane).text, shown_as)
    if known["label"] in COLOURED:
        _write(path.with_suffix(".ansi"), tmux.run("capture-pane", "-p", "-e", "-t", pane).text, shown_as)
    seen: dict[str, object] = dict(zip(FACTS, facts, strict=True))
    seen |= {"pane_title": facts[0].rstrip(), "cursor_x": int(facts[2]), "cursor_y": int(facts[3])}
    told = json.dumps({**known, **seen}, indent=1, ensure_ascii=False)
    path.with_suffix(".json").write_text(told + "\n", encoding="utf-8")


def _write(path: Path, text: str, shown_as: Mapping[str, str]) -> None:
    for name, other in shown_as.items():
        text = text.replace(name, other)
    path.write_text(text, encoding="utf-8")


def recordings(directory: Path) -> Iterator[Recording]:
    for path in sorted(directory.glob("*/*/*.txt")):
        yield Recording(path, json.loads(path.with_suffix(".json").read_text("utf-8")))
