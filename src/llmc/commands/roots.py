"""`llmc roots`: all roots of this user, a line each."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from llmc.app import App
from llmc.commands.shared.result import Result
from llmc.commands.status import status_document
from llmc.core.board.board import WAITS_FOR_PERSON
from llmc.errors import LlmcError
from llmc.root import Root
from llmc.roots import known_roots, source_of

NOBODY = "no root yet: `llmc init` in a repository makes one"


def run(app: App, args: Namespace) -> Result:
    roots = [_entry(root) for root in known_roots(app.environ)]
    lines = [_line(root) for root in roots]
    return Result("\n".join(lines) or NOBODY, {"roots": roots})


def _entry(root: Root) -> dict[str, Any]:
    """Of a root whose state cannot be read, what is wrong with it."""
    entry: dict[str, Any] = {"root": root.path, "source": source_of(root)}
    try:
        document = status_document(root)
    except (LlmcError, OSError, ValueError) as broken:
        return {**entry, "daemon": None, "branch": None, "workers": None, "waiting": [], "problem": str(broken)}
    workers = document["workers"]
    waiting = [worker["name"] for worker in workers if worker["status"] in WAITS_FOR_PERSON]
    counted = {"workers": len(workers), "waiting": waiting, "problem": None}
    return {**entry, "daemon": document["daemon"], "branch": document["branch"], **counted}


def _line(entry: dict[str, Any]) -> str:
    source = entry["source"] or "?"
    if entry["problem"]:
        return f"{entry['root']}  {source}  cannot be read: {entry['problem']}"
    runs = "" if entry["daemon"]["running"] else "  no daemon"
    waits = f"  waiting for you: {', '.join(entry['waiting'])}" if entry["waiting"] else ""
    number = entry["workers"]
    return f"{entry['root']}  {source}  {number} worker{'' if number == 1 else 's'}{runs}{waits}"
