"""Ending a turn by keys, as playbooks: what is seen, and what is done about it."""

from __future__ import annotations

from typing import Any

import pytest

from llmc.core.delivery.interrupt import (
    AGAIN_AFTER,
    AT_REST_FOR,
    LOOKS_BUSY_WITHIN,
    NEXT_KEY_AFTER,
    SAYS_SO_FOR,
    InterruptAction,
    InterruptLook,
    InterruptOutcome,
    InterruptProgress,
    Witness,
    advance,
)

SOON = 0.1
WITHIN = 10.0
BUSY = {"state": "BUSY", "turn_open": True}
READY = {"state": "READY"}
QUIET = {"state": "READY", "turn_open": True}
"""Between two steps of a turn."""
ASKS = {"state": "NEEDS_CONFIRMATION", "turn_open": True}
INTERRUPTED = {"state": "READY", "detail": "interrupted", "turn_open": True}
TOLD = {"state": "READY", "end_told": True}
KEY, NEXT_KEY, LOOK = InterruptAction(key=0), InterruptAction(key=1), InterruptAction()


def play(
    *scenes: tuple[float, dict[str, Any], InterruptAction | None], keys: int = 1, keeps_draft: bool = True
) -> InterruptAction:
    """Shows each scene `(seconds later, what is seen, what is expected)`; None: the end, which is the answer."""
    progress, action, at = InterruptProgress(keys, WITHIN, keeps_draft), LOOK, 1_000.0
    for number, (later, seen, expected) in enumerate(scenes):
        at += later
        progress, action = advance(progress, InterruptLook(at, **seen))
        if expected is not None:
            assert action == expected, f"scene {number}: {seen} led to {action}"
    assert action.ended is not None
    return action


@pytest.mark.parametrize("seen", [READY, INTERRUPTED, {"state": "ERROR"}])
def test_no_key_is_pressed_where_no_turn_runs(seen: dict[str, Any]) -> None:
    later = LOOKS_BUSY_WITHIN if seen["state"] == "ERROR" else 0.0
    waits = ((SOON, seen, LOOK),) if later else ()
    assert play(*waits, (later, seen, None)).ended is InterruptOutcome.IDLE


@pytest.mark.parametrize("seen", [BUSY, ASKS])
def test_the_agents_own_report_proves_it(seen: dict[str, Any]) -> None:
    ended = play((SOON, seen, KEY), (SOON, seen, LOOK), (SOON, TOLD, None))
    assert (ended.ended, ended.proof) == (InterruptOutcome.INTERRUPTED, Witness.HOOK)


@pytest.mark.parametrize(("seen", "rest"), [(QUIET, AT_REST_FOR), (INTERRUPTED, SAYS_SO_FOR)])
def test_a_screen_that_has_come_to_rest_proves_it(seen: dict[str, Any], rest: float) -> None:
    ended = play((SOON, BUSY, KEY), (SOON, BUSY, LOOK), (SOON, seen, LOOK), (rest, seen, None))
    assert (ended.ended, ended.proof) == (InterruptOutcome.INTERRUPTED, Witness.SCREEN)


def test_a_screen_that_changes_again_is_not_at_rest() -> None:
    moving = [(AT_REST_FOR / 2, {**QUIET, "digest": str(n)}, LOOK) for n in range(6)]
    assert play((SOON, BUSY, KEY), *moving, (AT_REST_FOR, {**QUIET, "digest": "5"}, None)).proof is Witness.SCREEN


def test_a_turn_that_is_open_and_quiet_is_given_time_to_show_itself() -> None:
    ended = play(
        (SOON, QUIET, LOOK), (LOOKS_BUSY_WITHIN, QUIET, KEY), (SOON, INTERRUPTED, LOOK), (1, INTERRUPTED, None)
    )
    assert ended.ended is InterruptOutcome.INTERRUPTED


def test_keys_of_a_row_come_one_after_the_other_with_a_look_in_between() -> None:
    row = ((SOON, BUSY, KEY), (SOON, BUSY, LOOK), (NEXT_KEY_AFTER, BUSY, NEXT_KEY))
    assert play(*row, (SOON, TOLD, None), keys=2).proof is Witness.HOOK
    # Where the first one was enough, the second is not pressed.
    first = play((SOON, BUSY, KEY), (SOON, INTERRUPTED, LOOK), (NEXT_KEY_AFTER, INTERRUPTED, None), keys=2)
    assert first.ended is InterruptOutcome.INTERRUPTED


def test_what_does_not_stop_is_unknown_after_a_few_keys() -> None:
    again = ((AGAIN_AFTER, BUSY, KEY), (AGAIN_AFTER, BUSY, LOOK), (AGAIN_AFTER, BUSY, KEY), (WITHIN, BUSY, None))
    ended = play((SOON, BUSY, KEY), (SOON, BUSY, LOOK), *again)
    assert (ended.ended, ended.proof) == (InterruptOutcome.UNKNOWN, Witness.NONE)
    assert "does not stop" in ended.reason


@pytest.mark.parametrize(
    ("seen", "why"),
    [({**BUSY, "draft": True}, "draft"), ({**ASKS, "turn_open": False}, "llmc answer"), ({"gone": True}, "ended")],
)
def test_where_a_key_would_do_harm_none_is_pressed(seen: dict[str, Any], why: str) -> None:
    ended = play((SOON, seen, None), keeps_draft=False)
    assert ended.ended is InterruptOutcome.UNKNOWN
    assert why in ended.reason
