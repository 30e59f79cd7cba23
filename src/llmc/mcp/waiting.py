"""Waiting for a task: files tell, nobody looks again and again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from llmc.commands.shared.fields import Given
from llmc.commands.shared.task_words import task_data, task_views
from llmc.core.tasks.task import TaskState
from llmc.errors import InvalidUsageError
from llmc.host.watch import Watch, open_watch
from llmc.mcp.desk import Desk
from llmc.root import Root
from llmc.site import Site

Tell = Callable[[float, float, str], Awaitable[None]]
"""Progress: how far, of how much, and in words."""

USUAL_WAIT_SECS = 60.0
LONGEST_WAIT_SECS = 3600.0
TELL_EVERY_SECS = 5.0
"""A client that hears nothing takes the server for dead."""
AT_MOST_EVERY_SECS = 0.2
WITHOUT_SIGNALS_SECS = 1.0
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
    async with _changes(desk.root) as changed:
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


@asynccontextmanager
async def _changes(root: Root) -> AsyncIterator[Callable[[float], Awaitable[None]]]:
    """Returns when a file has changed that tells of tasks, or when the time is over."""
    watch, news, loop = open_watch(), asyncio.Event(), asyncio.get_running_loop()
    watch.add(root.path, root.path, frozenset(("state.json",)))
    watch.add(root.run, root.run, frozenset(("tasks.json", "train.json")))
    fd = watch.fileno()
    if fd is not None:
        loop.add_reader(fd, _hear, watch, news)

    async def changed(within: float) -> None:
        await asyncio.sleep(min(AT_MOST_EVERY_SECS, max(within, 0.0)))
        with suppress(TimeoutError):
            await asyncio.wait_for(news.wait(), max(0.0, min(within, WITHOUT_SIGNALS_SECS) if fd is None else within))
        news.clear()

    try:
        yield changed
    finally:
        if fd is not None:
            loop.remove_reader(fd)
        watch.close()


def _hear(watch: Watch, news: asyncio.Event) -> None:
    if watch.changed():
        news.set()
