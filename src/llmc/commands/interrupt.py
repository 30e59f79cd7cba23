"""`llmc interrupt`: ends the running turn of workers, and proves it."""

from __future__ import annotations

from argparse import Namespace
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace

from llmc.app import App
from llmc.care.acting import acting_for
from llmc.care.catch_up import catch_up
from llmc.commands.restart import start_anew
from llmc.commands.shared.result import Result
from llmc.commands.shared.which_workers import named_workers
from llmc.core.delivery.interrupt import InterruptOutcome, Witness
from llmc.core.lifecycle import events as ev
from llmc.errors import LlmcError
from llmc.model import Worker
from llmc.observe.branches import new_work
from llmc.perform.interrupt import Interruption, interrupt
from llmc.site import Site

AT_ONCE = 4
NOT_KNOWN = 4
"""The exit code where it is not known whether the turn is over."""
ANEW = "it did not stop in time: its agent was ended and started again"


def run(app: App, args: Namespace) -> Result:
    site = app.site()
    names = named_workers(site, args, "interrupt")
    with ThreadPoolExecutor(AT_ONCE) as pool:
        came = list(pool.map(lambda name: _interrupt(site, name, args), names))
    data = [asdict(each) for each in came]
    code = NOT_KNOWN if any(each.outcome is InterruptOutcome.UNKNOWN for each in came) else 0
    single = len(args.names) == 1 and not args.all
    text = "\n".join(map(_told, came)) or "there are no workers"
    return Result(text, data[0] if single else {"workers": data}, code)


def _interrupt(site: Site, name: str, args: Namespace) -> Interruption:
    try:
        with acting_for(site, name) as worker:
            came = interrupt(site, worker, args.within)
            if came.outcome is InterruptOutcome.UNKNOWN and args.force:
                came = _end(site, worker, came)
            elif came.outcome is InterruptOutcome.INTERRUPTED:
                _note(site, worker)
                catch_up(site, name)
    except LlmcError as failure:
        if len(args.names) == 1:
            raise
        return Interruption(name, InterruptOutcome.UNKNOWN, Witness.NONE, 0, failure.what)
    return came


def _end(site: Site, worker: Worker, came: Interruption) -> Interruption:
    """Its work is the person's from here on, so that whoever starts it again does not set it to work."""
    _note(site, worker)
    start_anew(site, worker.name, force=True)
    return replace(came, outcome=InterruptOutcome.INTERRUPTED, proof=Witness.SCREEN, reason=ANEW)


def _note(site: Site, worker: Worker) -> None:
    site.ledger.apply(worker.name, ev.TurnInterrupted(site.now(), "you", new_work(site, worker)))


def _told(came: Interruption) -> str:
    proof = f", proof: {came.proof}" if came.proof is not Witness.NONE else ""
    why = f": {came.reason}" if came.reason else ""
    return f"{came.worker}: {came.outcome}{why} ({came.elapsed_ms} ms{proof})"
