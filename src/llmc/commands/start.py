"""`llmc start`: a task for an idle worker."""

from __future__ import annotations

from argparse import Namespace

from llmc.app import App
from llmc.care.acting import acting_for, newest_tip, wait_until_settled
from llmc.commands.shared.receipts import came_of, receipt_of, receipt_result
from llmc.commands.shared.result import Result
from llmc.commands.shared.text_input import from_template, text_from
from llmc.core.lifecycle import events as ev
from llmc.core.prompts.task import task_prompt
from llmc.core.tasks.pool import how_to_free, next_free
from llmc.errors import IllegalEventError, InvalidUsageError, LlmcError
from llmc.git.repository import status
from llmc.model import Outcome, Receipt, Worker
from llmc.perform.steps import decide_and_run
from llmc.site import Site


def run(app: App, args: Namespace) -> Result:
    site = app.site()
    name = choose(site).name if args.worker is None else args.worker
    site.worker(name)
    task = _task(app, site, args)
    name, receipt = _give(site, task, name) if args.worker is not None else _give_to_anybody(site, task)
    result = receipt_result(receipt, name)
    if args.wait and receipt.outcome in (Outcome.DELIVERED, Outcome.QUEUED):
        worker = wait_until_settled(site, name)
        return Result(f"{result.text}\n{came_of(worker)}", result.data)
    return result


def _give(site: Site, task: str, name: str) -> tuple[str, Receipt]:
    with acting_for(site, name) as worker:
        _refuse_dirty(site, worker)
        text = _as_sent(site, worker, task)
        tip = newest_tip(site)
        return name, receipt_of(decide_and_run(site, name, ev.TaskGiven(site.now(), task, text), tip))


def _as_sent(site: Site, worker: Worker, task: str) -> str:
    if not site.agent_of(worker).takes_prose:
        return task
    return task_prompt(task, worker.worktree_path, worker.branch, site.config.repo.validate)


def _give_to_anybody(site: Site, task: str) -> tuple[str, Receipt]:
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
        raise LlmcError("no worker is free", how_to_free(workers.values(), excluded))
    return worker


def _task(app: App, site: Site, args: Namespace) -> str:
    given = [text for text in (args.source, args.prompt, args.prompt_file, args.template) if text is not None]
    if len(given) > 1:
        raise InvalidUsageError(
            "the task is given twice", "give it once: the text alone, --prompt, --prompt-file, --template or -"
        )
    if args.set and args.template is None:
        raise InvalidUsageError("--set fills in a template, and there is none", "name it with --template NAME")
    if args.template is not None:
        return from_template(site.root.inside("templates"), args.template, args.set)
    return text_from(args.source or args.prompt, args.prompt_file, environ=app.environ)


def _refuse_dirty(site: Site, worker: Worker) -> None:
    if worker.worktree_lost:
        raise LlmcError(f"{worker.name}'s worktree is gone", f"`llmc restart {worker.name}` makes it again")
    left = [entry.path for entry in status(site.git, worker.worktree_path)]
    if left and worker.work == "idle":
        raise LlmcError(
            f"{worker.name}'s worktree has uncommitted changes that belong to no task: {', '.join(left[:5])}",
            f"`llmc reset {worker.name}` sets them aside in a backup",
        )
