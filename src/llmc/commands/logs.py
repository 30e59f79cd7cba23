"""`llmc logs`: a worker's log file, JSON lines as they are."""

from __future__ import annotations

import json
from argparse import Namespace

from llmc.app import App
from llmc.commands.shared.result import Result
from llmc.host.watch import open_watch, wait_for_change
from llmc.site import Site

WAIT_SECS = 2.0


def run(app: App, args: Namespace) -> Result:
    site = app.site()
    site.worker(args.worker)
    if args.follow:
        _follow(app, site, args)
    lines = site.ledger.log.tail(args.worker, args.lines)
    return Result("\n".join(lines), [_data(line) for line in lines])


def _data(line: str) -> object:
    try:
        return json.loads(line)
    except ValueError:
        return {"text": line}  # a full disk cut it short, or somebody else wrote it


def _follow(app: App, site: Site, args: Namespace) -> None:
    """Until the person has seen enough (Ctrl-C)."""
    watch = open_watch()
    watch.add(site.root.logs, "log")

    def wait() -> bool:
        wait_for_change(watch, WAIT_SECS)
        return True

    for line in site.ledger.log.follow(args.worker, wait, lines=args.lines):
        app.console.print(line)
