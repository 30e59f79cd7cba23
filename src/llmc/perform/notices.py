"""Telling the person. Never in the way of anything: a notice that cannot be given is dropped."""

from __future__ import annotations

import sys

from llmc.core.effects import Notify
from llmc.core.lifecycle import Decision
from llmc.model import Worker
from llmc.perform.diagnostics import write_bundle
from llmc.site import Site
from llmc.store.event_log import LoggedEvent

BELL_KINDS = frozenset(("needs_review", "needs_input", "error", "crashed", "conflict", "blocked", "stuck"))


def tell(site: Site, *decisions: Decision) -> None:
    now = site.now()
    told = [(decision.worker, notice) for decision in decisions for notice in decision.notices]
    texts = ((worker.name, _with_diagnostics(site, worker, notice)) for worker, notice in told)
    site.ledger.write(*(LoggedEvent(now, name, "notice", detail=text) for name, text in texts))
    if any(_rings(site, notice) for _, notice in told):
        _ring()


def _with_diagnostics(site: Site, worker: Worker, notice: Notify) -> str:
    """What the person is told; when somebody is called for good, with the place where all that is known is kept."""
    written = write_bundle(site, worker, notice.text) if notice.escalates else None
    return f"{notice.text}; what is known is in {written}" if written else notice.text


def _rings(site: Site, notice: Notify) -> bool:
    if notice.kind not in BELL_KINDS or not site.config.notify.bell:
        return False
    return notice.kind != "needs_review" or site.config.defaults.sound_on_review


def _ring() -> None:
    if sys.stderr.isatty():
        sys.stderr.write("\a")
        sys.stderr.flush()
