"""`llmc task run-next`: gives out the next task, and says what became of it. For use without a daemon."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace

from llmc.app import App
from llmc.care.acting import acting_for, newest_tip
from llmc.care.giving import NotGivenError, prompt_of, task_event
from llmc.care.queue import next_assignment
from llmc.commands.shared.known_conflicts import touched_now
from llmc.commands.shared.money import require_money
from llmc.commands.shared.receipts import receipt_of, receipt_result
from llmc.commands.shared.result import Result
from llmc.core.tasks.task import Task
from llmc.errors import IllegalEventError, LlmcError
from llmc.model import Receipt
from llmc.perform.steps import decide_and_run
from llmc.site import Site


def run(app: App, args: Namespace) -> Result:
    site = app.site()
    require_money(site)
    task, name, receipt = _give_next(site)
    result = receipt_result(receipt, name, task=task.id)
    return replace(result, text=f"{task.id} for {result.text}")


def _give_next(site: Site) -> tuple[Task, str, Receipt]:
    """Somebody else may give out the same in the same moment, or the worker may not be fit: then it is the next one."""
    unfit: dict[str, str] = {}
    while True:
        task, name = _next(site, unfit)
        try:
            return task, name, _give(site, task, name)
        except NotGivenError as why:
            unfit[name] = f"{why.what}; {why.hint}"
        except IllegalEventError as raced:
            unfit[name] = raced.what


def _next(site: Site, unfit: dict[str, str]) -> tuple[Task, str]:
    state = site.ledger.load()
    queued = site.ledger.tasks.queued()
    touched = touched_now(site) if any(task.touches for task in queued) else {}
    waiting, plan = next_assignment(site, state, unfit, touched)
    if plan.pairs:
        return plan.pairs[0]
    if not waiting:
        raise LlmcError("no task waits for a worker", "`llmc task add ...` queues one; `llmc task` shows all there are")
    first = waiting[0]
    hint = "`llmc task` tells of all of them; `llmc status` shows the workers"
    raise LlmcError(f"none of the tasks that wait can go to anybody now; {first.id}: {plan.waiting[first.id]}", hint)


def _give(site: Site, task: Task, name: str) -> Receipt:
    with acting_for(site, name) as worker:
        whole = site.ledger.tasks.task(task.id)
        event = task_event(site, worker, prompt_of(whole), task.id)
        return receipt_of(decide_and_run(site, name, event, newest_tip(site)))
