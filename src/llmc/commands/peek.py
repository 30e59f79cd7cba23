"""`llmc peek`: the last lines of a worker's terminal."""

from __future__ import annotations

import re
from argparse import Namespace

from llmc.app import App
from llmc.commands.shared.result import Result
from llmc.core.display import fitted
from llmc.errors import LlmcError
from llmc.site import Site
from llmc.tmux.parsing import Pane


def run(app: App, args: Namespace) -> Result:
    site = app.site()
    pane = pane_of(site, args.worker)
    screen = site.tmux.capture(pane.id, history=args.lines)
    lines = [line.rstrip() for line in screen.rstrip().splitlines()][-args.lines :]
    columns = app.console.columns
    shown = "\n".join(fitted(line, columns) for line in lines)
    # A tall terminal is mostly empty: one blank line stands for many.
    text = re.sub(r"\n{3,}", "\n\n", shown).strip("\n")
    return Result(text, {"worker": args.worker, "lines": lines, "dead": pane.dead})


def pane_of(site: Site, name: str) -> Pane:
    worker = site.worker(name)
    pane = site.panes().get(worker.session_id)
    if pane is None:
        hint = f"`llmc explain {name}` says why, `llmc up` or `llmc restart {name}` brings it up"
        raise LlmcError(f"{name} has no terminal: it is not running", hint)
    return pane
