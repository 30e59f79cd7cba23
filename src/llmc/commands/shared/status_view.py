"""`llmc status` as lines for a terminal, drawn from its document. Light on imports.

Whatever comes from agents, repositories and users is made harmless here: the lines may have colours.
"""

from __future__ import annotations

import time

from llmc.core.display import age, one_line, plain
from llmc.core.lifecycle.signal_words import reason
from llmc.core.paint import NO_PAINT, Paint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

HEADER = ("worker", "status", "screen", "task", "age", "why")
ATTENTION_SHOWN = {"NEEDS_CONFIRMATION": "asks", "READY": "ready", "BUSY": "busy", "ERROR": "failed"}
WAITS_FOR_PERSON = ("needs_input", "needs_review", "error")
MEANING = {
    "needs_input": "waits",
    "needs_review": "review",
    "error": "broken",
    "working": "busy",
    "rejected": "busy",
    "rebasing": "busy",
    "starting": "busy",
    "offline": "faint",
    "asks": "waits",
    "failed": "broken",
}
STATUS_WIDTH = 12
"""Of `needs_review`: the columns stay where they are when a status changes."""
MOST_OF_NAME = 12
"""Where the terminal is narrow: who has a long name has a task and a reason, too."""
PROMPT_WIDTH = 44
LEAST_PROMPT_WIDTH = 20
WHY_WIDTH = 100
FILES_WIDTH = 60


def status_text(document: dict[str, Any], columns: int | None = None, paint: Paint = NO_PAINT) -> str:
    """For a terminal of so many columns, in which every worker has one line."""
    lines = [_headline(document, paint)]
    lines += [paint("broken", plain(_landing_line(each))) for each in document["landings"]]
    lines += _tasks_line(document)
    workers = document["workers"]
    if not workers:
        return "\n".join(lines) + "\nno workers yet: `llmc add NAME` makes one"
    lines += _table([_cells(worker) for worker in workers], columns, paint)
    if document["daemon"]["running"]:
        lines += [paint("waits", line) for worker in workers for line in _to_come(worker, document["branch"])]
    lines += [
        paint("waits", plain(f"! {worker['name']}: {each['what']}; {each['do']}"))
        for worker in workers
        for each in worker["troubles"]
    ]
    lines += [paint("faint", plain(line)) for line in _train_line(document["train"])]
    return "\n".join([*lines, *(paint("faint", line) for line in _patrol_line(document["patrol"]))])


def _headline(document: dict[str, Any], paint: Paint) -> str:
    daemon = document["daemon"]
    running = f"daemon runs (pid {daemon['pid']})" if daemon["running"] else "no daemon: `llmc up` starts it"
    waiting = sum(worker["status"] in WAITS_FOR_PERSON for worker in document["workers"])
    waits = paint("waits", f"  {waiting} wait{'s' if waiting == 1 else ''} for you") if waiting else ""
    where = f"{plain(document['root'])}  branch {plain(document['branch'] or '?')}"
    return f"{paint('strong', 'LLMC')}  {where}  {running}{waits}"


def _tasks_line(document: dict[str, Any]) -> list[str]:
    """What waits, and the first that will not go on by itself."""
    counts = document.get("task_counts", {})
    told = [f"{counts[kind]} {kind}" for kind in ("queued", "held", "failed") if counts.get(kind)]
    if not told:
        return []
    failed = next((each for each in document["tasks"] if each["state"] == "failed"), None)
    why = f"; {failed['id']} failed: {one_line(failed['reason'] or '', FILES_WIDTH)}" if failed else ""
    return [plain(f"tasks: {', '.join(told)}{why}; `llmc task` lists them")]


def _landing_line(landing: dict[str, Any]) -> str:
    where = landing["checkout"] or landing["source"]
    return (
        f"! landing the work of {', '.join(landing['workers'] or ['?'])} onto {landing['branch']} was cut short:"
        f" {where} may show changes that you did not make; `llmc doctor --repair` takes them back"
    )


def _train_line(train: dict[str, Any]) -> list[str]:
    if not train["entries"]:
        return []
    paused = " (paused: `llmc train resume` lets it go on)" if train["paused"] else ""
    return [f"train{paused}: " + ", ".join(f"{each['worker']} {each['state']}" for each in train["entries"])]


def _patrol_line(patrol: dict[str, Any]) -> list[str]:
    """Only when there is something to tell: what signals missed, and how often by now."""
    counts = patrol.get("counts") or {}
    told = ", ".join(f"{kind} {count}" for kind, count in counts.items() if count)
    if not told:
        return []
    return [f"patrol {age(time.time() - float(patrol.get('last_run_unix') or 0.0))} ago; missed so far: {told}"]


def _table(rows: list[tuple[str, ...]], columns: int | None, paint: Paint) -> list[str]:
    name, status, task, why = (max(len(row[cell]) for row in [HEADER, *rows]) for cell in (0, 1, 3, 5))
    status = max(status, STATUS_WIDTH)
    if columns is not None:
        name = min(name, max(MOST_OF_NAME, columns // 4))
        room = columns - (name + 2 + status + 1 + 6 + 1 + 1 + 4 + 2)
        task = max(min(task, room - why), min(task, LEAST_PROMPT_WIDTH))
        why = max(room - task, 1)
    widths = (name + 1, status, 6, task, 4, why)
    header = paint("faint", _row(HEADER, widths, columns, NO_PAINT))
    return [header, *(_row(row, widths, columns, paint) for row in rows)]


def _row(row: tuple[str, ...], widths: tuple[int, ...], columns: int | None, paint: Paint) -> str:
    name, status, screen, task, since, why = (one_line(cell, width) for cell, width in zip(row, widths, strict=True))
    cells = (
        ("strong", f"{name:<{widths[0]}} "),
        (_meaning(status), f"{status:<{widths[1]}} "),
        (_meaning(screen), f"{screen:<{widths[2]}} "),
        ("", f"{task:<{widths[3]}} "),
        ("faint", f"{since:>{widths[4]}}  "),
        ("", why),
    )
    line, room = "", columns or sum(widths) + len(cells) + 1
    for meaning, cell in cells:  # cut first, and coloured then: colours have no width
        line += paint(meaning, cell[:room])
        room = max(0, room - len(cell))
    return line.rstrip()


def _meaning(word: str) -> str:
    return MEANING.get(word.partition(" ")[0], "")


def _cells(worker: dict[str, Any]) -> tuple[str, ...]:
    """Name, status, attention, task, age and reason."""
    now = time.time()
    status = worker["status"]
    hidden = f" ({worker['work']})" if status == "offline" and worker["work"] != "idle" else ""
    if worker["session"] == "starting" and status != "needs_input":
        status = "starting"
    blocked = worker.get("blocked")
    if blocked:
        hidden = f" ({_blocked_words(blocked)})"
    if worker["session"] == "up" and worker.get("turn") == "unknown" and not worker.get("reports_events"):
        hidden += " (no reports)"  # it was given a text and reported nothing
    attention = ATTENTION_SHOWN.get(worker["attention"]["state"], "")
    task = one_line(worker["current_prompt"] or "", PROMPT_WIDTH) or ("ready for a task" if status == "idle" else "")
    why = one_line(_why(worker), WHY_WIDTH)
    since = age(now - float(worker.get("last_activity_unix") or now))
    return worker["name"], status + hidden, attention, task, since, why


def _why(worker: dict[str, Any]) -> str:
    """What is asked says more than any signal."""
    asked = worker.get("asked")
    if asked and worker["attention"]["state"] in ("NEEDS_CONFIRMATION", "UNKNOWN"):
        options = "; ".join(f"{n} {words}" for n, words in enumerate(asked["options"], 1))
        question = " ".join(str(asked["text"]).split("\n")[-1:])
        return f"asks: {question}" + (f" ({options})" if options else "")
    evidence = worker.get("evidence") or {}
    return reason(str(evidence.get("signal") or ""), str(evidence.get("detail") or ""))


def _to_come(worker: dict[str, Any], branch: str | None) -> list[str]:
    """Conflicts that nobody has met yet; each pair of workers is named once."""
    conflicts = worker["conflicts"]
    if not conflicts or worker["work"] == "rebasing":
        return []
    others = {other: files for other, files in conflicts["with_workers"].items() if worker["name"] < other}
    against = {branch or "the branch": conflicts["with_branch"], **others}
    return [
        f"! {worker['name']} will conflict with {name} in {one_line(', '.join(files), FILES_WIDTH)}"
        for name, files in against.items()
        if files
    ]


def _blocked_words(blocked: dict[str, Any]) -> str:
    until = blocked.get("until_unix")
    words = str(blocked.get("kind")).replace("_", " ")
    return f"{words} until {time.strftime('%H:%M', time.localtime(until))}" if until else words


def status_short(document: dict[str, Any]) -> str:
    return plain(" ".join(f"[{worker['name']}: {worker['status']}]" for worker in document["workers"]))
