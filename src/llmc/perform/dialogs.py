"""Dialogs in a worker's terminal: what is open, and walking through one key by key."""

from __future__ import annotations

import time

from llmc.agents.base import Agent
from llmc.core.dialogs.choosing import Goal
from llmc.core.dialogs.navigator import DialogLook, DialogOutcome, Walk, advance
from llmc.core.screen.classify import ScreenReading, read_screen
from llmc.core.screen.composer import times_shown
from llmc.core.screen.screen import Screen, screen_of
from llmc.site import Site
from llmc.tmux.parsing import Pane
from llmc.tmux.server import PaneGoneError, Tmux
from llmc.values import Value

LOOK_EVERY_SECS = 0.04


class DialogShown(Value):
    """One look at a terminal, with its colours, as whoever watches the terminals sees it."""

    pane: Pane
    screen: Screen
    reading: ScreenReading


def look_at_dialog(tmux: Tmux, agent: Agent, pane: Pane) -> DialogShown:
    facts, _ = tmux.look(pane.id)
    screen = screen_of(tmux.captures([pane.id])[0], title=facts.title, cursor=facts.cursor)
    return DialogShown(facts, screen, read_screen(agent.pack, screen))


def walk_through(site: Site, agent: Agent, pane: Pane, goal: Goal) -> DialogOutcome:
    """Takes the option. The caller holds the terminal's lock and has just seen the dialog."""
    tmux = site.tmux
    tmux.leave_copy_mode(pane.id)
    walk, before = Walk(goal), ""
    while True:
        try:
            seen = look_at_dialog(tmux, agent, pane)
        except PaneGoneError:
            return DialogOutcome.TAKEN  # `No, exit` ends the program
        before = before if walk.typed else seen.screen.text
        shows = bool(walk.typed) and times_shown(seen.screen.text, walk.typed) > times_shown(before, walk.typed)
        dialog = None if seen.pane.dead else seen.reading.dialog
        unread = site.host.has_unread_input(seen.pane.tty)
        walk, action = advance(walk, DialogLook(time.monotonic(), dialog, shows, unread))
        if action.ending is not None:
            return action.ending
        try:
            if action.text:
                tmux.type_text(pane.id, action.text)
            if action.key:
                tmux.press(pane.id, action.key)
        except PaneGoneError:
            return DialogOutcome.LOST
        time.sleep(LOOK_EVERY_SECS)
