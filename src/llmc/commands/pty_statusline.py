"""`llmc pty statusline`: wires tmux's status line to the cache, and takes it out again."""

from __future__ import annotations

import os
import shutil
import sys
from argparse import Namespace

from llmc.app import App
from llmc.commands.shared.pty_place import PtyPlace, place_of
from llmc.commands.shared.result import Result
from llmc.errors import LlmcError
from llmc.tmux.server import Tmux
from llmc.tmux.statusline import install, is_installed, remove, status_part


def run(app: App, args: Namespace) -> Result:
    place = place_of(app)
    tmux = _server(place)
    if args.action == "install":
        replaces = ", in place of what LLMC showed there before" if is_installed(tmux) else ""
        done = install(tmux, status_part(_command(place)))
        shows = f"the status line shows the terminals of {place.root.path}"
        text = f"{shows}{replaces}" if done else f"{shows} already"
    else:
        done = remove(tmux)
        text = "the status line is as it was before" if done else "the status line shows nothing of ours"
    return Result(text, {"action": args.action, "changed": done})


def _server(place: PtyPlace) -> Tmux:
    outer = place.outer_tmux()
    if outer is not None:
        return outer
    own = Tmux(place.host, place.root.tmux_socket)
    if not own.run("list-sessions").ok:
        raise LlmcError("you are not inside tmux, and LLMC's own server does not run", "run this inside your tmux")
    return own


def _command(place: PtyPlace) -> list[str]:
    """The program as it is installed, so that tmux finds it whatever its PATH is."""
    program = os.path.join(os.path.dirname(sys.executable), "llmc")
    found = program if os.access(program, os.X_OK) else shutil.which("llmc") or "llmc"
    return [found, "--root", place.root.path, "pty", "status", "--short"]
