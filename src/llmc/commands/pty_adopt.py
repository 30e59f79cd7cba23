"""`llmc pty adopt`: a window that somebody else made is known from now on and watched. It stays theirs."""

from __future__ import annotations

from argparse import Namespace

from llmc.app import App
from llmc.commands.shared.pty_place import place_data, place_of
from llmc.commands.shared.result import Result
from llmc.core.names import shown
from llmc.errors import LlmcError
from llmc.store.terminals import NameTakenError
from llmc.tmux.server import PaneGoneError
from llmc.tmux.windows import facts_of, socket_of


def run(app: App, args: Namespace) -> Result:
    place = place_of(app)
    tmux = place.outer_tmux()
    if tmux is None:
        raise LlmcError("you are not inside tmux", "run this inside the tmux that has the window")
    target = args.target or app.environ.get("TMUX_PANE", "")
    try:
        pane, cwd, window = facts_of(tmux, target)
    except PaneGoneError:
        raise LlmcError(f"tmux knows no window {shown(target)}", "`tmux list-panes -a` shows them all") from None
    server = socket_of(tmux)
    with place.terminals.lock():
        for known in place.present().there.values():
            if (known[0].server, known[0].pane) == (server, pane.id):
                raise NameTakenError(f"this terminal is known as {known[0].id} already", "`llmc pty list` shows all")
        name = args.name or place.terminals.free_name(window)
        place.terminals.require_free(name)
        terminal = place.record(tmux, pane, name, cwd, args.cli or "", made_here=False)
    place.terminals.announce()
    text = f"adopted {name} (session {pane.session}, window {pane.window}); closing it is up to you"
    return Result(text, place_data(terminal))
