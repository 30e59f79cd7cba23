"""The tours of interruptions: somebody stops a CLI while it thinks, writes or runs a tool, or refuses what it asks."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from testing.models.steps import Hang, Run, Step, Text
from testing.record_screens import Tour
from testing.tour_steps import PLAIN, SLOW, accepted, acting, ask_permission, asking, interrupt_keys

TOOL = "echo begun; sleep 40; echo ended"
QUOTED = """\
The CLIs tell of it each in its own words:

■ Conversation interrupted - tell the model what to do differently.
  ⎿  Interrupted · What should Claude do instead?
ℹ Request cancelled.
▣  Build · Scripted · interrupted

None of them was interrupted now. Finished."""

MOMENTS: Mapping[str, tuple[Step, str, float]] = {
    "thinking": (Hang(), "", 3.0),
    "writing": (SLOW, "I read the parser first", 3.0),
    "tool": (Run(TOOL), "", 6.0),
}
"""What the model does, what is on the screen then, and how long it goes on before somebody stops it."""


def by_escape(tour: Tour) -> None:
    accepted(tour)
    for moment in MOMENTS:
        _stop(tour, moment, f"stopped-{moment}", *interrupt_keys(tour.name))
    _goes_on(tour)


def by_ctrl_c(tour: Tour) -> None:
    accepted(tour)
    for moment in MOMENTS:
        _stop(tour, moment, f"stopped-{moment}-ctrl-c", "C-c")


def by_refusal(tour: Tour) -> None:
    asking(tour)
    ask_permission(tour)
    tour.press("Escape", pause=2)
    if tour.name == "opencode":
        tour.press("Enter", pause=2)  # its second dialog takes a reason
    _frame(tour, "refused-permission")


def quoted(tour: Tour) -> None:
    acting(tour)
    tour.say("What do they say?", Text(QUOTED))
    tour.wait_for("Finished.")
    tour.wait_until_still()
    tour.frame("READY", "quotes-interrupted")


INTERRUPTIONS: Mapping[str, Callable[[Tour], None]] = {
    "interrupt-escape": by_escape,
    "interrupt-ctrl-c": by_ctrl_c,
    "interrupt-refusal": by_refusal,
    "interrupt-quoted": quoted,
}


def _stop(tour: Tour, moment: str, scenario: str, *keys: str) -> None:
    step, shown, secs = MOMENTS[moment]
    tour.start(*tour.machine.agent.argv)
    tour.say("Have a look at the parser", step, Text(PLAIN))
    tour.wait_for(shown)
    time.sleep(secs)
    tour.press(*keys, pause=0.7)
    _frame(tour, scenario)


def _frame(tour: Tour, scenario: str) -> None:
    """One Ctrl-C ends opencode: then there is nothing to see."""
    tour.wait_until_still()
    if not tour.ended:
        tour.frame("READY", scenario, "interrupted")


def _goes_on(tour: Tour) -> None:
    """The interruption is still on the screen, and no longer what the last turn ended with."""
    tour.say("Go on", Text(PLAIN))
    tour.wait_for("Finished.")
    tour.wait_until_still()
    tour.frame("READY", "goes-on")
