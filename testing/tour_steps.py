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
    "qwen": ("qwen", "--approval-mode", "default"),
    "copilot": ("copilot",),
    "kimi": ("kimi",),
}
TWICE = ("Escape", "Escape")
INTERRUPT = {"opencode": TWICE, "copilot": TWICE, "kilo": TWICE, "aider": ("C-c",)}
"""What interrupts it, where one Escape does not."""
DIALOG_ENDS = {
    "qwen": ("Waiting for user confirmation",),
    "copilot": ("enter to select", "enter accept"),
    "kimi": ("↵ confirm", "↵ choose"),
}
"""What an open dialog says at its end, whatever it is about: on a slow machine a spinner may stand still."""
SLEEP = "for i in 1 2 3 4; do sleep 2; done"
"""Qwen Code refuses to run a plain sleep with something behind it."""

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
    wait_for_dialog(tour)


def wait_for_dialog(tour: Tour) -> None:
    tour.wait_for(*DIALOG_ENDS.get(tour.name, ("",)))
    tour.wait_until_still()


def interrupt_keys(cli: str) -> tuple[str, ...]:
    return INTERRUPT.get(cli, ("Escape",))


def interrupt(tour: Tour) -> None:
    tour.press(*interrupt_keys(tour.name), pause=0.7)
    time.sleep(2)
