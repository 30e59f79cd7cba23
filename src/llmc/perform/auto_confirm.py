"""Answering a dialog unasked, where a rule of `[[policy.auto_confirm]]` allows it."""

from __future__ import annotations

from enum import Enum
from types import MappingProxyType

from llmc.core.delivery.texts import screen_digest
from llmc.core.dialogs.navigator import DialogOutcome
from llmc.core.display import one_line, plain
from llmc.core.lifecycle import events as ev
from llmc.core.screen.assessment import Assessment
from llmc.core.screen.auto_confirm import ConfirmVerdict, judge
from llmc.core.screen.screen import Screen
from llmc.model import Session, Worker
from llmc.perform.delivery import lock_terminal
from llmc.perform.dialogs import look_at_dialog, walk_through
from llmc.site import Site
from llmc.store.event_log import LoggedEvent
from llmc.store.snapshot import read_told

KIND = "auto_confirm"
"""Of its entries in the log of events."""
DIALOG_LINES = 40


class Confirmed(Enum):
    DONE = "the dialog was answered and is gone"
    STAYS = "the dialog was answered and is still there"
    REFUSED = "nothing was pressed"
    BUSY = "somebody else acts for this worker now"


def has_rules(site: Site, worker: Worker) -> bool:
    return any(rule.agent == worker.agent for rule in site.config.policy.auto_confirm)


def confirm(site: Site, name: str, digest: str) -> Confirmed:
    """Answers `yes` if a rule allows it. `digest` is of the screen that was seen to stay: no other one is answered."""
    lock = site.lock_of(name)
    if not lock.try_acquire():
        return Confirmed.BUSY
    try:
        return _confirm(site, site.worker(name), digest)
    finally:
        lock.release()


def verdict_on(site: Site, worker: Worker) -> ConfirmVerdict | None:
    """What would be decided now, for whoever asks why; None while no dialog of its kind is open."""
    pane = site.tmux.panes().get(worker.session_id)
    if pane is None or pane.dead or not has_rules(site, worker):
        return None
    verdict = _judge(site, worker, look_at_dialog(site.tmux, site.agent_of(worker), pane).screen)
    return verdict if verdict.kind else None


def _confirm(site: Site, worker: Worker, digest: str) -> Confirmed:
    with lock_terminal(site, worker):
        pane = site.tmux.panes().get(worker.session_id)
        if pane is None or pane.dead or pane.in_mode or worker.session is not Session.UP:
            return Confirmed.REFUSED
        screen = look_at_dialog(site.tmux, site.agent_of(worker), pane).screen
        verdict = _judge(site, worker, screen)
        if verdict.goal is None or screen_digest(screen.text, pane.title, pane.command) != digest:
            return Confirmed.REFUSED
        _log(site, worker, verdict, screen)
        ending = walk_through(site, site.agent_of(worker), pane, verdict.goal)
    if ending is DialogOutcome.TAKEN:
        site.ledger.apply(worker.name, ev.DialogConfirmed(site.now(), one_line(verdict.asked, 200)))
        return Confirmed.DONE
    return Confirmed.STAYS if ending in (DialogOutcome.STAYS, DialogOutcome.LOST) else Confirmed.REFUSED


def _judge(site: Site, worker: Worker, screen: Screen) -> ConfirmVerdict:
    pack = site.agent_of(worker).pack
    return judge(pack, screen, worker.agent, site.config.policy.auto_confirm, _told(site, worker))


def _told(site: Site, worker: Worker) -> Assessment | None:
    if not worker.reports_events:
        return None
    return read_told(site.root.attention_file(worker.name)) or {"state": "UNKNOWN"}


def _log(site: Site, worker: Worker, verdict: ConfirmVerdict, screen: Screen) -> None:
    """Before the key is pressed: what was answered is known even if we end in between."""
    detail = f"yes to {verdict.kind}: {one_line(verdict.asked, 200)} (rule {one_line(verdict.pattern, 100)})"
    lines = [line for line in plain(screen.text).split("\n") if line.strip()][-DIALOG_LINES:]
    told = {"asked": verdict.asked, "pattern": verdict.pattern, "dialog": "\n".join(line.rstrip() for line in lines)}
    site.ledger.write(LoggedEvent(site.now(), worker.name, KIND, detail=detail, data=MappingProxyType(told)))
