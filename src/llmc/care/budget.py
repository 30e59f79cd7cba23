"""Keeping to `[budget]`: what is nearly spent is told, what is spent ends the turn. No model is asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from llmc.agents.reports import Report
from llmc.care.attention import keep_report
from llmc.care.giving import DaySpentError, acting_if_free
from llmc.core.delivery.interrupt import InterruptOutcome
from llmc.core.lifecycle import events as ev
from llmc.core.lifecycle.transitions.interrupts import SIGNAL as INTERRUPTED
from llmc.core.notice import plain_notice
from llmc.core.tasks.task import Task
from llmc.core.usage.budget import (
    Allowance,
    Limit,
    first_spent,
    how_to_go_on,
    limits_of_day,
    limits_of_task,
    near_words,
    spent_words,
)
from llmc.core.usage.sums import Spent, with_parents
from llmc.model import Session, Turn, Work, Worker
from llmc.observe.branches import new_work
from llmc.perform.interrupt import interrupt
from llmc.perform.metering import Purse, purse_of
from llmc.perform.notices import call, tell
from llmc.perform.steps import decide_and_run
from llmc.site import Site
from llmc.store.event_log import LoggedEvent

WITHIN_SECS = 10.0
"""So long a turn may take to end after the key."""
NOTHING = Spent()


def limits_of(site: Site, purse: Purse, tasks: Iterable[str]) -> tuple[Limit, ...]:
    """The budgets that hold for these tasks, that of the day first."""
    budget = site.config.budget
    found = limits_of_day(purse.day, purse.today, budget.day_usd)
    if budget.task_usd is None and budget.task_tokens is None:
        return found
    for task in tasks:
        sum_, allowed = purse.tasks.get(task, NOTHING), site.usage.allowance(task)
        found += limits_of_task(task, sum_, allowed, budget.task_usd, budget.task_tokens)
    return found


def has_budget(site: Site) -> bool:
    budget = site.config.budget
    return any(each is not None for each in (budget.task_usd, budget.task_tokens, budget.day_usd))


def spent_day(site: Site) -> DaySpentError | None:
    """What there is to say if the day's budget is spent."""
    if site.config.budget.day_usd is None:
        return None
    limit = first_spent(limits_of(site, purse_of(site, ()), ()))
    return DaySpentError(spent_words(limit), how_to_go_on(limit)) if limit is not None else None


# --- looking after it -------------------------------------------------------------------------------


def over_budget(site: Site) -> dict[str, Limit]:
    """Who is at work on something for which nothing is left. What is nearly spent is told, once."""
    if not has_budget(site):
        return {}
    workers, over = site.ledger.load().workers, {}
    purse = purse_of(site, [worker.task for worker in workers.values()])
    near: dict[str, tuple[str, Limit]] = {}
    for name, worker in workers.items():
        limits = limits_of(site, purse, with_parents(worker.task, purse.parents))
        near |= {each.key: (name, each) for each in limits if each.is_near and each.key not in near}
        limit = first_spent(limits)
        if limit is not None and (is_at_work(worker) or _lacks_reason(worker)):
            over[name] = limit
    _tell_once(site, near)
    return over


def is_at_work(worker: Worker) -> bool:
    """Whether its agent may be asking its model something."""
    busy = worker.turn is Turn.OPEN or (worker.work in _WORKS and worker.turn is Turn.UNKNOWN)
    return worker.session is Session.UP and busy


def _lacks_reason(worker: Worker) -> bool:
    """Its turn was interrupted, and whoever did that was ended before they could tell why."""
    return worker.turn is Turn.OVER and worker.work is Work.NEEDS_INPUT and worker.evidence.signal == INTERRUPTED


_WORKS = (Work.WORKING, Work.REJECTED, Work.REBASING)


def _tell_once(site: Site, near: Mapping[str, tuple[str, Limit]]) -> None:
    """By the worker that came near to it first."""
    for key in site.usage.tell_once(near) if near else ():
        name, limit = near[key]
        if not limit.is_spent:  # then it is told who was stopped
            words = f"{name}: {near_words(limit)}"
            site.ledger.write(LoggedEvent(site.now(), name, "notice", detail=words))
            call(site, plain_notice(name, "budget", words))


def stop(site: Site, name: str, limit: Limit, *, by_force: bool) -> bool:
    """Ends the turn, with proof. False when it is still to be seen what became of it.

    `by_force`: an agent that does not end its turn is ended itself.
    """
    with acting_if_free(site, name) as worker:
        if _lacks_reason(worker):
            _note(site, worker, limit)
            return True
        if not is_at_work(worker):
            return True
        if worker.pending:
            return False
        came = interrupt(site, worker, WITHIN_SECS)
        if came.outcome is InterruptOutcome.INTERRUPTED:
            _note(site, worker, limit)
            return True
        if came.outcome is InterruptOutcome.UNKNOWN and by_force:
            decide_and_run(site, name, ev.StopAsked(site.now(), force=True))
            why = f"; its turn did not end ({came.reason}), so its agent was ended"
            _note(site, site.worker(name), limit, why)  # last: that its terminal is gone is no reason to be shown
            return True
    return False


def _note(site: Site, worker: Worker, limit: Limit, more: str = "") -> None:
    why, how = f"{spent_words(limit)}{more}", how_to_go_on(limit)
    tell(site, site.ledger.apply(worker.name, ev.BudgetSpent(site.now(), why, how, new_work(site, worker))))
    keep_report(site.root.attention_file(worker.name), Report("interrupted"), site.now())


def spent_budget(site: Site, task: str) -> Limit | None:
    """Of the task, of what it was made for, or of the day."""
    purse = purse_of(site, [task])
    return first_spent(limits_of(site, purse, with_parents(task, purse.parents)))


def waiting_for_money(site: Site, tasks: Iterable[Task]) -> dict[str, str]:
    """Those of these that nobody gets, and why: nothing is left for them, or for what they were made for."""
    may_have_spent = [task for task in tasks if task.attempts or task.parent]
    budget = site.config.budget
    if not may_have_spent or (budget.task_usd is None and budget.task_tokens is None):
        return {}
    purse, found = purse_of(site, [task.id for task in may_have_spent]), {}
    for task in may_have_spent:
        limits = limits_of(site, purse, with_parents(task.id, purse.parents))
        limit = first_spent(each for each in limits if not each.is_of_day)
        if limit is not None:
            found[task.id] = f"{spent_words(limit)}; {how_to_go_on(limit)}"
    return found


def has_spent(site: Site, task: str) -> bool:
    """All that its own budgets allow."""
    return (
        first_spent(each for each in limits_of(site, purse_of(site, [task]), (task,)) if not each.is_of_day) is not None
    )


def allow_more(site: Site, task: str) -> None:
    """Its budgets begin anew, if one of them is spent."""
    if has_spent(site, task):
        sum_ = purse_of(site, [task]).tasks.get(task, NOTHING)
        site.usage.allow(task, Allowance(sum_.tokens.all, sum_.known_usd))
