"""The diff of a review as rows to draw, with every comment below the line that it is about."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from llmc.values import Value

Line = dict[str, Any]
MOST_ROWS = 4000
"""Of one file: a browser can draw more, nobody reads more."""


class DiffRow(Value):
    """One line, or two beside each other. `old` and `new` are lines of the review's document, or None."""

    old: Line | None
    new: Line | None
    kind: str
    """`context`, `removed`, `added`, `changed` or `gap`."""
    comments: tuple[dict[str, Any], ...] = ()
    words: str = ""


class FileView(Value):
    path: str
    old_path: str | None
    status: str
    binary: bool
    added: int
    removed: int
    rows: tuple[DiffRow, ...]
    left_out: int


def file_views(work: dict[str, Any], *, split: bool) -> list[FileView]:
    return [_file_view(file, work, split=split) for file in work["files"]]


def _file_view(file: dict[str, Any], work: dict[str, Any], *, split: bool) -> FileView:
    hunks = [each for each in work["hunks"] if each["path"] == file["path"] and each["old_path"] == file["old_path"]]
    lines = [line for hunk in hunks for line in hunk["lines"]]
    comments = _by_line(work["comments"], file["path"])
    rows: list[DiffRow] = []
    for hunk in hunks:
        rows.append(DiffRow(None, None, "gap", words=_place(hunk)))
        rows += [_with_comments(row, comments) for row in (_beside if split else _below)(hunk["lines"])]
    return FileView(
        file["path"],
        file["old_path"],
        file["status"],
        file["binary"],
        sum(line["kind"] == "added" for line in lines),
        sum(line["kind"] == "removed" for line in lines),
        tuple(rows[:MOST_ROWS]),
        max(0, len(rows) - MOST_ROWS),
    )


def _place(hunk: dict[str, Any]) -> str:
    first, many = hunk["new_start"], hunk["new_count"]
    return f"lines {first}–{first + many - 1}" if many > 1 else f"line {first}"


def _below(lines: list[Line]) -> Iterator[DiffRow]:
    for line in lines:
        kind = line["kind"]
        yield DiffRow(line if kind != "added" else None, line if kind != "removed" else None, kind)


def _beside(lines: list[Line]) -> Iterator[DiffRow]:
    """What was removed stands beside what came in its place."""
    removed: list[Line] = []
    added: list[Line] = []
    for line in [*lines, None]:
        if line is not None and line["kind"] == "removed" and not added:
            removed.append(line)
        elif line is not None and line["kind"] == "added":
            added.append(line)
        else:
            yield from _pairs(removed, added)
            removed, added = [], []
            if line is not None and line["kind"] == "removed":
                removed.append(line)
            elif line is not None:
                yield DiffRow(line, line, "context")


def _pairs(removed: list[Line], added: list[Line]) -> Iterator[DiffRow]:
    for at in range(max(len(removed), len(added))):
        old = removed[at] if at < len(removed) else None
        new = added[at] if at < len(added) else None
        yield DiffRow(old, new, "changed" if old and new else "removed" if old else "added")


# --- comments ---------------------------------------------------------------------------------------


def _by_line(comments: list[dict[str, Any]], path: str) -> dict[int, list[dict[str, Any]]]:
    """Under the last line that each is about, where that is now."""
    found: dict[int, list[dict[str, Any]]] = {}
    for comment in comments:
        now = comment.get("now") or {}
        if now.get("path") == path and now.get("end_line"):
            found.setdefault(now["end_line"], []).append(comment)
    return found


def _with_comments(row: DiffRow, comments: dict[int, list[dict[str, Any]]]) -> DiffRow:
    number = row.new["new_no"] if row.new else None
    here = comments.get(number, []) if number is not None else []
    return DiffRow(row.old, row.new, row.kind, tuple(here)) if here else row


def talk_of(work: dict[str, Any]) -> dict[str, Any]:
    """What was said so far: each round with its comments, and what waits to be sent."""
    said = work["comments"]
    rounds = [
        {**sent, "comments": [each for each in said if each["round"] == sent["number"]]} for sent in work["rounds"]
    ]
    return {"rounds": list(reversed(rounds)), "open": [each for each in said if each["round"] is None]}
