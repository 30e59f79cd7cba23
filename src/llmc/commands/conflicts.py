"""`llmc conflicts`: who will conflict with the branch or with each other, before anybody rebases."""

from __future__ import annotations

import time
from argparse import Namespace
from typing import Any

from llmc.app import App
from llmc.commands.shared.known_conflicts import look_now, seen_by_daemon
from llmc.commands.shared.result import Result
from llmc.core.display import age


def run(app: App, args: Namespace) -> Result:
    site = app.site()
    seen = None if args.fresh else seen_by_daemon(site)
    document = seen or look_now(site)
    now = time.time()
    data = {**document, "age_secs": _age(document, now), "source": "daemon" if seen else "now"}
    return Result(_text(document, now), data)


def _age(document: dict[str, Any], now: float) -> float:
    """That of the oldest look that is part of the answer."""
    looks = [worker["at_unix"] for worker in document["workers"].values()]
    return round(max(0.0, now - min(looks, default=now)), 1)


def _text(document: dict[str, Any], now: float) -> str:
    lines = [
        f"{name} conflicts with {document['branch']}{_uncommitted(document, name)} in {_files(worker['with_branch'])}"
        for name, worker in document["workers"].items()
        if worker["with_branch"]
    ]
    for pair in document["with_each_other"]:
        one, other = pair["workers"]
        lines.append(
            f"{one} and {other} conflict with each other{_uncommitted(document, one, other)} in {_files(pair['files'])}"
        )
    lines += [
        f"{name}: not known: {worker['unknown']}" for name, worker in document["workers"].items() if worker["unknown"]
    ]
    in_flight = sum(1 for worker in document["workers"].values() if worker["files_touched"])
    count = f"{in_flight} worker{'s' if in_flight != 1 else ''} with work in flight"
    found = "" if lines else "no conflicts ahead: "
    return "\n".join([*lines, f"{found}{count}, looked at {age(_age(document, now))} ago"])


def _uncommitted(document: dict[str, Any], *names: str) -> str:
    return " (with uncommitted files)" if any(document["workers"][name]["uncommitted"] for name in names) else ""


def _files(files: list[dict[str, str]]) -> str:
    return ", ".join(f"{file['path']} ({file['kind']})" for file in files)
