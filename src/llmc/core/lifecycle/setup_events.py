"""What happens to a worktree before its agent is started in it: parts of the start, told under its step."""

from __future__ import annotations

from llmc.core.lifecycle.events import Fact, StepResult


class WorktreeReplaced(Fact):
    """It is about to be made again: nothing that was set up in it will be there."""


class PortsGiven(Fact):
    ports: tuple[int, ...]


class SetupBegun(StepResult):
    """One command of the setup runs now."""

    command: str


class SetupDone(StepResult):
    """All of them have succeeded: the start goes on, and none of them is run again."""

    put_back: tuple[str, ...] = ()
    """Files that git does not ignore and that they had changed or made."""


class SetupFailed(StepResult):
    """One of them has failed: the agent is not started."""

    reason: str
