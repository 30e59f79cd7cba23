"""A task that a program asks for, an agent inside a worker or a client outside: exactly once, and within bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llmc.commands.shared.task_fields import check_names, check_tasks
from llmc.core.delivery.texts import check_text
from llmc.core.display import one_line
from llmc.core.tasks.changes import new_task
from llmc.core.tasks.delegation import DelegationBounds, DelegationRefusedError
from llmc.core.tasks.task import LONGEST_TITLE, Task
from llmc.errors import InvalidUsageError
from llmc.site import Site

LONGEST_REQUEST = 200
MOST_PRIORITY = 1_000_000


def delegate(site: Site, asked_by: str, text: str, wishes: Mapping[str, Any], request: str = "") -> Task:
    """`asked_by`: the worker whose agent asks; empty for a client outside. `wishes`: as the fields of a task."""
    check_text(text)
    _check(site, asked_by, wishes, request)
    title = one_line(str(wishes.get("title") or ""), LONGEST_TITLE)
    given: dict[str, Any] = {name: wishes[name] for name in ("worker", "agent", "priority") if wishes.get(name)}
    after = tuple(dict.fromkeys(wishes.get("after") or ()))
    parent = site.worker(asked_by).task if asked_by else ""
    whose: dict[str, Any] = {"asked_by": asked_by, "parent": parent, "request_id": request}
    settings = site.config.mcp
    bounds = DelegationBounds(settings.max_depth, settings.max_tasks)
    return site.ledger.delegate(new_task(text, site.now(), title=title, after=after, **given, **whose), bounds)


def _check(site: Site, asked_by: str, wishes: Mapping[str, Any], request: str) -> None:
    if len(request) > LONGEST_REQUEST:
        raise InvalidUsageError(f"the request_id has {len(request)} characters", f"give at most {LONGEST_REQUEST}")
    if abs(wishes.get("priority") or 0) >= MOST_PRIORITY:
        raise InvalidUsageError("the priority is out of range", f"give a number between -{MOST_PRIORITY} and it")
    if asked_by and wishes.get("worker") == asked_by:
        raise DelegationRefusedError(f"{asked_by} cannot delegate to itself", "name another worker, or none")
    check_names(site, [str(wishes.get("worker") or "")], [str(wishes.get("agent") or "")])
    check_tasks(site, tuple(wishes.get("after") or ()))
