"""`llmc start`: a task for an idle worker."""

from __future__ import annotations

from argparse import Namespace

from llmc.app import App
from llmc.care.acting import acting_for, newest_tip, wait_until_settled
from llmc.care.giving import DaySpentError, NotGivenError, task_event
from llmc.commands.shared.elsewhere import place_elsewhere, start_elsewhere
from llmc.commands.shared.money import require_money
from llmc.commands.shared.receipts import came_of, receipt_of, receipt_result
from llmc.commands.shared.result import Result
from llmc.commands.shared.text_input import task_text
from llmc.core.tasks.changes import new_task
from llmc.core.tasks.pool import how_to_free, next_free
from llmc.core.tasks.task import Standing
from llmc.errors import IllegalEventError, InvalidUsageError, LlmcError
from llmc.model import Outcome, Worker
from llmc.perform.steps import Settled, decide_and_run
from llmc.site import Site
from llmc.store.tasks import TaskEvent


class NobodyIsFreeError(LlmcError):
    """Nobody who takes any task is free."""


def run(app: App, args: Namespace) -> Result:
    if args.queue and args.wait:
        hint = "nobody knows when a queued task begins: `llmc task show ID` tells how it stands"
        raise InvalidUsageError("--wait and --queue exclude each other", hint)
    site = app.site()
    if args.request is not None:
        return _asked_by_hub(app, site, args)
    there = place_elsewhere(site, args.worker)
    if there is not None and not args.queue:
        return start_elsewhere(app, site, args, there)
    if not args.queue:
        require_money(site)
        _require_somebody(site, args.worker)
    elif args.worker is not None:
        site.worker(args.worker)
    task = task_text(app.environ, site.root.inside("templates"), args, args.prompt, args.prompt_file)
    try:
        require_money(site)
        settled = _give(site, task, args.worker, by_name=True) if args.worker else _give_to_anybody(site, task)
    except (NobodyIsFreeError, IllegalEventError, NotGivenError, DaySpentError):
        if not args.queue:
            raise
        return _queued(site, task, args)
    given, receipt = settled.decisions[0].worker, receipt_of(settled)
    name, result = given.name, receipt_result(receipt, given.name, task=given.task)
    if args.wait and receipt.outcome in (Outcome.DELIVERED, Outcome.QUEUED):
        worker = wait_until_settled(site, name)
        return Result(f"{result.text}\n{came_of(worker)}", result.data)
    return result


def _asked_by_hub(app: App, site: Site, args: Namespace) -> Result:
    """Under the hub's name for it: who was cut short and is asked again makes nothing twice."""
    text = task_text(app.environ, site.root.inside("templates"), args, args.prompt, args.prompt_file)
    with acting_for(site, args.worker) as worker:
        known = site.ledger.tasks.of_request(args.request)
        if known is not None and worker.task == known.id:
            return _has_it(worker)
        if known is not None:  # held by whoever was cut short, right before the worker's record named it
            site.ledger.tasks.change(known.id, TaskEvent(site.now(), "released"), standing=Standing.QUEUED, reason="")
        task = known.id if known is not None else ""
        event = task_event(site, worker, text, task, by_name=True, request=args.request)
        settled = decide_and_run(site, args.worker, event, newest_tip(site))
    return receipt_result(receipt_of(settled), args.worker, task=settled.decisions[0].worker.task)


def _has_it(worker: Worker) -> Result:
    """Whoever was cut short has given it already."""
    data = {"outcome": Outcome.QUEUED.value, "proof": "none", "worker": worker.name, "task": worker.task}
    return Result(f"{worker.name} has it", data)


def _require_somebody(site: Site, worker: str | None) -> None:
    """Before a person has written the task."""
    name = choose(site).name if worker is None else worker
    site.worker(name)


def _queued(site: Site, text: str, args: Namespace) -> Result:
    from llmc.commands.shared.task_words import queued_result

    return queued_result(site, [new_task(text, site.now(), worker=args.worker or "")])


def _give(site: Site, prompt: str, name: str, *, by_name: bool = False) -> Settled:
    with acting_for(site, name) as worker:
        event = task_event(site, worker, prompt, by_name=by_name)
        return decide_and_run(site, name, event, newest_tip(site))


def _give_to_anybody(site: Site, task: str) -> Settled:
    """Somebody else may take the same worker in the same moment: then it is the next one's turn."""
    tried: set[str] = set()
    while True:
        name = choose(site, frozenset(tried)).name
        tried.add(name)
        try:
            return _give(site, task, name)
        except IllegalEventError:
            continue


def choose(site: Site, tried: frozenset[str] = frozenset()) -> Worker:
    workers = site.ledger.load().workers
    excluded = frozenset(name for name in workers if site.config.worker(name).excluded_from_pool)
    worker = next_free(workers.values(), excluded | tried)
    if worker is None:
        queue = "`llmc start --queue ...` or `llmc task add ...` queues the task"
        raise NobodyIsFreeError("no worker is free", f"{how_to_free(workers.values(), excluded)}; {queue}")
    return worker
