"""`llmc attach`: the worker's terminal itself."""

from __future__ import annotations

from argparse import Namespace

from llmc.app import App
from llmc.commands.peek import pane_of
from llmc.commands.shared.result import Result
from llmc.errors import LlmcError
from llmc.host.terminal import become


def run(app: App, args: Namespace) -> Result:
    site = app.site()
    pane = pane_of(site, args.worker)
    if not app.console.is_terminal:
        raise LlmcError("attach needs a terminal, and this is none", f"`llmc peek {args.worker}` shows its last lines")
    env = {key: value for key, value in app.environ.items() if key not in ("TMUX", "TMUX_PANE")}
    become(site.tmux.attach_command(pane.session, read_only=args.read_only), env)
    return Result()
