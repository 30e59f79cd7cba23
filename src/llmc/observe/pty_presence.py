"""Which of the terminals that we know are still there."""

from __future__ import annotations

from collections.abc import Mapping

from llmc.errors import LlmcError
from llmc.host.base import Host
from llmc.store.terminals import KnownTerminal
from llmc.tmux.parsing import Pane
from llmc.tmux.server import Tmux
from llmc.values import Value


class Presence(Value):
    there: Mapping[str, tuple[KnownTerminal, Tmux, Pane]]
    gone: Mapping[str, KnownTerminal]
    unknown: Mapping[str, str]
    """Servers that do not answer, with what is wrong: nothing is known of their terminals."""


def look_for(host: Host, terminals: Mapping[str, KnownTerminal]) -> Presence:
    there: dict[str, tuple[KnownTerminal, Tmux, Pane]] = {}
    gone: dict[str, KnownTerminal] = {}
    unknown: dict[str, str] = {}
    for server in sorted({terminal.server for terminal in terminals.values()}):
        tmux = Tmux(host, server)
        try:
            panes = {pane.id: pane for pane in tmux.all_panes()}
        except LlmcError as silent:
            unknown[server] = silent.what
            continue
        for name, terminal in terminals.items():
            if terminal.server == server:
                pane = panes.get(terminal.pane)
                if pane is not None and pane.server_pid == terminal.server_pid:
                    there[name] = (terminal, tmux, pane)
                else:
                    gone[name] = terminal
    return Presence(there, gone, unknown)
