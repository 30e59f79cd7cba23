"""Windows on a tmux server, which may be the person's own: exact targets, and nothing touched that is not ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from llmc.errors import LlmcError
from llmc.tmux.parsing import PANE_FORMAT, Pane, parse_pane, says_no_pane, says_no_sessions
from llmc.tmux.server import PaneGoneError, Tmux, TmuxError, literal
from llmc.values import Value

TERMINALS_SESSION = "terminals"
"""On LLMC's own server. Workers' sessions are named otherwise."""
SIZE = ("200", "50")
MESSAGE_MS = "5000"


class Window(Value):
    """What a new window is to be."""

    name: str
    cwd: str
    argv: tuple[str, ...] = ()
    """Its program; empty for the person's shell."""
    env: Mapping[str, str] | None = None
    keeps: bool = False
    """It stays when its program has ended, to show how."""


def own_server(environ: Mapping[str, str]) -> str:
    """The socket of the tmux server that we run inside of; empty outside."""
    return environ.get("TMUX", "").rsplit(",", 2)[0]


def open_beside(tmux: Tmux, pane: str, window: Window) -> Pane:
    """A window in the session of this pane."""
    session = ask(tmux, "display-message", "-p", "-t", pane, "#{session_id}").strip()
    return _opened(tmux, ("new-window", "-d", "-t", f"{session}:"), window)


def open_apart(tmux: Tmux, window: Window) -> Pane:
    """A window in a session for terminals alone."""
    if tmux.run("has-session", "-t", f"={TERMINALS_SESSION}").ok:
        return _opened(tmux, ("new-window", "-d", "-t", f"={TERMINALS_SESSION}:"), window)
    size = ("-x", SIZE[0], "-y", SIZE[1])
    return _opened(tmux, ("new-session", "-d", "-s", TERMINALS_SESSION, *size), window)


def _opened(tmux: Tmux, command: Sequence[str], window: Window) -> Pane:
    variables = [word for key, value in (window.env or {}).items() for word in ("-e", literal(f"{key}={value}"))]
    directory = literal(window.cwd.replace("#", "##"))  # tmux would look for its variables in it
    program = ("--", *map(literal, window.argv)) if window.argv else ()
    line = ask(tmux, *command, "-P", "-F", PANE_FORMAT, "-n", window.name, "-c", directory, *variables, *program)
    pane = parse_pane(line.rstrip("\n"))
    ask(tmux, "set-option", "-w", "-t", pane.id, "remain-on-exit", "on" if window.keeps else "off")
    return pane


def close_pane(tmux: Tmux, pane: str, server_pid: int) -> None:
    """Ends the pane, if it still is the one that is meant: another server may have taken the socket."""
    with suppress(PaneGoneError):
        ask(tmux, "if-shell", "-F", "-t", pane, f"#{{==:#{{pid}},{server_pid}}}", f"kill-pane -t {pane}")


def select(tmux: Tmux, pane: str) -> None:
    ask(tmux, "select-window", "-t", pane, ";", "select-pane", "-t", pane)


def switch_client(tmux: Tmux, pane: str, client: str) -> None:
    ask(tmux, "switch-client", "-c", client, "-t", pane)


def client_of(tmux: Tmux, pane: str) -> str:
    """The client that shows the session of this pane: the one that the person types into."""
    session = ask(tmux, "display-message", "-p", "-t", pane, "#{session_id}").strip()
    said = ask(tmux, "list-clients", "-t", session, "-F", "#{client_activity} #{client_name}")
    clients = sorted(filter(None, said.splitlines()))
    return clients[-1].partition(" ")[2] if clients else ""


def facts_of(tmux: Tmux, target: str) -> tuple[Pane, str, str]:
    """The pane that the target names, the directory that it is in, and the name of its window."""
    ask(tmux, "list-panes", "-t", target)  # `display-message` answers for another one where there is none
    wanted = f"{PANE_FORMAT}\n#{{pane_current_path}}\n#{{window_name}}"
    facts, cwd, name = ask(tmux, "display-message", "-p", "-t", target, wanted).rstrip("\n").split("\n")[:3]
    return parse_pane(facts), cwd, name


def socket_of(tmux: Tmux) -> str:
    return ask(tmux, "display-message", "-p", "#{socket_path}").strip()


def clients(tmux: Tmux) -> list[str]:
    answer = tmux.run("list-clients", "-F", "#{client_name}")
    return answer.text.splitlines() if answer.ok else []


def client_terminals(tmux: Tmux) -> list[str]:
    """Of the people who are attached; LLMC's own clients have none."""
    answer = tmux.run("list-clients", "-F", "#{?client_control_mode,,#{client_tty}}")
    return [tty for tty in answer.text.splitlines() if tty] if answer.ok else []


def show_message(tmux: Tmux, text: str) -> None:
    """A line in every client that is attached."""
    shown = text.replace("#", "##").replace("%", "%%")
    for client in clients(tmux):
        tmux.run("display-message", "-c", client, "-d", MESSAGE_MS, "--", literal(shown))


def refresh_status_lines(tmux: Tmux) -> None:
    for client in clients(tmux):
        tmux.run("refresh-client", "-S", "-t", client)


def ask(tmux: Tmux, *command: str) -> str:
    answer = tmux.run(*command)
    if answer.ok:
        return answer.text
    if says_no_pane(answer.complaint) or "can't find session" in answer.complaint:
        raise PaneGoneError("the terminal is gone", "`llmc pty list` shows those that are there")
    if says_no_sessions(answer.complaint):
        raise LlmcError("the tmux server is gone", "`llmc pty list` shows the terminals that are there")
    raise TmuxError(f"tmux {command[0]}: {answer.complaint}", "see whether `tmux` itself works")
