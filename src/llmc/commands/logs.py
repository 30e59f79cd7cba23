"""`llmc logs`: a worker's log file, JSON lines as they are; or what the setup of its worktree said."""

from __future__ import annotations

import json
from argparse import Namespace

from llmc.app import App
from llmc.commands.shared.result import Result
from llmc.host.watch import open_watch, wait_for_change
from llmc.store.worker_log import WorkerLog

WAIT_SECS = 2.0


def run(app: App, args: Namespace) -> Result:
    site = app.site()
    site.worker(args.worker)
    log = WorkerLog(site.root.setup_logs) if args.setup else site.ledger.log
    if args.follow:
        _follow(app, log, args)
    lines = log.tail(args.worker, args.lines)
    return Result("\n".join(lines), [{"text": line} if args.setup else _data(line) for line in lines])


def _data(line: str) -> object:
    try:
        return json.loads(line)
    except ValueError:
        return {"text": line}  # a full disk cut it short, or somebody else wrote it


def _follow(app: App, log: WorkerLog, args: Namespace) -> None:
    """Until the person has seen enough (Ctrl-C)."""
    watch = open_watch()
    log.directory.mkdir(mode=0o700, exist_ok=True)
    watch.add(str(log.directory), "log")

    def wait() -> bool:
        wait_for_change(watch, WAIT_SECS)
        return True

    for line in log.follow(args.worker, wait, lines=args.lines):
        app.console.print(line)
