"""Work that goes back to its agent with what LLMC itself has to say about it."""

from __future__ import annotations

from llmc.care.acting import acting_for
from llmc.core.delivery.texts import check_text
from llmc.core.display import plain
from llmc.core.lifecycle import events as ev
from llmc.errors import LlmcError
from llmc.model import Outcome, Session, Worker
from llmc.perform.steps import decide_and_run
from llmc.site import Site


def send_back(site: Site, name: str, words: str) -> str:
    """Empty when the agent has it. Else why not: then the work waits for review as before."""
    try:
        with acting_for(site, name) as worker:
            return reject_work(site, worker, words)
    except LlmcError as refused:
        return refused.what


def reject_work(site: Site, worker: Worker, words: str) -> str:
    """As `send_back`. The caller acts for the worker."""
    if worker.session is not Session.UP:
        return f"its session is {worker.session.value}"
    text = plain(words)
    check_text(text)
    settled = decide_and_run(site, worker.name, ev.WorkRejected(site.now(), text, text))
    if settled.refusal is not None:
        return settled.refusal.what
    return next((f"undelivered: {r.reason}" for r in settled.receipts[-1:] if r.outcome is Outcome.UNDELIVERED), "")
