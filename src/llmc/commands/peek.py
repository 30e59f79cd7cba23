"""`llmc peek`: the last lines of a worker's terminal."""

from __future__ import annotations

from argparse import Namespace

from llmc.app import App
from llmc.commands.acting import terminals
from llmc.commands.result import Result
from llmc.errors import LlmcError
from llmc.site import Site
from llmc.tmux.parsing import Pane


def run(app: App, args: Namespace) -> Result:
    site = app.site()
    pane = pane_of(site, args.worker)
    screen = site.tmux.capture(pane.id, history=args.lines)
    lines = [line.rstrip() for line in screen.rstrip().splitlines()][-args.lines :]
    return Result("\n".join(lines), {"worker": args.worker, "lines": lines, "dead": pane.dead})


def pane_of(site: Site, name: str) -> Pane:
    worker = site.worker(name)
    pane = terminals(site).get(worker.session_id)
    if pane is None:
        raise LlmcError(f"{name} has no terminal: it is not running", "bring the workers up with `llmc up`")
    return pane
