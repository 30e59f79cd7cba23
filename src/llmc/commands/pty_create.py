"""`llmc pty create`: a window in a directory, known from now on and watched."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Mapping

from llmc.agents.base import LaunchOrder
from llmc.agents.packs import pack_names
from llmc.agents.registry import BUILT_IN, agent_named
from llmc.app import App
from llmc.commands.shared.pty_place import PtyPlace, place_data, place_of
from llmc.commands.shared.result import Result
from llmc.config.settings import Config
from llmc.core.names import shown
from llmc.errors import LlmcError
from llmc.host.files import make_own_directory
from llmc.host.locks import is_held
from llmc.perform.launch_files import write_launch_files
from llmc.perform.programs import installed_program
from llmc.store.spool import make_spool
from llmc.store.terminals import KnownTerminal
from llmc.tmux.parsing import Pane
from llmc.tmux.server import Tmux
from llmc.tmux.windows import Window, close_pane, open_apart, open_beside


def run(app: App, args: Namespace) -> Result:
    cwd = _directory(app.cwd, args.directory)
    place = place_of(app)
    with place.terminals.lock():
        place.present()
        name = _name(place, args.name, cwd)
        pane, tmux = _open(app, place, _window(place, name, cwd, args))
        try:
            terminal = place.record(tmux, pane, name, cwd, args.cli or "", made_here=True)
            if args.command:
                tmux.type_text(pane.id, args.command)
                tmux.press(pane.id, "Enter")
        except BaseException:
            close_pane(tmux, pane.id, pane.server_pid)
            place.terminals.forget(name)
            raise
    place.terminals.announce()
    return _told(place, terminal)


def _directory(cwd: str, given: str) -> str:
    path = os.path.realpath(os.path.join(cwd, os.path.expanduser(given)))
    if not os.path.isdir(path):
        raise LlmcError(f"{shown(given, 200)} is not a directory", "give the directory for the terminal")
    if not os.access(path, os.X_OK):
        raise LlmcError(f"you may not go into {path}", "check who owns it and its permissions")
    return path


def _name(place: PtyPlace, given: str | None, cwd: str) -> str:
    if given is None:
        return place.terminals.free_name(os.path.basename(cwd) or "root")
    place.terminals.require_free(given)
    return given


def _window(place: PtyPlace, name: str, cwd: str, args: Namespace) -> Window:
    about = {"LLMC_ROOT": place.root.path, "LLMC_TERMINAL": name}
    if not args.cli or args.command:
        return Window(name, cwd, env=about)
    argv, env = _program(place, name, cwd, args.cli)
    return Window(name, cwd, argv, {**about, **env}, keeps=True)


def _program(place: PtyPlace, name: str, cwd: str, cli: str) -> tuple[tuple[str, ...], Mapping[str, str]]:
    """An agent that LLMC knows reports by itself; anything else is a program like any other."""
    config = place.config()
    if cli in BUILT_IN or (config is not None and cli in config.agents):
        return _agent(place, config, name, cwd, cli)
    if place.host.which(cli) is None:
        known = ", ".join(sorted({*BUILT_IN, *pack_names(place.root.packs)}))
        raise LlmcError(f"{shown(cli)} is not installed", f"name a program, or one of {known}")
    return ("env", cli), {}


def _agent(
    place: PtyPlace, config: Config | None, name: str, cwd: str, cli: str
) -> tuple[tuple[str, ...], Mapping[str, str]]:
    agent = agent_named(cli, config, place.root.packs)
    home = place.host.environ().get("HOME", "")
    settings, spool = place.root.inside(".workers", name, "agent"), place.root.terminal_spool(name)
    program = installed_program(place.host, place.root, agent)
    order = LaunchOrder(name, cwd, cwd, home, settings, skip_permissions=None, spool=spool, program=program)
    launch = agent.launch(order)
    if place.host.which(launch.argv[0]) is None:
        raise LlmcError(f"{launch.argv[0]} is not installed", f"install it, or open a shell: llmc pty create {cwd}")
    make_spool(spool)
    make_own_directory(settings)
    write_launch_files(launch)
    argv = launch.argv if len(launch.argv) > 1 else ("env", *launch.argv)
    return argv, {"LLMC_SPOOL": spool, **launch.env}


def _open(app: App, place: PtyPlace, window: Window) -> tuple[Pane, Tmux]:
    """Where the person is; else on LLMC's own server."""
    outer = place.outer_tmux()
    if outer is not None:
        return open_beside(outer, app.environ.get("TMUX_PANE", ""), window), outer
    own = place.own_tmux()
    return open_apart(own, window), own


def _told(place: PtyPlace, terminal: KnownTerminal) -> Result:
    watched = is_held(place.root.watch_lock) is not None
    lines = [f"opened {terminal.id} in {terminal.cwd} (session {terminal.session}, window {terminal.window})"]
    if not watched:
        lines.append("nobody watches it: `llmc pty watch --detach` does")
    return Result("\n".join(lines), {**place_data(terminal), "watched": watched})
