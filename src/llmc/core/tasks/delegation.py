"""How much an agent inside a worker may delegate, and that a request is carried out once. Pure."""

from __future__ import annotations

from llmc.core.tasks.task import Task
from llmc.errors import LlmcError
from llmc.values import Value


class DelegationRefusedError(LlmcError):
    """Nothing was delegated."""


class DelegationBounds(Value):
    depth: int
    tasks: int

    def check(self, *, depth: int, count: int) -> None:
        """`depth`: that of the new task. `count`: how many were delegated before, for the same task."""
        if depth > self.depth:
            raise DelegationRefusedError(
                "this task was delegated itself, and may not be delegated further",
                "do it yourself; a person can raise mcp.max_depth",
            )
        if count >= self.tasks:
            raise DelegationRefusedError(
                f"{count} tasks were delegated already, as many as mcp.max_tasks allows",
                "wait for those, or tell the person; only they can raise mcp.max_tasks",
            )


def same_request(known: Task, wanted: Task) -> Task:
    """The task that this request has made before."""
    if known.text != wanted.text:
        raise DelegationRefusedError(
            f"the request {wanted.request_id!r} has made {known.id} already, of another text",
            "give every task a request_id of its own",
        )
    return known
