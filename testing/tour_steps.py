"""What several tours do: start a CLI so that it acts or asks, have it at work, interrupt it."""

from __future__ import annotations

import time
from collections.abc import Mapping

from testing.models.steps import Run, Text
from testing.real_clis import merge_settings
from testing.record_screens import Tour

ASKING: Mapping[str, tuple[str, ...]] = {
    "claude": ("claude", "--permission-mode", "default"),  # or its auto mode decides by itself
    "codex": ("codex", "--no-daemon"),
    "gemini": ("gemini",),
    "opencode": ("opencode",),
}
INTERRUPT = {"opencode": ("Escape", "Escape"), "kilo": ("Escape", "Escape"), "aider": ("C-c",)}
"""What interrupts it, where one Escape does not."""

PLAIN = "The parser reads one line at a time and keeps what stands after the first separator. All tests pass. Finished."
LONG = "I read the parser first, because every caller goes through it, and then each of the tests. " * 12
SLOW = Text(LONG, over_secs=40)
COMMAND = "make install PREFIX=opt"


def accepted(tour: Tour) -> Tour:
    tour.machine.accept(tour.repository)
    return tour


def acting(tour: Tour) -> None:
    accepted(tour).start(*tour.machine.agent.argv)


def asking(tour: Tour) -> None:
    if tour.name == "opencode":
        settings = tour.machine.home / ".config" / "opencode" / "opencode.json"
        merge_settings(settings, {"permission": {"bash": "ask", "edit": "ask"}})
    accepted(tour).start(*ASKING[tour.name])


def ask_permission(tour: Tour) -> None:
    tour.say("Install it", Run(COMMAND, outside_sandbox=True), Text(PLAIN))
    tour.wait_for(COMMAND)
    tour.wait_until_still()


def interrupt_keys(cli: str) -> tuple[str, ...]:
    return INTERRUPT.get(cli, ("Escape",))


def interrupt(tour: Tour) -> None:
    tour.press(*interrupt_keys(tour.name), pause=0.7)
    time.sleep(2)
