"""`llmc attach`: the worker's terminal itself."""

from __future__ import annotations

import os
import shlex
from argparse import Namespace

from llmc.app import App
from llmc.commands.peek import pane_of
from llmc.commands.shared.elsewhere import PlaceElsewhere, place_elsewhere
from llmc.commands.shared.own_process import own_command
from llmc.commands.shared.result import Result
from llmc.errors import LlmcError
from llmc.fleet.registry import machine_named
from llmc.fleet.remote_words import command_there
from llmc.host.onlooker import look_on
from llmc.host.terminal import become
from llmc.site import Site
from llmc.tmux.parsing import Pane
from llmc.tmux.server import Tmux
from llmc.tmux.windows import ask, client_of, own_server, switch_client

INSIDE = ("TMUX", "TMUX_PANE")
HOW_TO_LEAVE = "Ctrl-b d leaves"
HOW_TO_LEAVE_LOOKING = "you only look: q, Ctrl-C or Ctrl-b d leaves"


def run(app: App, args: Namespace) -> Result:
    site = app.site()
    there = place_elsewhere(site, args.worker)
    pane = None if there is not None else pane_of(site, args.worker)
    if not app.console.is_terminal:
        raise LlmcError("attach needs a terminal, and this is none", f"`llmc peek {args.worker}` shows its last lines")
    outer = _outer(app, site)
    if pane is not None and outer is not None and _is_own(site, outer):
        return _switched(app, site, outer, pane, args)
    client = client_of(outer, app.environ.get("TMUX_PANE", "")) if outer is not None else ""
    if outer is not None and client:
        return _left_for_it(app, site, outer, client, args)
    env = {key: value for key, value in app.environ.items() if key not in INSIDE}
    if there is not None:
        become(_command_there(site, there, args), env)
    elif pane is not None and args.read_only:
        look_on(site.tmux.attach_command(pane.session, HOW_TO_LEAVE_LOOKING, keeps_size=True), env)
    elif pane is not None:
        become(site.tmux.attach_command(pane.session, HOW_TO_LEAVE), env)
    return Result()


def _command_there(site: Site, there: PlaceElsewhere, args: Namespace) -> list[str]:
    """The same command over there, on this terminal."""
    machine = machine_named(site.root, site.config, there.machine)
    words = ["attach", there.worker, *(["--read-only"] if args.read_only else [])]
    return machine.reach.argv(command_there(machine, words, terminal=True), terminal=True)


def _outer(app: App, site: Site) -> Tmux | None:
    """The tmux that the person is inside of."""
    socket = own_server(app.environ)
    return Tmux(site.host, socket) if socket else None


def _is_own(site: Site, outer: Tmux) -> bool:
    return os.path.basename(outer.socket) == site.root.tmux_socket


def _switched(app: App, site: Site, outer: Tmux, pane: Pane, args: Namespace) -> Result:
    """From one worker's terminal to another's."""
    if args.read_only:
        raise LlmcError("you are inside of a worker's terminal", "leave it with Ctrl-b d to look at another one")
    switch_client(outer, pane.id, client_of(outer, app.environ.get("TMUX_PANE", pane.id)))
    return Result(f"switched to {args.worker}", {"worker": args.worker})


def _left_for_it(app: App, site: Site, outer: Tmux, client: str, args: Namespace) -> Result:
    """A tmux inside of another would take its keys from it: the person's client goes there, and comes back here."""
    words = own_command(site.root, "attach", args.worker, *(["--read-only"] if args.read_only else []))
    there = shlex.join(["env", "-u", INSIDE[0], "-u", INSIDE[1], *words])
    session = ask(outer, "display-message", "-p", "-t", app.environ.get("TMUX_PANE", ""), "#{session_id}").strip()
    back = shlex.join(["tmux", "-S", outer.socket, "attach-session", "-t", session])
    ask(outer, "detach-client", "-t", client, "-E", f"{there}; exec {back}")
    return Result(f"your terminal went to {args.worker} and is back")
