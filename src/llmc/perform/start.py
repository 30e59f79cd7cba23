"""Waiting for an agent that was launched: dialogs on its way are passed, or left to the person."""

from __future__ import annotations

import time
from contextlib import suppress

from llmc.agents.base import Agent
from llmc.agents.packs import FALLBACK
from llmc.core.delivery.start import Failed, Manners, Ready, StartLook, StartProgress, Waits, advance
from llmc.core.delivery.texts import screen_digest
from llmc.core.dialogs.choosing import Goal
from llmc.core.display import one_line
from llmc.core.lifecycle import events as ev
from llmc.model import Step, Worker
from llmc.perform.delivery import lock_terminal
from llmc.perform.dialogs import DialogShown, look_at_dialog, walk_through
from llmc.perform.unread_reports import spooled_reports
from llmc.site import Site
from llmc.tmux.parsing import Pane, last_words
from llmc.tmux.server import PaneGoneError
from llmc.values import Value

LOOK_EVERY_SECS = 0.05
LAST_LINES = 6
LONGEST_ASKED = 400


class LeftToTheNextError(Exception):
    """Nothing has failed: the step stays pending, and whoever acts for the worker next goes on with it."""


class StartEnded(Value):
    """The program has ended before it took a prompt."""

    pane: Pane
    after_choice: bool
    """LLMC had chosen an option of a dialog before: drawn anew in that moment, it may have taken another one."""


def wait_until_ready(
    site: Site, worker: Worker, step: Step, agent: Agent, pane: Pane, *, resumed: bool
) -> ev.StepResult | StartEnded:
    """What has come of the start."""
    progress, manners = StartProgress(), _manners(agent, resumed=resumed)
    while True:
        if site.leaving.is_set():
            raise LeftToTheNextError
        shown = look_at_dialog(site.tmux, agent, pane)
        if shown.pane.dead:
            return StartEnded(shown.pane, progress.tried_at is not None)
        progress, action = advance(progress, _look(site, worker, agent, shown), manners)
        match action:
            case Goal():
                with lock_terminal(site, worker), suppress(PaneGoneError):
                    walk_through(site, agent, pane, action)
            case Ready():
                return ev.SessionReady(site.now(), step.id, action.reported, hint=action.hint)
            case Waits():
                return waits(site, step, action)
            case Failed():
                return ev.SessionFailed(site.now(), step.id, action.reason, last_words(shown.screen.text))
            case None:
                _goes_on(site, worker, step, shown)
                time.sleep(LOOK_EVERY_SECS)


def _manners(agent: Agent, *, resumed: bool) -> Manners:
    # A conversation from before is shown with the failure that it ended in, or with half a turn that looks like one.
    states = frozenset({"READY", "ERROR"} if resumed else {"READY"})
    return Manners(
        agent.reports_start,
        agent.steady_secs,
        agent.screen_unknown,
        agent.pack.name == FALLBACK,
        states,
        agent.ready_timeout_secs,
    )


def _look(site: Site, worker: Worker, agent: Agent, shown: DialogShown) -> StartLook:
    lines = [line.strip() for line in shown.screen.text.splitlines() if line.strip()]
    return StartLook(
        time.monotonic(),
        shown.reading,
        screen_digest(shown.screen.text, shown.pane.title, ""),
        "\n".join(lines[-LAST_LINES:]),
        not site.host.has_unread_input(shown.pane.tty),
        agent.reports_events and _reported_start(site, worker, agent),
    )


def _reported_start(site: Site, worker: Worker, agent: Agent) -> bool:
    since = (worker.launched_at_unix or 0.0) - 1
    return any(report.kind == "session_start" for report in spooled_reports(site, worker, since=since))


def waits(site: Site, step: Step, action: Waits) -> ev.StartWaits:
    asked = one_line(action.dialog.question or action.dialog.listed, LONGEST_ASKED)
    return ev.StartWaits(site.now(), step.id, asked, one_line(action.dialog.listed, LONGEST_ASKED), action.advice)


def _goes_on(site: Site, worker: Worker, step: Step, shown: DialogShown) -> None:
    """Somebody has answered what the start had waited for."""
    if worker.start_dialog and shown.reading.dialog is None and site.worker(worker.name).start_dialog:
        site.ledger.apply(worker.name, ev.StartWaits(site.now(), step.id, ""))
