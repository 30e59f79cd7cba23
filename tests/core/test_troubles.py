"""What is shown of a worker in trouble, with the words that would help, whoever may act."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

import pytest

from llmc.core.lifecycle.policy import Policy
from llmc.core.lifecycle.transitions.blocked import GO_ON
from llmc.core.lifecycle.transitions.shared import RESTART
from llmc.core.lifecycle.troubles import troubles
from llmc.model import Autonomy, Blocked, Evidence, Session, Turn, Work, Worker

NOW = 100_000.0
UP = Worker("adam", "/w", "llmc/adam", "llmc-adam", "demo", 0.0, NOW, session=Session.UP, turn=Turn.OVER)
AT_WORK = replace(UP, work=Work.WORKING, turn=Turn.OPEN)
SILENT = replace(AT_WORK, last_activity_unix=NOW - 120)
CRASHED = replace(AT_WORK, session=Session.CRASHED, turn=Turn.OVER, crash_count=2)
LIMITED = replace(AT_WORK, work=Work.NEEDS_INPUT, blocked=Blocked("rate_limit", NOW - 60, NOW + 3600))


def timers(**due: float) -> dict[str, object]:
    return {"timers": MappingProxyType(due)}


@pytest.mark.parametrize(
    ("worker", "screen", "shown"),
    [
        (UP, None, []),
        (AT_WORK, "READY", []),
        (replace(UP, session=Session.DOWN), None, []),
        (replace(CRASHED, stopped_by_user=True), None, []),
        (
            CRASHED,
            None,
            ["its agent has ended unexpectedly, 2 times by now; `llmc restart adam` starts it again"],
        ),
        (
            replace(CRASHED, **timers(**{RESTART: NOW + 10})),
            None,
            ["its agent has ended unexpectedly, 2 times by now; `llmc restart adam` starts it again"],
        ),
        (
            replace(AT_WORK, session=Session.DOWN),
            None,
            ["its session has ended; `llmc restart adam` starts it again"],
        ),
        (
            replace(CRASHED, work=Work.ERROR, evidence=Evidence("session.failed", NOW, "no key")),
            None,
            ["it has stopped with an error: no key; `llmc restart adam` starts it again"],
        ),
        (
            replace(AT_WORK, worktree_lost=True),
            None,
            ["its worktree is gone; `llmc restart adam` makes it again from its branch"],
        ),
        (LIMITED, None, ["its rate limit is used up (for 1h more); `llmc message adam ...` when it is over"]),
        (
            replace(LIMITED, blocked=Blocked("auth", NOW - 60)),
            None,
            ["it is not logged in (since 1m); `llmc attach adam` and log in, then `llmc message adam ...`"],
        ),
        (
            SILENT,
            "NEEDS_CONFIRMATION",
            ["its screen shows a dialog; `llmc peek adam`, then `llmc answer adam ...`"],
        ),
        (SILENT, "ERROR", ["its screen shows an error; `llmc peek adam`, then `llmc message adam ...`"]),
        (
            SILENT,
            "READY",
            [
                "it counts as working, but seems to be ready since 2m; `llmc peek adam`, then `llmc message adam ...`",
            ],
        ),
        (SILENT, "BUSY", []),
        (SILENT, None, []),
        (
            replace(SILENT, last_activity_unix=NOW - 1800),
            None,
            ["it gives no sign of life for 30m; `llmc peek adam`, then `llmc message adam ...`"],
        ),
    ],
)
def test_what_is_wrong_and_what_to_type(worker, screen, shown):
    found = troubles(worker, screen, Policy(), NOW)
    assert [f"{each.what}; {each.do}" for each in found] == shown


def test_what_is_done_by_itself_is_said_only_where_it_is_done():
    restarted = replace(CRASHED, **timers(**{RESTART: NOW + 10}))
    (found,) = troubles(restarted, None, Policy(Autonomy.AUTO), NOW)
    assert found.do == "it is restarted in 10s"


def test_what_is_waited_for_is_said():
    waiting = replace(LIMITED, **timers(**{GO_ON: NOW + 3605}))
    (found,) = troubles(waiting, None, Policy(Autonomy.AUTO), NOW)
    assert found.do == "it goes on by itself in 1h"
