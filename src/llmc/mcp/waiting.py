"""Waiting for a task, and for whatever else takes its time: the client hears that the server lives."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from llmc.commands.shared.fields import Given
from llmc.commands.shared.task_words import task_data, task_views
from llmc.core.tasks.task import TaskState
from llmc.errors import InvalidUsageError
from llmc.mcp.desk import Desk
from llmc.site import Site

T = TypeVar("T")
Tell = Callable[[float, float | None, str], Awaitable[None]]
"""Progress: how far, of how much, and in words."""

USUAL_WAIT_SECS = 50.0
"""Codex gives a tool up after a minute, unless it is told otherwise."""
LONGEST_WAIT_SECS = 3600.0
TELL_EVERY_SECS = 5.0
"""A client that hears nothing takes the server for dead."""
STATES = tuple(state.value for state in TaskState)
MOVING = (TaskState.QUEUED.value, TaskState.ASSIGNED.value, TaskState.LANDING.value)
"""In all others it waits for somebody, or is over."""
SHOWN = ("id", "title", "state", "worker", "reason", "landed_sha", "attempts")


async def wait(desk: Desk, given: Given, tell: Tell) -> dict[str, Any]:
    """The task's state, as soon as it moves no more, or after `secs`."""
    secs, known = float(given.get("secs", USUAL_WAIT_SECS)), given.get("known")
    if not 0 <= secs <= LONGEST_WAIT_SECS:
        raise InvalidUsageError("'secs' is out of range", f"give 0 to {LONGEST_WAIT_SECS:.0f}, and call `wait` again")
    if known is not None and known not in STATES:
        raise InvalidUsageError(f"there is no state {known[:100]!r}", f"the states are: {', '.join(STATES)}")
    loop = asyncio.get_running_loop()
    began, told = loop.time(), ("", 0.0)
    async with desk.news.heard() as changed:
        while True:
            found = await desk.beside(lambda site: _state(site, given.get("id")))
            state, waited = found["state"], loop.time() - began
            over = state != known if known is not None else state not in MOVING
            if over or waited >= secs:
                return {**found, "over": over, "waited_secs": round(waited, 1)}
            if told[0] != state or waited - told[1] >= TELL_EVERY_SECS:
                told = state, waited
                await tell(waited, secs, " ".join(filter(None, (found["id"], "is", state, found["worker"]))))
            await changed(min(TELL_EVERY_SECS, secs - waited))


def _state(site: Site, task_id: str) -> dict[str, Any]:
    (view,) = task_views(site, [site.ledger.tasks.task(task_id)])
    return {name: value for name, value in task_data(view).items() if name in SHOWN}


async def told_meanwhile(work: Awaitable[T], tell: Tell, words: str) -> T:
    """What comes of the work, such as a landing whose checks take minutes."""
    loop, doing = asyncio.get_running_loop(), asyncio.ensure_future(work)
    began = loop.time()
    try:
        while not (await asyncio.wait((doing,), timeout=TELL_EVERY_SECS))[0]:
            await tell(loop.time() - began, None, words)
        return doing.result()
    finally:
        doing.cancel()
