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
from llmc.config.problems import ConfigError
from llmc.core.usage.answer import FilePlace, ModelAnswer
from llmc.core.usage.prices import PriceBook
from llmc.core.usage.sums import Spent, spent, spent_by_task, spent_data, with_parents
from llmc.errors import LlmcError
from llmc.host.files import disk_errors, make_own_directory, write_atomically
from llmc.host.locks import FileLock
from llmc.model import Worker
from llmc.site import Site
from llmc.store.snapshot import read_usage
from llmc.store.spool import peek
from llmc.store.usage import Counted
from llmc.values import Value

MARK_LOCK_SECS = 10.0


def count_all(site: Site) -> None:
    """What everybody has spent up to now."""
    count_of(site, site.ledger.load().workers.values())


def count_of(site: Site, workers: Iterable[Worker]) -> None:
    """What is shown of them is made anew, too, when somebody has changed the prices."""
    workers = [*workers]
    changed = [worker.name for worker in workers if count_written(site, worker)]
    if _prices_changed(site):
        changed = [worker.name for worker in workers]
    if changed:
        write_mark(site, changed)


def _prices_changed(site: Site) -> bool:
    shown = read_usage(site.root.usage_mark)
    return bool(shown) and shown.get("prices") != _stamp(site)


def _stamp(site: Site) -> list[str | int]:
    """Of the prices: another one when any of them may be another."""
    try:
        own = os.stat(site.root.prices).st_mtime_ns
    except OSError:
        own = 0
    return [_usable_prices(site).as_of, own]


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
        if _keep_reported(site, worker, answers):
            write_mark(site, [worker.name])


def count_last(site: Site, worker: Worker) -> None:
    """Before all that its agent has written and reported goes with it. Nothing waits for that either."""
    with suppress(LlmcError):
        translate = site.agent_of(worker).translate
        told = [(understood(translate, each.data), each.at_unix) for each in peek(site.root.spool(worker.name))]
        answers = [replace(each.answer, at_unix=at) for each, at in told if each is not None and each.answer]
        count_written(site, worker)
        _keep_reported(site, worker, answers)


def _keep_reported(site: Site, worker: Worker, answers: Iterable[ModelAnswer]) -> bool:
    """Their names are the agent's own, and may be those of another one's answers as well."""
    return _keep(site, worker, [replace(each, id=f"{worker.agent}/{each.id}") for each in answers], {})


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
    """Raises ConfigError."""
    return price_book(site.root.prices)


def _usable_prices(site: Site) -> PriceBook:
    """A mistake in the person's own, which `llmc usage` and the doctor tell, must not switch budgets off."""
    try:
        return prices_of(site)
    except ConfigError:
        return price_book(os.devnull)


def write_mark(site: Site, names: Iterable[str]) -> None:
    """What these workers have spent, for whoever only looks. A cache: it is made anew with the next answer."""
    book, workers = _usable_prices(site), site.ledger.load().workers
    spent_by_them = {name: spent_data(spent(site.usage.rows(worker=name), book)) for name in names}
    held = [worker.task for worker in workers.values() if worker.task]
    path = Path(site.root.usage_mark)
    with disk_errors(path):
        make_own_directory(os.fspath(path.parent))
        with FileLock(site.root.usage_lock, name=path.name, timeout=MARK_LOCK_SECS):  # others write of others
            known = read_usage(os.fspath(path)).get("workers", {})
            kept = {name: sums for name, sums in known.items() if name in workers}
            told = {"workers": {**kept, **spent_by_them}, "tasks": spent_data_of(site, held), "prices": _stamp(site)}
            write_atomically(path, json.dumps({"schema": 1, **told}))


# --- what was spent ---------------------------------------------------------------------------------


class Purse(Value):
    """What was spent, by those that budgets are about."""

    day: str
    today: Spent
    tasks: Mapping[str, Spent]
    """Of those that were asked for, and what they were made for: with all that was made for them."""
    parents: Mapping[str, str]
    """The tasks that were made for another one, with that."""


def purse_of(site: Site, tasks: Iterable[str]) -> Purse:
    """Only what is asked for is read: there may be years of the rest."""
    day, book, parents = day_of(site.now()), _usable_prices(site), site.ledger.tasks.parents()
    wanted = {each for task in tasks for each in with_parents(task, parents)}
    charged = wanted | {child for child in parents if wanted.intersection(with_parents(child, parents))}
    sums = spent_by_task(site.usage.rows(tasks=charged), book, parents)
    today = spent(site.usage.rows(day=day), book) if site.config.budget.day_usd is not None else Spent()
    return Purse(day, today, {task: sum_ for task, sum_ in sums.items() if task in wanted}, parents)


def spent_data_of(site: Site, tasks: Iterable[str] | None = None) -> dict[str, dict[str, Any]]:
    """What these tasks, or all, have spent; of those that have spent anything."""
    if tasks is None:
        found: Mapping[str, Spent] = spent_by_task(site.usage.rows(), _usable_prices(site), site.ledger.tasks.parents())
        return {task: spent_data(sum_) for task, sum_ in found.items()}
    asked = set(tasks)
    found = purse_of(site, asked).tasks
    return {task: spent_data(found[task]) for task in sorted(asked & found.keys())}
