"""The picture of `llmc status` in the README: three workers as a demo had them, put into words by the command."""

from __future__ import annotations

import time
from typing import Any

from llmc.commands.shared.status_view import status_text

COLUMNS = 118
WORKERS = (
    ("adam", "working", "BUSY", "Add a login page", 300, "hook.prompt", ""),
    ("baker", "needs_review", "READY", "List all products on one page", 720, "hook.turn_end", "commit 847ced5ebcec"),
    (
        "charlie",
        "needs_input",
        "NEEDS_CONFIRMATION",
        "Say in the README how to build it",
        60,
        "hook.permission",
        "it asks for permission: rm -r build",
    ),
)


def status() -> str:
    document = {
        "root": "/srv/llmc",
        "branch": "main",
        "daemon": {"running": True, "pid": 4449},
        "patrol": {},
        "landings": [],
        "workers": [_worker(*worker) for worker in WORKERS],
    }
    return f"```\n$ llmc status\n{status_text(document, COLUMNS)}\n```"


def _worker(name: str, work: str, attention: str, task: str, since: float, signal: str, detail: str) -> dict[str, Any]:
    return {
        "name": name,
        "status": work,
        "work": work,
        "session": "up",
        "attention": {"state": attention},
        "current_prompt": task,
        "last_activity_unix": time.time() - since,
        "evidence": {"signal": signal, "detail": detail},
        "conflicts": None,
        "troubles": [],
    }
