"""What the commands of `llmc pty` share: the root, which need not have workers, and its terminals."""

from __future__ import annotations

import time
from pathlib import Path

from llmc.app import App
from llmc.config.load import load_config
from llmc.config.settings import Config
from llmc.host.base import Host
from llmc.observe.pty_presence import Presence, look_for
from llmc.root import Root, find_terminals_root
from llmc.store.terminals import KnownTerminal, Terminals
from llmc.tmux.configuration import configuration
from llmc.tmux.parsing import Pane
from llmc.tmux.server import Tmux
from llmc.tmux.windows import own_server, socket_of
from llmc.values import Value

USUAL_SIZE = (200, 50)


class PtyPlace(Value):
    root: Root
    host: Host
    terminals: Terminals

    def config(self) -> Config | None:
        """None where only terminals live: they need no settings."""
        return load_config(self.root.config_file) if self.root.exists else None

    def own_tmux(self) -> Tmux:
        """LLMC's server, started where it does not run."""
        Path(self.root.terminals).mkdir(mode=0o700, parents=True, exist_ok=True)
        settings = Path(self.root.terminals, "tmux.conf")
        settings.write_text(configuration(*USUAL_SIZE), encoding="utf-8")
        tmux = Tmux(self.host, self.root.tmux_socket)
        tmux.start(str(settings))
        return tmux

    def outer_tmux(self) -> Tmux | None:
        """The server that the person is inside of."""
        socket = own_server(self.host.environ())
        return Tmux(self.host, socket) if socket else None

    def record(self, tmux: Tmux, pane: Pane, name: str, cwd: str, cli: str, *, made_here: bool) -> KnownTerminal:
        server = socket_of(tmux)
        where = (pane.server_pid, pane.id, pane.session, pane.window)
        terminal = KnownTerminal(name, server, *where, cwd, cli, made_here, created_at_unix=time.time())
        self.terminals.add(terminal)
        return terminal

    def present(self) -> Presence:
        """The terminals that are there; those that went away are forgotten."""
        presence = look_for(self.host, self.terminals.all())
        for name in presence.gone:
            self.terminals.forget(name)
        if presence.gone:
            self.terminals.announce()
        return presence


def place_data(terminal: KnownTerminal) -> dict[str, object]:
    return {
        "id": terminal.id,
        "cwd": terminal.cwd,
        "tmux_server": terminal.server,
        "tmux_session": terminal.session,
        "tmux_window": terminal.window,
        "tmux_pane": terminal.pane,
    }


def place_of(app: App) -> PtyPlace:
    root = root_of(app)
    return PtyPlace(root, app.host(), Terminals(root))


def root_of(app: App) -> Root:
    return find_terminals_root(app.given_root, app.environ, app.cwd)
