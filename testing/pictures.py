"""The pictures of the README: what the commands draw for workers and work as a demo had them."""

from __future__ import annotations

import time
from typing import Any

from llmc.commands.shared.review_head import fact_lines
from llmc.commands.shared.status_view import status_text
from llmc.core.diff_paint import painted_diff
from llmc.core.paint import Paint
from testing.terminal_picture import svg_of

COLUMNS = 100
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


DIFF = """\
diff --git a/FEATURES.md b/FEATURES.md
index e193cd3..dd38737 100644
--- a/FEATURES.md
+++ b/FEATURES.md
@@ -1,3 +1,4 @@
 # Features

 - says hello
+- says goodbye
diff --git a/greeter.py b/greeter.py
index 8b6ccc4..885d722 100644
--- a/greeter.py
+++ b/greeter.py
@@ -3,3 +3,7 @@ def greet(name: str) -> str:


 print(greet("world"))
+
+
+def part(name: str) -> str:
+    return f"Goodbye, {name}!\""""
FACTS = {
    "task": ["Let the greeter say goodbye, and list it under the features."],
    "commits": ["ea3320aa Say goodbye"],
    "changes": ["2 files changed, 5 insertions(+)"],
    "checks": ["`make test`: run when you accept"],
}
PAINT = Paint(wanted=True)


def pictures() -> dict[str, str]:
    """By the file's name in docs/pictures."""
    return {
        "status.svg": svg_of(f"$ llmc status\n{_status()}", "llmc status: three workers, two of them wait for you"),
        "review.svg": svg_of(f"$ llmc review adam\n{_review()}", "llmc review: what matters, then the diff"),
    }


def _status() -> str:
    document = {
        "root": "/srv/llmc",
        "branch": "main",
        "daemon": {"running": True, "pid": 4449},
        "patrol": {},
        "landings": [],
        "train": {"paused": False, "entries": []},
        "workers": [_worker(*worker) for worker in WORKERS],
        "tasks": [],
        "task_counts": {},
    }
    return status_text(document, COLUMNS, PAINT)


def _review() -> str:
    title = PAINT("strong", "adam: Let the greeter say goodbye, and list it under the features.")
    warning = PAINT("waits", "! will conflict with baker in FEATURES.md")
    return "\n".join([title, *fact_lines(FACTS, PAINT), warning, painted_diff(DIFF, PAINT)])


def _worker(name: str, work: str, attention: str, task: str, since: float, signal: str, detail: str) -> dict[str, Any]:
    return {
        "name": name,
        "status": work,
        "work": work,
        "session": "up",
        "agent": "claude",
        "attention": {"state": attention},
        "current_prompt": task,
        "last_activity_unix": time.time() - since,
        "evidence": {"signal": signal, "detail": detail},
        "conflicts": None,
        "troubles": [],
    }
