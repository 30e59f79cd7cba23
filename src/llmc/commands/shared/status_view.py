"""`llmc status` as lines for a terminal, drawn from its document. Light on imports.

Whatever comes from agents, repositories and users is made harmless here: the lines may have colours.
"""

from __future__ import annotations

import time

from llmc.core.display import age, one_line, plain
from llmc.core.paint import NO_PAINT, Paint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from llmc.core.board.shapes import Card

HEADER = ("worker", "status", "screen", "task", "age", "why")
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
DAY_SECS = 86_400
WHY_WIDTH = 100
FILES_WIDTH = 60


def status_text(document: dict[str, Any], columns: int | None = None, paint: Paint = NO_PAINT) -> str:
    """For a terminal of so many columns, in which every worker has one line, in the order of the board."""
    from llmc.core.board.board import board_of  # the short form does without

    board = board_of(document)
    lines = [_headline(document, board["head"]["waiting"], paint)]
    lines += [paint("broken", plain(f"! {each}")) for each in board["head"]["landings"]]
    lines += _tasks_line(document)
    cards = [card for card in board["cards"].values() if card["kind"] == "worker"]
    lines += [paint("broken", plain(line)) for line in _machine_lines(document.get("machines", ()))]
    if not cards:
        return "\n".join(lines) + "\nno workers yet: `llmc add NAME` makes one"
    active = {worker["name"]: float(worker.get("last_activity_unix") or 0.0) for worker in document["workers"]}
    lines += _table([_cells(card, active[card["worker"] or ""]) for card in cards], columns, paint)
    told = [*_conflict_lines(cards), *(f"! {card['worker']}: {each}" for card in cards for each in card["troubles"])]
    lines += [paint("waits", plain(line)) for line in told]
    lines += [paint("faint", plain(line)) for line in _train_line(document["train"])]
    return "\n".join([*lines, *(paint("faint", line) for line in _patrol_line(document["patrol"]))])


def _headline(document: dict[str, Any], waiting: int, paint: Paint) -> str:
    daemon = document["daemon"]
    running = f"daemon runs (pid {daemon['pid']})" if daemon["running"] else "no daemon: `llmc up` starts it"
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


def _machine_lines(machines: Iterable[dict[str, Any]]) -> list[str]:
    """Those that do not answer, with the age of what is known of them."""
    silent = [each for each in machines if each["state"] != "ok"]
    return [
        f"! {each['name']}: {each['state']}"
        + (f" {age(each['age_secs'])}" if each["age_secs"] is not None else "")
        + (f": {one_line(each['why'], WHY_WIDTH)}" if each["why"] else "")
        for each in silent
    ]


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


def _cells(card: Card, active_unix: float) -> tuple[str, ...]:
    """Name, status, attention, task, age and reason."""
    now, status = time.time(), card["status"]
    if card["until_unix"]:
        day = "%b %d, " if card["until_unix"] - now > DAY_SECS else ""
        status = f"{status[:-1]} until {time.strftime(f'{day}%H:%M', time.localtime(card['until_unix']))})"
    task = one_line(card["title"], PROMPT_WIDTH) or ("ready for a task" if card["status"] == "idle" else "")
    why = one_line(card["does"], WHY_WIDTH)
    name = card["worker"] or ""
    if card["machine"] and "@" not in name:
        name = f"{name}@{card['machine']}"
    return name, status, card["screen"], task, age(now - (active_unix or now)), why


def _conflict_lines(cards: list[Card]) -> list[str]:
    """Each pair of workers is named once."""
    return [
        f"! {card['worker']} will conflict with {each['with']} in {one_line(', '.join(each['files']), FILES_WIDTH)}"
        for card in cards
        for each in card["conflicts"]
        if each["worker"] is None or str(card["worker"]) < each["worker"]
    ]


def status_short(document: dict[str, Any]) -> str:
    return plain(" ".join(f"[{worker['name']}: {worker['status']}]" for worker in document["workers"]))
