"""`llmc remote-usage`: what was spent on this machine, for its hub, which counts it with the rest."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import asdict

from llmc.app import App
from llmc.commands.shared.result import Result


def run(app: App, args: Namespace) -> Result:
    """Tasks by the hub's names for them; the daemon here has counted."""
    site = app.site()
    rows = site.usage.rows()
    tasks = site.ledger.tasks.named({row.task for row in rows if row.task})
    requests = {name: task.request.partition(".")[0] for name, task in tasks.items()}
    data = [{**asdict(row), **asdict(row.tokens), "task": requests.get(row.task, "")} for row in rows]
    return Result(f"{len(data)} sums", {"rows": data})
