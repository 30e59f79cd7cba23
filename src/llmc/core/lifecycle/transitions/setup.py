"""Making a worktree ready for its agent: a part of the start, before the agent is launched."""

from __future__ import annotations

from dataclasses import replace

from llmc.core.lifecycle.effects import Notify
from llmc.core.lifecycle.policy import Policy
from llmc.core.lifecycle.setup_events import PortsGiven, SetupBegun, SetupDone, SetupFailed, WorktreeReplaced
from llmc.core.lifecycle.transitions.shared import Move, error
from llmc.model import Session, Turn, Worker

SHOWN_FILES = 5


def setup_begun(worker: Worker, event: SetupBegun, policy: Policy) -> Move:
    return Move(worker, detail=event.command, evident=True)


def setup_done(worker: Worker, event: SetupDone, policy: Policy) -> Move:
    done = replace(worker, set_up=True)
    if not event.put_back:
        return Move(done, evident=True)
    some = ", ".join(event.put_back[:SHOWN_FILES]) + (", ..." if len(event.put_back) > SHOWN_FILES else "")
    why = f"its setup changed files that git does not ignore, which were put back: {some}"
    told = f"{worker.name}: {why}; ignore what is to stay, `llmc undo {worker.name}` has them"
    return Move(done, (Notify("setup", told),), why, evident=True)


def setup_failed(worker: Worker, event: SetupFailed, policy: Policy) -> Move:
    """Never tried again unasked: it would end the same way, and may take half an hour for that."""
    worker = replace(worker, pending=(), session=Session.CRASHED, turn=Turn.OVER)
    return error(worker, f"its worktree was not set up: {event.reason}")


def worktree_replaced(worker: Worker, event: WorktreeReplaced, policy: Policy) -> Move:
    return Move(replace(worker, set_up=False), is_activity=False)


def ports_given(worker: Worker, event: PortsGiven, policy: Policy) -> Move:
    ports = ", ".join(map(str, event.ports))
    return Move(replace(worker, ports=event.ports), detail=ports, is_activity=False)
