"""Which task comes after which, as boxes and lines to draw."""

from __future__ import annotations

from typing import Any

from llmc.core.display import one_line
from llmc.values import Value

WIDTH, HEIGHT, ACROSS, DOWN = 190, 44, 56, 16
"""Of a box, and between boxes."""
TITLE_WIDTH = 24


class TaskPlace(Value):
    id: str
    title: str
    state: str
    x: int
    y: int


class TaskGraph(Value):
    width: int
    height: int
    boxes: tuple[TaskPlace, ...]
    lines: tuple[str, ...]
    """Each as the path of an SVG."""


def graph_of(tasks: list[dict[str, Any]]) -> TaskGraph | None:
    """Only those that come after another, or before one; None where there are none."""
    known = {each["id"]: each for each in tasks}
    after = {id_: [each for each in task["after"] if each in known] for id_, task in known.items()}
    joined = {id_ for id_, earlier in after.items() if earlier} | {
        each for earlier in after.values() for each in earlier
    }
    if not joined:
        return None
    depth: dict[str, int] = {}
    for id_ in joined:
        _deepen(id_, after, depth)
    rows: dict[int, int] = {}
    boxes: dict[str, TaskPlace] = {}
    for id_ in (each for each in known if each in joined):
        column, row = depth[id_], rows.get(depth[id_], 0)
        rows[column] = row + 1
        x, y = column * (WIDTH + ACROSS), row * (HEIGHT + DOWN)
        boxes[id_] = TaskPlace(id_, one_line(known[id_]["title"], TITLE_WIDTH), known[id_]["state"], x, y)
    lines = [_line(boxes[earlier], boxes[id_]) for id_ in boxes for earlier in after[id_]]
    width = (max(rows) + 1) * (WIDTH + ACROSS) - ACROSS
    return TaskGraph(width, max(rows.values()) * (HEIGHT + DOWN) - DOWN, tuple(boxes.values()), tuple(lines))


def _deepen(id_: str, after: dict[str, list[str]], depth: dict[str, int]) -> None:
    """A chain may be longer than Python likes to recurse."""
    todo = [id_]
    while todo:
        at = todo[-1]
        missing = [each for each in after[at] if each not in depth]
        if missing:
            todo += missing
        else:
            depth[at] = 1 + max((depth[each] for each in after[at]), default=-1)
            todo.pop()


def _line(earlier: TaskPlace, later: TaskPlace) -> str:
    x1, y1, x2, y2 = earlier.x + WIDTH, earlier.y + HEIGHT // 2, later.x, later.y + HEIGHT // 2
    middle = (x1 + x2) // 2
    return f"M{x1} {y1} C{middle} {y1} {middle} {y2} {x2} {y2}"
