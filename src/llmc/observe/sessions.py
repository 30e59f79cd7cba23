"""What tmux shows of a worker's session, as events."""

from __future__ import annotations

from collections.abc import Callable

from llmc.core.lifecycle import events as ev
from llmc.errors import LlmcError
from llmc.model import Session, Worker
from llmc.site import Site, local_offset
from llmc.tmux.parsing import Pane, last_words
from llmc.tmux.server import PaneGoneError

SCROLLBACK = 50


def losses(site: Site, worker: Worker, pane: Pane | None, *, while_away: bool = False) -> list[ev.Event]:
    """The end of a session that is up as far as we know."""
    if worker.session is not Session.UP:
        return []
    if pane is None:
        return [ev.SessionVanished(site.now(), while_away)]
    if not pane.dead:
        return []
    from llmc.core.screen.reset_time import reset_time

    now, words = site.now(), _last_words(site, pane)
    return [ev.AgentExited(now, pane.exit_code, pane.exit_signal, words, reset_time(words, now, local_offset(now)))]


def said_on_screen(site: Site, worker: Worker) -> str:
    """What the agent's screen shows as its last words; empty where it shows none, or is not there."""
    from llmc.core.screen.classify import read_screen
    from llmc.core.screen.screen import Screen

    try:
        pane = site.tmux.pane_of(worker.session_id)
        text = site.tmux.capture(pane.id) if pane is not None and not pane.dead else ""
    except LlmcError:
        return ""
    return read_screen(site.agent_of(worker).pack, Screen(text)).said


def _last_words(site: Site, pane: Pane) -> str:
    try:
        return last_words(site.tmux.capture(pane.id, history=SCROLLBACK))
    except PaneGoneError:
        return ""  # somebody has cleared it away meanwhile


def finds(site: Site, worker: Worker, pane_of: Callable[[str], Pane | None]) -> list[ev.Event]:
    """A session that runs although nobody knows of it. The caller acts for the worker: nobody is just ending it."""
    if worker.session not in (Session.DOWN, Session.CRASHED):
        return []
    pane = pane_of(worker.session_id)
    if pane is None or pane.dead:
        return []
    return [ev.SessionFound(site.now(), worker.reports_events)]
