"""A task whose budget is spent may use as much again."""

from __future__ import annotations

from llmc.care.acting import acting_for
from llmc.care.budget import allow_more, has_spent, spent_budget
from llmc.commands.shared.money import require_money
from llmc.commands.shared.receipts import receipt_of, receipt_result
from llmc.commands.shared.result import Result
from llmc.core.lifecycle import events as ev
from llmc.core.lifecycle.transitions.interrupts import BUDGET
from llmc.core.prompts.recovery import budget_prompt
from llmc.core.usage.budget import how_to_go_on, spent_words
from llmc.errors import LlmcError
from llmc.model import Session, Work, Worker
from llmc.perform.steps import decide_and_run
from llmc.site import Site
from llmc.store.tasks import TaskEvent

WHY = "its budget begins anew"


def is_stopped(site: Site, task: str, holder: Worker | None) -> bool:
    """Whether a budget stands in its way."""
    return _was_stopped(holder) or has_spent(site, task)


def let_go_on(site: Site, task: str, holder: Worker | None) -> Result:
    """An agent that was stopped is told; any other just goes on, and a task that waits for a worker may get one."""
    if holder is None or not _was_stopped(holder):
        allow_more(site, task)
        name = holder.name if holder is not None else ""
        site.ledger.tasks.note(task, TaskEvent(site.now(), "released", name, WHY))
        return Result(f"{task}: {WHY}", {"id": task, "worker": name or None, "reason": WHY})
    require_money(site)
    if holder.session is not Session.UP:
        hint = f"`llmc restart {holder.name}`, then `llmc task release {task}`"
        raise LlmcError(f"{holder.name} is not running, and cannot be told to go on", hint)
    allow_more(site, task)
    if (limit := spent_budget(site, task)) is not None:  # that of what it was made for
        raise LlmcError(spent_words(limit), how_to_go_on(limit))
    site.ledger.tasks.note(task, TaskEvent(site.now(), "released", holder.name, WHY))
    with acting_for(site, holder.name):
        event = ev.MessageGiven(site.now(), budget_prompt(), WHY)
        receipt = receipt_of(decide_and_run(site, holder.name, event))
    return receipt_result(receipt, holder.name, task=task)


def _was_stopped(holder: Worker | None) -> bool:
    return holder is not None and holder.work is Work.NEEDS_INPUT and holder.evidence.signal == BUDGET
