"""Tasks that came to nothing are given again, as far as policy and settings allow; then they wait for a person."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from types import MappingProxyType

from llmc.config.budget_settings import BudgetSettings
from llmc.core.lifecycle import events as ev
from llmc.core.lifecycle.table import Decision
from llmc.core.tasks.changes import retry_unasked
from llmc.core.tasks.checks import CheckResult
from llmc.core.tasks.queue import Hand, hand_of, somebody_else
from llmc.core.tasks.retry import RETRIABLE, How, NextTry, kind_of_try, may_retry, next_try, words_about
from llmc.core.tasks.task import Failure, Task
from llmc.errors import IllegalEventError
from llmc.model import State, Worker
from llmc.site import Site
from llmc.store.ledger import STARTED
from llmc.store.tasks import TaskEvent, UnknownTaskError


def hands_of(site: Site, state: State, unfit: Mapping[str, str] = MappingProxyType({})) -> list[Hand]:
    return [
        hand_of(worker, by_name_only=site.config.worker(name).excluded_from_pool, unfit=unfit.get(name, ""))
        for name, worker in state.workers.items()
    ]


def try_again(site: Site, worker: Worker, failed: CheckResult | None = None) -> NextTry | None:
    """What is to be done about the worker's task unasked. The caller acts for the worker."""
    policy = site.ledger.policy_of(worker.name)
    wanted = kind_of_try(worker, policy, failed)
    if wanted is None or (wanted.how is not How.ELSEWHERE and not site.agent_of(worker).takes_prose):
        return None
    try:
        task = site.ledger.tasks.task(worker.task)
    except UnknownTaskError:
        return None
    if wanted.how is How.ELSEWHERE and not somebody_else(task, worker.name, hands_of(site, site.ledger.load())):
        return None  # it would only wait there, and its work would be out of sight
    return next_try(worker, task, policy, site.config.tasks.retries, failed) if _is_paid(site, task) else None


def _is_paid(site: Site, task: Task) -> bool:
    """Whether its budgets, where there are any, have something left: else it would be stopped at once."""
    if site.config.budget == BudgetSettings():
        return True
    from llmc.care.budget import spent_budget

    return spent_budget(site, task.id) is None


def carry_out(site: Site, worker: Worker, wanted: NextTry) -> Decision:
    """Counted first: a try that is cut short is not made twice."""
    if wanted.how is How.ELSEWHERE:
        return site.ledger.apply(worker.name, ev.ResetAsked(site.now(), gives_up=True))
    count_try(site, worker, wanted.why)
    return site.ledger.apply(worker.name, ev.MessageGiven(site.now(), wanted.text, f"tried again: {wanted.why}"))


def count_try(site: Site, worker: Worker, why: str) -> None:
    task = site.ledger.tasks.task(worker.task)
    told = TaskEvent(site.now(), "retried", worker.name, why)
    site.ledger.tasks.change(task.id, told, retried=task.retried + 1, attempts=task.attempts + 1)


def without_calls(decision: Decision) -> Decision:
    """Nobody is called for what is tried again."""
    return replace(decision, notices=tuple(each for each in decision.notices if each.kind != "needs_input"))


def queue_failed_again(site: Site) -> None:
    """Tasks whose workers gave up, or did not get them: others may."""
    for task in site.ledger.tasks.failed(*RETRIABLE):
        policy = site.ledger.policy_of(task.avoid)
        if may_retry(task, policy, site.config.tasks.retries) and not _was_told(site, task):
            with suppress(IllegalEventError):  # a person was quicker
                site.ledger.change_tasks(
                    [task.id], lambda view: retry_unasked(view, words_about(view.task)), site.now()
                )


def _was_told(site: Site, task: Task) -> bool:
    """Who started it by hand knows that it was not delivered, and may have started it once more."""
    by_hand = site.ledger.tasks.history(task.id)[0].kind == STARTED
    return by_hand and task.failure == Failure.UNDELIVERED and task.attempts == 1
