"""`llmc pty list`: the terminals that are there."""

from __future__ import annotations

from argparse import Namespace

from llmc.app import App
from llmc.commands.shared.pty_place import place_data, place_of
from llmc.commands.shared.result import Result
from llmc.store.terminals import KnownTerminal


def run(app: App, args: Namespace) -> Result:
    place = place_of(app)
    presence = place.present()
    terminals = [(terminal, pane.dead, pane.command) for terminal, _, pane in presence.there.values()]
    lines = [_line(terminal, "ended" if dead else command) for terminal, dead, command in terminals]
    lines += [f"warning: {server} does not answer: {why}" for server, why in presence.unknown.items()]
    data = {"terminals": [{**_data(t), "dead": dead, "command": command} for t, dead, command in terminals]}
    return Result("\n".join(lines) or "no terminals: `llmc pty create DIR` opens one", data)


def _line(terminal: KnownTerminal, running: str) -> str:
    made = "" if terminal.made_here else "  (adopted)"
    return f"{terminal.id:<20} {running:<12} {terminal.session}:{terminal.window}  {terminal.cwd}{made}"


def _data(terminal: KnownTerminal) -> dict[str, object]:
    made = {"made_here": terminal.made_here, "created_at_unix": terminal.created_at_unix}
    return {**place_data(terminal), "cli_type": terminal.cli, **made}
