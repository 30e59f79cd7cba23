"""What screens say of the work: of agents that do not report by themselves, and what the others leave unsaid."""

from __future__ import annotations

from llmc.core.delivery.texts import prompt_digests
from llmc.core.dialogs.dialog import said_in_a_line
from llmc.core.lifecycle import events as ev
from llmc.core.lifecycle.transitions.agent_reports import NOTED_EVERY_SECS
from llmc.core.lifecycle.transitions.shared import is_outdated
from llmc.core.screen.composer import is_only_placeholder
from llmc.core.screen.fusion import INTERRUPTED
from llmc.core.screen.reset_time import reset_time
from llmc.git.worktree_identity import foreign_git
from llmc.model import Session, Turn, Work, Worker
from llmc.observe.branches import new_work
from llmc.observe.readings import Observation
from llmc.site import Site, local_offset

RESTED_AFTER_SECS = 10.0
"""Nobody takes as long as that to show that it has begun."""


def silent_workers(site: Site) -> list[str]:
    """Who is at work and has given no sign for a while: no CLI reports everything."""
    now = site.now()
    return [worker.name for worker in site.ledger.load().workers.values() if _is_quiet(site, worker, now)]


def _is_quiet(site: Site, worker: Worker, now: float) -> bool:
    at_work = worker.work in (Work.WORKING, Work.REJECTED) and worker.session is Session.UP and not worker.pending
    return at_work and now - worker.last_activity_unix >= site.ledger.policy_of(worker.name).quiet_after_secs


def screen_event(site: Site, worker: Worker, seen: Observation, told: str | None) -> ev.Fact | None:
    """What the screen says of the work, if anything; `told` is the screen that was decided by last."""
    at = seen.status["last_polled_unix"]
    speaks = worker.session is Session.UP and not worker.reports_events
    if seen.changed:
        return ev.ScreenMoved(at) if speaks and _is_news(worker, at) else None
    if not seen.stable or told == seen.status["last_snapshot_hash"]:
        return None
    tells = _shows_interrupt(worker, seen) or _asks_unsaid(worker, seen)
    return _event(site, worker, seen) if tells or speaks or _is_quiet(site, worker, at) else None


def _event(site: Site, worker: Worker, seen: Observation) -> ev.Fact:
    at, reading = seen.status["last_polled_unix"], seen.reading
    if _shows_interrupt(worker, seen):
        return ev.TurnInterrupted(at, "screen", new_work(site, worker))
    if _asks_unsaid(worker, seen) and reading.dialog is not None:
        return ev.DialogSeen(at, said_in_a_line(reading.dialog))
    rested = seen.called or at - seen.status["last_change_unix"] >= RESTED_AFTER_SECS
    foreign = foreign_git(site.host, site.root.path, worker.name) or ""
    until = reset_time(reading.said, at, local_offset(at)) if reading.state == "ERROR" else None
    confident = reading.state != "UNKNOWN"
    return ev.ScreenRead(at, reading.state, reading.detail, confident, reading.said, rested, foreign, until)


def _shows_interrupt(worker: Worker, seen: Observation) -> bool:
    """It counts for more than what the agent has told: that came before, and nothing after it."""
    shown = (seen.status["state"], seen.status["detail"], seen.status["source"]) == ("READY", INTERRUPTED, "screen")
    return (shown or _gave_back(worker, seen)) and worker.session is Session.UP and not worker.pending


def _gave_back(worker: Worker, seen: Observation) -> bool:
    """Claude Code puts a prompt back into its input line when it is interrupted before the first word of its answer."""
    reading, pack = seen.reading, seen.pack
    if worker.turn is not Turn.OPEN or (reading.state, reading.detail) != ("READY", "draft") or not reading.composer:
        return False
    if is_outdated(worker, seen.status["last_change_unix"]):
        return False  # it stood there before the prompt was taken
    pasted = pack.composer is not None and is_only_placeholder(pack.composer, reading.composer)
    return pasted or bool(prompt_digests(reading.composer) & set(worker.heard_prompts[-1:]))


def _asks_unsaid(worker: Worker, seen: Observation) -> bool:
    """A dialog with something to choose that the agent has not told of, or that it tells of nothing at all."""
    dialog = seen.reading.dialog
    shown = (seen.status["state"], seen.status["source"]) == ("NEEDS_CONFIRMATION", "screen")
    return shown and dialog is not None and bool(dialog.options) and worker.session is Session.UP and not worker.pending


def may_say_more(worker: Worker, seen: Observation) -> bool:
    """The same screen is to be looked at once more: it is older than what happened last, or says more if it stays."""
    at_work = worker.work in (Work.WORKING, Work.REJECTED) and not worker.reports_events
    stays = at_work and seen.stable and seen.reading.state == "READY"
    return stays or is_outdated(worker, seen.status["last_polled_unix"])


def _is_news(worker: Worker, now: float) -> bool:
    """A terminal in which something goes on is a sign of life of an agent that gives no other; noted now and then."""
    return now - worker.last_activity_unix >= NOTED_EVERY_SECS
