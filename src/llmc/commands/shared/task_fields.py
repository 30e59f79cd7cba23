"""What the flags of `task add` and `task edit` say of a task."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from llmc.core.display import one_line, some
from llmc.core.tasks.task import LONGEST_TITLE
from llmc.fleet.known import machine_of
from llmc.site import Site
from llmc.store.tasks import UnknownTaskError

NAMES = ("title", "worker", "agent", "machine", "priority", "after", "touches", "auto_accept")


def fields_from(site: Site, args: Namespace) -> dict[str, Any]:
    """Those that were given, checked: what names nobody is a mistake now and not when its turn comes."""
    given: dict[str, Any] = {name: getattr(args, name) for name in NAMES if getattr(args, name) is not None}
    if "title" in given:
        given["title"] = one_line(given["title"], LONGEST_TITLE)
    for name in ("after", "touches"):
        if name in given:
            given[name] = tuple(dict.fromkeys(part for each in given[name] for part in each.split(",") if part))
    check_names(site, [str(given.get("worker") or "")], [str(given.get("agent") or "")])
    check_tasks(site, given.get("after", ()))
    return given


def check_tasks(site: Site, task_ids: tuple[str, ...]) -> None:
    known = site.ledger.tasks.named(task_ids)
    unknown = [each for each in task_ids if each not in known]
    if unknown:
        raise UnknownTaskError(f"there is no task {some(unknown)}", "`llmc task list --all` has them all")


def check_names(site: Site, workers: list[str], agents: list[str]) -> None:
    for name in filter(None, workers):
        if machine_of(site.root, name) is None:
            site.worker(name)
    for name in filter(None, agents):
        if name not in {worker.agent for worker in site.ledger.load().workers.values()}:
            site.agent_named(name)
