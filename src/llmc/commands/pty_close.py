"""`llmc pty close`: ends a terminal that was opened here; one that was adopted is only forgotten."""

from __future__ import annotations

from argparse import Namespace

from llmc.app import App
from llmc.commands.shared.pty_place import place_of
from llmc.commands.shared.result import Result
from llmc.tmux.server import Tmux
from llmc.tmux.windows import close_pane


def run(app: App, args: Namespace) -> Result:
    place = place_of(app)
    with place.terminals.lock():
        terminal = place.terminals.find(args.id)
        if terminal.made_here:
            close_pane(Tmux(place.host, terminal.server), terminal.pane, terminal.server_pid)
        place.terminals.forget(terminal.id)
    place.terminals.announce()
    what = "closed" if terminal.made_here else "forgot"
    stays = "" if terminal.made_here else "; its window stays: it was not opened here"
    return Result(f"{what} {terminal.id}{stays}", {"id": terminal.id, "closed": terminal.made_here})
