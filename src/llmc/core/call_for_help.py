"""Everything that is known about a worker in need, for the person who is called."""

from __future__ import annotations

from collections.abc import Sequence

from llmc.core.display import age, one_line, plain
from llmc.core.masking import masked
from llmc.model import Worker
from llmc.values import Value

PROMPT_SHOWN = 400


class Scene(Value):
    """What there is to see, in words; what could not be seen says why."""

    pane: str
    git_status: str
    events: Sequence[str]
    record: str


def bundle_text(worker: Worker, why: str, scene: Scene, now: float) -> str:
    """Without anything that looks like a secret, or that a terminal would act upon."""
    evidence = worker.evidence
    lines = [
        f"Worker '{worker.name}' needs somebody.",
        "",
        f"Why: {why}",
        "",
        "Diagnostics:",
        f"  - Status: {worker.status} (work {worker.work.value}, session {worker.session.value})",
        f"  - Last activity: {age(now - worker.last_activity_unix)} ago",
        f"  - Evidence: {evidence.signal}, {age(now - evidence.at_unix)} ago: {one_line(evidence.detail, 300)}",
        f"  - Crashes: {worker.crash_count}",
        f"  - Task: {one_line(worker.current_prompt, PROMPT_SHOWN) or '(none)'}",
        *_part("What its terminal shows", scene.pane),
        *_part("What git says of its worktree", scene.git_status or "clean"),
        *_part("What happened last", "\n".join(scene.events)),
        "",
        "What you can do:",
        f"  1. llmc attach {worker.name}    look at the terminal itself, and type into it",
        f"  2. llmc message {worker.name} ...    let the agent go on",
        f"  3. llmc restart {worker.name}    start the agent again; its work stays",
        f"  4. llmc reset {worker.name}    end the task; a backup is kept",
        *_part("The record", scene.record),
    ]
    return plain(masked("\n".join(lines))) + "\n"


def _part(title: str, text: str) -> list[str]:
    shown = text.rstrip().splitlines() or ["(nothing)"]
    return ["", f"{title}:", *(f"  {line.rstrip()}" for line in shown)]
