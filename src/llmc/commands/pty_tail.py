"""`llmc pty tail`: how a terminal came to be in its state, from the cache."""

from __future__ import annotations

import json
import time
from argparse import Namespace
from typing import Any

from llmc.app import App
from llmc.commands.pty_status import pty_document
from llmc.commands.shared.pty_place import root_of
from llmc.commands.shared.result import Result
from llmc.core.display import one_line
from llmc.core.names import shown
from llmc.core.screen.assessment import Assessment
from llmc.host.watch import open_watch, wait_for_change
from llmc.root import Root
from llmc.store.status_cache import Silence, StatusCache
from llmc.store.terminals import UnknownTerminalError

LOOK_SECS = 2.0


def run(app: App, args: Namespace) -> Result:
    root = root_of(app)
    now = _now(root, args.id)
    cache = StatusCache(root.terminals, Silence())
    entries = cache.history(args.id, limit=args.lines)
    if args.follow:
        _follow(app, args, cache, entries)
    lines = [_line(entry) for _, entry in entries]
    lines += [f"to do: {one_line(action)}" for action in now["actions_needed"] or ()]
    data = {"id": args.id, "history": [entry for _, entry in entries], "now": now}
    return Result("\n".join(lines) or f"{args.id}: nothing was seen yet", data)


def _now(root: Root, name: str) -> dict[str, Any]:
    terminals = {each["id"]: each for each in pty_document(root)["terminals"]}
    if name not in terminals:
        known = ", ".join(terminals)
        hint = f"there is {known}" if known else "open one with `llmc pty create DIR`"
        raise UnknownTerminalError(f"there is no terminal named {shown(name)}", hint)
    return dict(terminals[name])


def _follow(app: App, args: Namespace, cache: StatusCache, entries: list[tuple[int, Assessment]]) -> None:
    """Until the person has seen enough (Ctrl-C)."""
    watch = open_watch()
    watch.add(str(cache.directory), "cache")
    last = 0
    while True:
        for number, entry in entries:
            app.console.print(json.dumps(entry) if args.json else _line(entry))
            last = number
        wait_for_change(watch, LOOK_SECS)
        entries = cache.history(args.id, limit=args.lines, after=last)


def _line(entry: Assessment) -> str:
    at = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(entry["at_unix"]))
    return f"{at}  {entry['state']:<18}  {one_line(entry['summary'], 100)}".rstrip()
