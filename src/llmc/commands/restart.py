"""`llmc restart`: agents end and start again; their work stays what it is."""

from __future__ import annotations

from argparse import Namespace

from llmc.app import App
from llmc.care.acting import acting_for
from llmc.commands.shared.agreement import require_agreement
from llmc.commands.shared.receipts import EXIT_CODES, receipt_of
from llmc.commands.shared.result import Result
from llmc.commands.shared.which_workers import named_workers
from llmc.core.lifecycle import events as ev
from llmc.core.lifecycle.transitions.queued import lost_with_session
from llmc.errors import LlmcError
from llmc.model import Receipt, Session, Turn, Worker
from llmc.perform.going_on import task_again
from llmc.perform.repo_commands import SHOWN_LINES
from llmc.perform.steps import decide_and_run
from llmc.site import Site
from llmc.store.worker_log import WorkerLog
from llmc.values import Value


class Restarted(Value):
    worker: Worker
    lost: list[str]
    """How the texts begin that waited in the old session's queue."""
    receipt: Receipt | None = None
    """Of the task, where it was given again."""


def run(app: App, args: Namespace) -> Result:
    site = app.site()
    site.tmux.require_version()
    names = named_workers(site, args, "restart")
    _require_agreement(app, site, names, args)
    if args.resend:
        for name in names:
            _task_of(site, site.worker(name))
    came = [_restart(site, name, args) for name in names]
    data = [_data(each) for each in came]
    single = len(args.names) == 1 and not args.all
    code = max((EXIT_CODES[each.receipt.outcome] for each in came if each.receipt is not None), default=0)
    text = "\n".join(map(_told, came)) or "there are no workers"
    return Result(text, data[0] if single else {"workers": data}, code)


def _require_agreement(app: App, site: Site, names: list[str], args: Namespace) -> None:
    busy = [name for name in names if site.worker(name).turn is Turn.OPEN]
    if not busy or args.force:
        return
    what = f"{', '.join(busy)} {'is' if len(busy) == 1 else 'are'} in the middle of a turn"
    nobody = LlmcError(f"{what}; nothing was changed", "pass --yes to restart all the same")
    require_agreement(app, f"{what}. Restart all the same?", nobody)


def _restart(site: Site, name: str, args: Namespace) -> Restarted:
    with acting_for(site, name) as worker:
        receipt = start_anew(site, name, force=args.force)
        if args.resend and receipt is None:
            text = _task_of(site, site.worker(name))
            receipt = receipt_of(decide_and_run(site, name, ev.MessageGiven(site.now(), text)))
    return Restarted(site.worker(name), lost_with_session(worker.sent), receipt)


def start_anew(site: Site, name: str, *, force: bool) -> Receipt | None:
    """The receipt of what the agent was told to go on with, if it was. The caller acts for the worker."""
    if site.worker(name).session in (Session.UP, Session.STARTING):
        decide_and_run(site, name, ev.StopAsked(site.now(), force))
    settled = decide_and_run(site, name, ev.StartAsked(site.now(), named=True))
    worker = site.worker(name)
    if worker.start_dialog:
        hint = f"answer it: `llmc answer {worker.name} ...`; `llmc peek {worker.name}` shows it"
        raise LlmcError(f"{worker.name} asks something at its start: {worker.start_dialog}", hint)
    if worker.evidence.signal == "setup.failed":
        lines = "".join(f"\n  {line}" for line in WorkerLog(site.root.setup_logs).tail(name, SHOWN_LINES))
        hint = f"`llmc logs {name} --setup` shows all of it; when it is fixed, `llmc restart {name}` runs it again"
        raise LlmcError(f"{name} did not start: {worker.evidence.detail}{lines}", hint)
    if worker.session is not Session.UP:
        raise LlmcError(f"{worker.name} did not start: {worker.evidence.detail}", f"see `llmc explain {worker.name}`")
    return settled.receipts[-1] if settled.receipts else None


def _task_of(site: Site, worker: Worker) -> str:
    if not worker.current_prompt:
        hint = f"`llmc start --worker {worker.name} ...` gives it one"
        raise LlmcError(f"{worker.name} has no task that could be given again", hint)
    return task_again(site, worker)


def _data(each: Restarted) -> dict[str, object]:
    resent = None if each.receipt is None else each.receipt.outcome.value
    return {"worker": each.worker.name, "status": each.worker.status, "lost": each.lost, "resent": resent}


def _told(each: Restarted) -> str:
    name = each.worker.name
    lines = [f"{name}: {each.worker.status}"]
    if each.receipt is not None:
        why = f" ({each.receipt.reason})" if each.receipt.reason else ""
        lines.append(f"{name}: it was told to go on with its task: {each.receipt.outcome.value}{why}")
    lines += [f"{name}: lost with the old session, which had queued it: {words}" for words in each.lost]
    return "\n".join(lines)
