"""`llmc events`: the log of what happened."""

from __future__ import annotations

import json
import time
from argparse import Namespace

from llmc.app import App
from llmc.commands.shared.result import Result
from llmc.core.display import one_line
from llmc.host.watch import open_watch, wait_for_change
from llmc.site import Site
from llmc.store.event_log import LoggedEvent
from llmc.store.json_values import json_object

WAIT_SECS = 2.0


def run(app: App, args: Namespace) -> Result:
    site = app.site()
    if args.worker is not None and args.worker not in site.ledger.load().workers:
        _refuse_never_heard_of(site, args.worker)
    found = site.ledger.events.recent(args.worker, limit=args.lines)
    if args.follow:
        _follow(app, site, args, found)
    text = "\n".join(_line(event) for event in found) or "nothing has happened yet"
    return Result(text, [json_object(event) for event in found])


def _refuse_never_heard_of(site: Site, name: str) -> None:
    """The log also tells of workers that were removed; only a name that it does not know is a mistake."""
    if not site.ledger.events.recent(name, limit=1):
        site.worker(name)


def _follow(app: App, site: Site, args: Namespace, found: list[LoggedEvent]) -> None:
    """Until the person has seen enough (Ctrl-C)."""
    watch = open_watch()
    watch.add(site.root.path, "log", frozenset(("status.db", "status.db-wal")))
    last = 0
    while True:
        for event in found:
            app.console.print(json.dumps(json_object(event)) if args.json else _line(event))
            last = event.id
        wait_for_change(watch, WAIT_SECS)
        found = site.ledger.events.recent(args.worker, after_id=last, limit=1000)


def _line(event: LoggedEvent) -> str:
    at = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(event.at_unix))
    moves = []
    if event.work_before != event.work_after:
        moves.append(f"{event.work_before} → {event.work_after}")
    if event.session_before != event.session_after:
        moves.append(f"session {event.session_before} → {event.session_after}")
    said = " ".join(part for part in (", ".join(moves), one_line(event.detail, 100)) if part)
    return f"{at}  {event.worker:<10} {event.signal or event.kind:<18} {said}".rstrip()
