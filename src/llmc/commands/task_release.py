"""`llmc task release`: a task that was held may be given out, one that had spent its budget goes on."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Mapping
from typing import Any

from llmc.app import App
from llmc.commands.shared.result import Result
from llmc.commands.shared.task_changes import changed
from llmc.core.tasks.changes import release
from llmc.model import Worker
from llmc.site import Site
from llmc.store.ledger import holders_of


def run(app: App, args: Namespace) -> Result:
    """Those that are held first, all or none: whoever is refused has changed nothing."""
    site = app.site()
    holders = holders_of(site.ledger.load())
    stopped = _stopped(site, list(dict.fromkeys(args.ids)), holders)
    held = [each for each in args.ids if each not in stopped]
    results = [changed(app, held, release)] if held else []
    results += [_let_go_on(site, each, holders.get(each)) for each in stopped]
    if len(results) == 1:
        return results[0]
    text, code = "\n".join(each.text for each in results), max(each.exit_code for each in results)
    return Result(text, {"schema": 1, "tasks": [*_data_of(results)]}, code)


def _stopped(site: Site, tasks: list[str], holders: Mapping[str, Worker]) -> list[str]:
    """Those that a budget stops. Without any, what counts tokens is not even loaded."""
    bounded = site.config.budget.task_usd is not None or site.config.budget.task_tokens is not None
    if not bounded and not holders.keys() & set(tasks):
        return []
    from llmc.commands.shared.more_budget import is_stopped
    from llmc.perform.metering import count_all

    count_all(site)
    return [each for each in tasks if is_stopped(site, each, holders.get(each))]


def _let_go_on(site: Site, task: str, holder: Worker | None) -> Result:
    from llmc.commands.shared.more_budget import let_go_on

    return let_go_on(site, task, holder)


def _data_of(results: list[Result]) -> Iterator[Any]:
    """One for each task, whatever became of it."""
    for result in results:
        several = result.data.get("tasks") if isinstance(result.data, dict) else None
        yield from several if several is not None else [result.data]
