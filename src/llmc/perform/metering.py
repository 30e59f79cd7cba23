"""Counting what the answers of models have cost: what CLIs write down and report, each answer once, whose it is."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from llmc.agents.reports import understood
from llmc.agents.usage_files import paths_of, read_on
from llmc.config.prices import price_book
from llmc.core.usage.answer import FilePlace, ModelAnswer
from llmc.core.usage.prices import PriceBook
from llmc.core.usage.sums import Spent, spent, spent_by, spent_by_task, spent_data
from llmc.errors import LlmcError
from llmc.host.files import disk_errors, make_own_directory, write_atomically
from llmc.model import Worker
from llmc.site import Site
from llmc.store.spool import peek
from llmc.store.usage import Counted
from llmc.values import Value


def count_all(site: Site) -> None:
    """What everybody has spent up to now."""
    changed = [count_written(site, worker) for worker in site.ledger.load().workers.values()]
    if any(changed):
        write_mark(site)


def count_written(site: Site, worker: Worker) -> bool:
    """What the worker's agent has written down since the last look. Whether that was anything."""
    try:
        files = site.agent_of(worker).usage
    except LlmcError:
        return False  # its agent is not described any more: what it had written is counted by then
    if files is None:
        return False
    where, known = site.whereabouts_of(worker), site.usage.places(worker.name)
    changed = False
    for path in paths_of(files, where):
        with suppress(OSError):  # it was cleared away meanwhile
            read = read_on(files, where, path, known.get(path, FilePlace()), worker.created_at_unix)
            if read is not None:
                changed |= _keep(site, worker, read[0], {path: read[1]})
    return changed


def count_reported(site: Site, worker: Worker, answers: Sequence[ModelAnswer]) -> None:
    """Nothing waits for it: what cannot be counted holds up no report."""
    with suppress(LlmcError):
        if _keep(site, worker, answers, {}):
            write_mark(site)


def count_last(site: Site, worker: Worker) -> None:
    """Before all that its agent has written and reported goes with it. Nothing waits for that either."""
    with suppress(LlmcError):
        translate = site.agent_of(worker).translate
        told = [(understood(translate, each.data), each.at_unix) for each in peek(site.root.spool(worker.name))]
        answers = [replace(each.answer, at_unix=at) for each, at in told if each is not None and each.answer]
        written = count_written(site, worker)
        if _keep(site, worker, answers, {}) or written:
            write_mark(site)


def _keep(site: Site, worker: Worker, answers: Iterable[ModelAnswer], places: dict[str, FilePlace]) -> bool:
    own = [
        answer for answer in answers if not 0 < answer.at_unix < worker.created_at_unix
    ]  # of one of that name before
    now = site.now()
    times = [min(answer.at_unix, now) if answer.at_unix > 0 else now for answer in own]
    task_at = _tasks_of(site, worker, min(times, default=now))
    counted = [
        Counted(answer, task_at(at), worker.name, worker.agent, day_of(at))
        for answer, at in zip(own, times, strict=True)
    ]
    return site.usage.count(worker.name, counted, places)


def _tasks_of(site: Site, worker: Worker, since: float) -> Callable[[float], str]:
    """Which task the worker had at a time that is not before that one. Mostly it is the one that it has now."""
    given = site.ledger.tasks.given_at(worker.task, worker.name) if worker.task else None
    if given is not None and given <= since:
        return lambda at: worker.task
    had = site.ledger.tasks.given_to(worker.name)
    return lambda at: next((task for begun, task in reversed(had) if begun <= at), "")


def day_of(at_unix: float) -> str:
    """On the calendar of whoever lives here."""
    return datetime.fromtimestamp(at_unix).date().isoformat()


def prices_of(site: Site) -> PriceBook:
    return price_book(site.root.prices)


def write_mark(site: Site) -> None:
    """A cache: whoever finds it gone or old makes it anew with the next answer."""
    rows, book = site.usage.rows(), prices_of(site)
    held = {worker.task for worker in site.ledger.load().workers.values() if worker.task}
    sums = spent_by_task(rows, book, site.ledger.tasks.parents())
    tasks = {task: spent_data(sums[task]) for task in sorted(held & sums.keys())}
    workers = {name: spent_data(sum_) for (name,), sum_ in spent_by(rows, book, lambda row: (row.worker,)).items()}
    path = Path(site.root.usage_mark)
    with disk_errors(path):
        make_own_directory(os.fspath(path.parent))
        write_atomically(path, json.dumps({"schema": 1, "workers": workers, "tasks": tasks}))


# --- what was spent ---------------------------------------------------------------------------------


class Purse(Value):
    """What was spent, by those that budgets are about."""

    day: str
    today: Spent
    tasks: Mapping[str, Spent]
    """Of those that have spent anything, with all that was made for them."""
    parents: Mapping[str, str]
    """The tasks that were made for another one, with that."""


def purse_of(site: Site) -> Purse:
    day, rows, book, parents = day_of(site.now()), site.usage.rows(), prices_of(site), site.ledger.tasks.parents()
    today = spent((row for row in rows if row.day == day), book)
    return Purse(day, today, spent_by_task(rows, book, parents), parents)


def spent_data_of(site: Site, tasks: Iterable[str] | None = None) -> dict[str, dict[str, Any]]:
    """What these tasks, or all, have spent; of those that have spent anything."""
    found = purse_of(site).tasks
    wanted = found.keys() if tasks is None else found.keys() & set(tasks)
    return {task: spent_data(found[task]) for task in sorted(wanted)}
