"""`llmc events`: the log of what happened."""

from __future__ import annotations

import json
import time
from argparse import Namespace
from collections.abc import Iterator, Mapping

from llmc.app import App
from llmc.commands.shared.result import Result
from llmc.core.display import one_line
from llmc.fleet.known import read_known
from llmc.fleet.registry import has_machines
from llmc.host.watch import open_watch, wait_for_change
from llmc.site import Site
from llmc.store.event_log import LoggedEvent
from llmc.store.json_values import json_object

WAIT_SECS = 2.0
_TEXTS = ("worker", "kind", "signal", "work_before", "work_after", "session_before", "session_after", "detail")
_EVENT = {"at_unix": 0.0, "id": 0, **dict.fromkeys(_TEXTS, "")}


def run(app: App, args: Namespace) -> Result:
    site = app.site()
    if args.worker is not None and args.worker not in site.ledger.load().workers:
        _refuse_never_heard_of(site, args.worker)
    found = site.ledger.events.recent(args.worker, limit=args.lines)
    if args.follow:
        _follow(app, site, args, found)
    told: list[tuple[LoggedEvent, Mapping[str, object]]] = [(event, json_object(event)) for event in found]
    if args.worker is None and has_machines(site.root):
        told = sorted([*told, *_elsewhere(site, args.lines)], key=lambda each: each[0].at_unix)[-args.lines :]
    text = "\n".join(_line(event) for event, _ in told) or "nothing has happened yet"
    return Result(text, [data for _, data in told])


def _elsewhere(site: Site, lines: int) -> Iterator[tuple[LoggedEvent, Mapping[str, object]]]:
    """Of machines that answer, moved to the clock here."""
    from llmc.fleet.looking import ask_all

    ahead = {each["name"]: float(each.get("ahead_secs") or 0.0) for each in read_known(site.root)}
    for name, answer in ask_all(site, "events", "-n", str(lines), "--json").items():
        for said in answer.shaped([_EVENT]):
            at = said.pop("at_unix") - ahead.get(name, 0.0)
            event = LoggedEvent(at, **said)
            yield event, {**json_object(event), "machine": name}


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
