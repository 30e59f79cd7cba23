"""`llmc restart`: the agent ends and starts again; the work stays what it is."""

from __future__ import annotations

from argparse import Namespace

from llmc.app import App
from llmc.commands.acting import acting_for
from llmc.commands.result import Result
from llmc.core import events as ev
from llmc.errors import LlmcError
from llmc.model import Session
from llmc.perform.settle import ask


def run(app: App, args: Namespace) -> Result:
    site = app.site()
    site.tmux.require_version()
    with acting_for(site, args.worker) as worker:
        if worker.session in (Session.UP, Session.STARTING):
            ask(site, args.worker, ev.StopAsked(site.now(), args.force))
        ask(site, args.worker, ev.StartAsked(site.now(), named=True))
    worker = site.worker(args.worker)
    if worker.start_dialog:
        hint = f"answer it: `llmc answer {worker.name} ...`; `llmc peek {worker.name}` shows it"
        raise LlmcError(f"{worker.name} asks something at its start: {worker.start_dialog}", hint)
    if worker.session is not Session.UP:
        raise LlmcError(f"{worker.name} did not start: {worker.evidence.detail}", f"see `llmc explain {worker.name}`")
    return Result(f"{worker.name}: {worker.status}", {"worker": worker.name, "status": worker.status})
