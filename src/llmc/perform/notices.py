"""Telling the person. Never in the way of anything: a notice that cannot be given is dropped."""

from __future__ import annotations

import sys

from llmc.core.effects import Notify
from llmc.core.lifecycle import Decision
from llmc.site import Site

BELL_KINDS = frozenset(("needs_review", "needs_input", "error", "crashed", "conflict"))


def tell(site: Site, decision: Decision) -> None:
    for notice in decision.notices:
        site.ledger.note(decision.worker.name, site.now(), "notice", notice.text)
        if _rings(site, notice):
            _ring()


def _rings(site: Site, notice: Notify) -> bool:
    if notice.kind not in BELL_KINDS or not site.config.notify.bell:
        return False
    return notice.kind != "needs_review" or site.config.defaults.sound_on_review


def _ring() -> None:
    if sys.stderr.isatty():
        sys.stderr.write("\a")
        sys.stderr.flush()
