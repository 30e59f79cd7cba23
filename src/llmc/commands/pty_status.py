"""`llmc pty status`: what the cache says. Runs every few seconds in status lines: imports next to nothing."""

from __future__ import annotations

import os
import time

from llmc.commands.shared.live_sessions import live_sessions
from llmc.core.display import age, one_line
from llmc.store.snapshot import read_daemon_pid, read_statuses

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from typing import Any

    from llmc.app import App
    from llmc.commands.shared.result import Result
    from llmc.root import Root

SHOWN = (
    *("state", "detail", "confidence", "source", "summary", "actions_needed", "since_unix", "last_change_unix"),
    *("last_polled_unix", "stable_count", "cue", "pack", "cwd", "cli_type", "tmux_session", "tmux_window"),
    *("tmux_pane", "tmux_server", "disagreement"),
)
NOTHING_KNOWN = {"state": "UNKNOWN", "summary": "nobody has looked at it yet", "actions_needed": []}


def pty_document(root: Root) -> dict[str, Any]:
    """What `llmc pty status --json` says."""
    watcher, daemon = read_daemon_pid(root.watch_lock), read_daemon_pid(root.daemon_lock)
    statuses = _without_ended(root, read_statuses(root.terminals), daemon)
    now = time.time()
    terminals = [_terminal(root, name, status, watcher, daemon, now) for name, status in statuses.items()]
    return {
        "schema": 1,
        "root": root.path,
        "watcher": {"running": watcher is not None, "pid": watcher},
        "terminals": terminals,
    }


def _without_ended(root: Root, statuses: dict[str, dict[str, Any]], daemon: int | None) -> dict[str, dict[str, Any]]:
    """A daemon forgets workers whose session has ended. Without one, what it last saw of them says nothing."""
    if daemon is not None or not any(_is_worker(root, name) for name in statuses):
        return statuses
    live = live_sessions(root)
    if live is None:
        return statuses
    return {
        name: status
        for name, status in statuses.items()
        if not _is_worker(root, name) or status.get("tmux_session") in live
    }


def _is_worker(root: Root, name: str) -> bool:
    return not os.path.exists(os.path.join(root.terminals, name, "terminal.json"))


def _terminal(
    root: Root, name: str, status: dict[str, Any], watcher: int | None, daemon: int | None, now: float
) -> dict[str, Any]:
    is_worker = _is_worker(root, name)
    shown: dict[str, Any] = {"id": name, "worker": is_worker}
    shown["watched"] = (daemon if is_worker else watcher) is not None
    known = status if isinstance(status.get("state"), str) else {**status, **NOTHING_KNOWN}
    shown.update({key: known.get(key) for key in SHOWN})
    since = known.get("since_unix")
    shown["age_secs"] = round(max(0.0, now - since), 1) if isinstance(since, int | float) else None
    return shown


def pty_short(document: dict[str, Any]) -> str:
    """`[name: STATE]` for each; with a question mark where nobody looks any more."""
    shown = ((each["id"], each["state"], "" if each["watched"] else "?") for each in document["terminals"])
    return " ".join(f"[{name}: {state}{doubt}]" for name, state, doubt in shown)


def pty_text(document: dict[str, Any]) -> str:
    terminals = document["terminals"]
    lines = [] if document["watcher"]["running"] else ["no watcher runs: `llmc pty watch --detach` starts it"]
    if not terminals:
        return "\n".join([*lines, "no terminals: `llmc pty create DIR` opens one"])
    width = max(len(each["id"]) for each in terminals)
    for each in terminals:
        lines.append(_line(each, width))
        lines += [f"{'':<{width}}  {'':<20} {action}" for action in map(one_line, each["actions_needed"] or ())]
    return "\n".join(lines)


def _line(each: dict[str, Any], width: int) -> str:
    state = each["state"] + ("" if each["watched"] else "?")
    detail = f" ({each['detail']})" if each["detail"] else ""
    other = each.get("disagreement")
    against = f"; its {other['source']} says {other['state']}" if other else ""
    since = age(each["age_secs"]) if each["age_secs"] is not None else ""
    return f"{each['id']:<{width}}  {state:<20} {since:>4}  {one_line(str(each['summary'] or ''), 70)}{detail}{against}"


def run(app: App, args: Namespace) -> Result:
    from llmc.commands.shared.pty_place import root_of
    from llmc.commands.shared.result import Result

    document = pty_document(root_of(app))
    return Result(pty_short(document) if args.short else pty_text(document), document)
