"""The queue: who gets what next, as things stand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from llmc.care.giving import NotGivenError, SomebodyActsError, give_if_free
from llmc.care.retries import hands_of, queue_failed_again
from llmc.core.tasks.queue import Assignment, Flight, Hand, assign, flights_of, waits
from llmc.core.tasks.task import Task
from llmc.errors import IllegalEventError
from llmc.model import State
from llmc.site import Site
from llmc.store.ledger import UnknownWorkerError, holders_of
from llmc.store.snapshot import read_touched
from llmc.store.tasks import SHOWN_IN_STATUS, UnknownTaskError
from llmc.values import Value

NOBODY: Mapping[str, str] = MappingProxyType({})
Touched = Mapping[str, list[str]]
"""The files that each worker's work changes."""


class GivenOut(Value):
    given: Mapping[str, str]
    """The tasks that were given to somebody, each with its worker."""
    unfit: Mapping[str, str]
    """Workers that seem free and take nothing, and why."""
    again: bool = False
    """Somebody acted for a worker just then: it may be free in a moment."""


def next_assignment(
    site: Site,
    state: State,
    unfit: Mapping[str, str] = NOBODY,
    touched: Touched | None = None,
    tasks: list[Task] | None = None,
    elsewhere: Sequence[Hand] = (),
) -> tuple[list[Task], Assignment]:
    """The tasks that wait for a worker, and what is to become of them. `touched` None: as the daemon saw it last.

    `tasks`: all that are queued, if somebody has read them already. `elsewhere`: the workers of other machines.
    """
    holders = holders_of(state)
    queued = [task for task in (site.ledger.tasks.queued() if tasks is None else tasks) if waits(task, holders)]
    if not queued:
        return [], Assignment()
    others = {task.id: task.standing for task in queued}
    unknown = {each for task in queued for each in task.after if each not in others}
    others |= {task.id: task.standing for task in site.ledger.tasks.named(unknown).values()}
    away = [replace(hand, free=hand.free and hand.name not in unfit) for hand in elsewhere]
    hands = [*hands_of(site, state, unfit), *away]
    unpaid = _waiting_for_money(site, queued)
    paid = [task for task in queued if task.id not in unpaid]
    plan = assign(paid, hands, others, _flights(site, state, paid, touched))
    return queued, replace(plan, waiting={**plan.waiting, **unpaid})


def _waiting_for_money(site: Site, queued: list[Task]) -> dict[str, str]:
    if site.config.budget.task_usd is None and site.config.budget.task_tokens is None:
        return {}
    from llmc.care.budget import waiting_for_money

    return waiting_for_money(site, queued)


def _flights(site: Site, state: State, queued: list[Task], touched: Touched | None) -> list[Flight]:
    if not any(task.touches for task in queued):
        return []
    at_workers = site.ledger.tasks.named(holders_of(state))
    seen = read_touched(site.root.touched_file) if touched is None else touched
    return flights_of(state.workers.values(), at_workers, seen)


def give_out(
    site: Site,
    unfit: Mapping[str, str] = NOBODY,
    elsewhere: Sequence[Hand] = (),
    give_elsewhere: Callable[[str, str], None] | None = None,
) -> GivenOut:
    """Writes tasks into the records of workers that are free. Who is not fit is left alone, and the tasks say why.

    `give_elsewhere` gives a task to a worker of another machine.
    """
    queue_failed_again(site)
    state = site.ledger.load()
    queued, plan = next_assignment(site, state, unfit, elsewhere=elsewhere)
    spent = _no_more_today(site)
    if spent:
        _explain(site, queued, dict.fromkeys((task.id for task in queued), spent))
        return GivenOut({}, unfit)
    given, refused, again = {}, {}, False
    for task, name in plan.pairs:
        try:
            if name in state.workers or give_elsewhere is None:
                give_if_free(site, task.id, name)
                given[task.id] = name
            else:
                give_elsewhere(task.id, name)
        except NotGivenError as why:
            refused[name] = f"{why.what}; {why.hint}"
        except (SomebodyActsError, IllegalEventError, UnknownTaskError, UnknownWorkerError):
            again = True  # things have changed meanwhile
    _explain(site, queued, {**plan.waiting, **{task.id: refused[name] for task, name in plan.pairs if name in refused}})
    return GivenOut(given, {**unfit, **refused}, again or bool(refused))


def _no_more_today(site: Site) -> str:
    """Why nobody is given anything new; empty where nothing keeps them from it."""
    if site.config.budget.day_usd is None:
        return ""
    from llmc.care.budget import spent_day

    spent = spent_day(site)
    return f"{spent.what}; {spent.hint}" if spent is not None else ""


def _explain(site: Site, queued: list[Task], waiting: Mapping[str, str]) -> None:
    """Those that `llmc status` shows."""
    shown = [task for task in queued if task.id in waiting][:SHOWN_IN_STATUS]
    news = {task.id: waiting[task.id] for task in shown if task.reason != waiting[task.id]}
    if news:
        site.ledger.tasks.explain(news)
