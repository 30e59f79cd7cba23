"""`llmc pty switch`: brings a terminal in front of the person."""

from __future__ import annotations

import os
from argparse import Namespace

from llmc.app import App
from llmc.commands.attach import HOW_TO_LEAVE
from llmc.commands.shared.pty_place import PtyPlace, place_of
from llmc.commands.shared.result import Result
from llmc.errors import LlmcError
from llmc.host.terminal import become
from llmc.store.terminals import KnownTerminal, UnknownTerminalError
from llmc.tmux.server import Tmux
from llmc.tmux.windows import client_of, select, switch_client


def run(app: App, args: Namespace) -> Result:
    place = place_of(app)
    place.terminals.find(args.id)
    there = place.present().there.get(args.id)
    if there is None:
        raise UnknownTerminalError(f"the terminal {args.id} is gone", "`llmc pty list` shows those that are there")
    terminal, tmux, pane = there
    select(tmux, pane.id)
    if _is_inside(place, terminal):
        _switch(app, tmux, pane.id)
    elif app.console.is_terminal:
        env = {key: value for key, value in app.environ.items() if key not in ("TMUX", "TMUX_PANE")}
        become(tmux.attach_command(pane.session, HOW_TO_LEAVE), env)
    else:
        raise LlmcError(f"{args.id} is in front of its session, but there is no terminal to show it in",
                        "say it in a terminal")  # fmt: skip
    return Result(f"switched to {args.id}", {"id": args.id})


def _is_inside(place: PtyPlace, terminal: KnownTerminal) -> bool:
    outer = place.outer_tmux()
    return outer is not None and os.path.realpath(outer.socket) == os.path.realpath(terminal.server)


def _switch(app: App, tmux: Tmux, pane: str) -> None:
    client = client_of(tmux, app.environ.get("TMUX_PANE", pane))
    if not client:
        raise LlmcError("no tmux client is attached to this session", "attach to it first: tmux attach")
    switch_client(tmux, pane, client)
