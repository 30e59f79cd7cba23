"""What it costs to read a pack and to read a screen, also the worst that somebody may put on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from importlib.resources import files
from itertools import cycle
from pathlib import Path

from bench.measure import COLUMNS, Timing, take_turns
from bench.report import Table, Verdict
from llmc.agents import packs
from llmc.agents.packs import load_pack
from llmc.agents.packs.parse import parse_pack
from llmc.config.sections import CLI_AGENTS
from llmc.core.screen.classify import Pack, ScreenReading, read_screen
from llmc.core.screen.screen import Screen
from testing.recordings import recordings

SCREENS = Path(__file__).resolve().parent.parent / "tests" / "screens"

FLOOR = "splitting the screen into lines"
LIMIT_MS = 3.0


def measure(rounds: int = 30) -> list[Table]:
    timings = _timings(rounds)
    slowest = max(timing.median_ms for timing in timings if "recorded" in timing.name)
    verdict = Verdict("the slowest recorded screens", slowest, LIMIT_MS, "ms")
    return [Table("Reading screens", COLUMNS, [timing.row for timing in timings], (verdict,))]


def _timings(rounds: int) -> list[Timing]:
    screens = {cli: [each.screen for each in recordings(SCREENS) if each.cli == cli] for cli in CLI_AGENTS}
    typical = screens["claude"][0]
    worst = Screen(("a. ?: ❯ · ┃ " * 50 + "\n") * 400, "⠋ work", "node", (5, 5))
    actions: dict[str, Callable[[], object]] = {FLOOR: lambda: typical.text.splitlines()}
    for cli in CLI_AGENTS:
        pack = load_pack(cli)
        actions[f"{cli}: one of {len(screens[cli])} recorded screens"] = partial(
            _read_next, pack, cycle(screens[cli] or [typical])
        )
        actions[f"{cli}: the longest lines, 400 of them"] = partial(read_screen, pack, worst)
        text = (files(packs) / f"{cli}.toml").read_text()
        actions[f"{cli}: reading the pack"] = partial(parse_pack, text, cli, lambda _: ())
    return take_turns(actions, floor=FLOOR, rounds=rounds)


def _read_next(pack: Pack, screens: Iterator[Screen]) -> ScreenReading:
    return read_screen(pack, next(screens))
