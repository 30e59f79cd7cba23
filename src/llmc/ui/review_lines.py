"""A review as lines: files, hunks and comments, inline or side by side. Of what `llmc review --json` says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from rich.style import Style
from rich.text import Text

from llmc.core.display import age, counted, one_line, plain, some
from llmc.ui.card_texts import cut, joined, safe
from llmc.ui.line_list import ListLine
from llmc.ui.palette import STYLES
from llmc.values import Value

NUMBER = 5
SIGNS = {"added": "+", "removed": "-", "context": " "}
FILE_MARKS = {"added": ("+", "added"), "deleted": ("−", "removed"), "renamed": ("→", "busy"), "copied": ("→", "busy")}
Doc = Mapping[str, Any]


class DiffLine(Value):
    """A line of the diff, of a comment, or a heading."""

    key: str
    draw: Callable[[int, int], Text]
    """Of the width, and of how many columns long lines are shifted to the left."""
    path: str = ""
    new_no: int | None = None
    quote: str = ""
    comment: int | None = None
    """The number of the open comment that it is part of."""
    can_select: bool = True


def diff_lines(document: Doc, *, side_by_side: bool) -> list[DiffLine]:
    comments = _placed(document["comments"])
    found: list[DiffLine] = []
    for n, file in enumerate(document["files"]):
        path = str(file["path"])
        found += [_blank(n), _file_heading(file, n)] if n else [_file_heading(file, n)]
        found += [line for each in comments.pop((path, None), ()) for line in _comment_lines(each)]
        for m, hunk in enumerate(each for each in document["hunks"] if each["path"] == path):
            found += [_gap(f"{n}.{m}", hunk)] if m or hunk["new_start"] > 1 else []
            pairs = _beside(hunk["lines"]) if side_by_side else ((each, each) for each in hunk["lines"])
            for i, (old, new) in enumerate(pairs):
                found.append(_diff_line(f"{n}.{m}.{i}", path, old, new, side_by_side=side_by_side))
                number = new["new_no"] if new is not None else None
                said = comments.pop((path, number), []) if number is not None else []
                found += [line for each in said for line in _comment_lines(each)]
    if comments:
        found.append(_note("Comments on lines that are not shown here"))
        found += [
            line for some_comments in comments.values() for each in some_comments for line in _comment_lines(each)
        ]
    return found


def lines_for(rows: Sequence[DiffLine], shift: int) -> list[ListLine]:
    return [ListLine(row.key, lambda width, row=row: row.draw(width, shift), row.can_select) for row in rows]  # type: ignore[misc]


# --- a line of a file -------------------------------------------------------------------------------


def _diff_line(key: str, path: str, old: Doc | None, new: Doc | None, *, side_by_side: bool) -> DiffLine:
    number = new["new_no"] if new is not None else None

    def draw(width: int, shift: int) -> Text:
        if not side_by_side:
            assert new is not None
            return _inline(new, width, shift)
        half = (width - 1) // 2
        left = _half(old, "old_no", half, shift)
        return joined(left, Text("│", STYLES["quiet"]), _half(new, "new_no", width - half - 1, shift))

    quote = f"{number:>4} {new['text']}" if new is not None and number is not None else ""
    return DiffLine(key, draw, path, number, quote)


def _inline(line: Doc, width: int, shift: int) -> Text:
    kind = str(line["kind"])
    numbers = f"{line['old_no'] or '':>{NUMBER - 1}} {line['new_no'] or '':>{NUMBER - 1}} "
    room = max(1, width - len(numbers) - 2)
    return joined(Text(numbers, STYLES["quiet"]), Text(f"{SIGNS[kind]} ", _ground(kind)), _code(line, room, shift))


def _half(line: Doc | None, number: str, width: int, shift: int) -> Text:
    if line is None:
        return Text(" " * width)
    head = f"{line[number] or '':>{NUMBER - 1}} "
    return joined(Text(head, STYLES["quiet"]), _code(line, max(1, width - len(head)), shift))


def _code(line: Doc, room: int, shift: int) -> Text:
    words = plain(str(line["text"])).replace("\n", "\ufffd").expandtabs(4)
    words += "  (no line end)" if line.get("no_newline") else ""
    return Text(cut(words[shift:], room), _ground(str(line["kind"])))


def _ground(kind: str) -> Style:
    return STYLES["text"] if kind == "context" else STYLES[f"{kind}_ground"]


def _beside(lines: Iterable[Doc]) -> Iterator[tuple[Doc | None, Doc | None]]:
    """What was removed beside what was added in its place."""
    removed: list[Doc] = []
    added: list[Doc] = []
    for line in (*lines, None):
        if line is not None and line["kind"] == "removed" and not added:
            removed.append(line)
        elif line is not None and line["kind"] == "added":
            added.append(line)
        else:
            for n in range(max(len(removed), len(added))):
                yield removed[n] if n < len(removed) else None, added[n] if n < len(added) else None
            removed, added = ([line] if line is not None and line["kind"] == "removed" else []), []
            if line is not None and line["kind"] == "context":
                yield line, line


# --- what is between them ---------------------------------------------------------------------------


def _blank(n: int) -> DiffLine:
    return DiffLine(f"blank/{n}", lambda width, shift: Text(""), can_select=False)


def _file_heading(file: Doc, n: int) -> DiffLine:
    mark, style = FILE_MARKS.get(str(file["status"]), ("~", "waits"))
    renamed = f"  was {file['old_path']}" if file["old_path"] not in (None, file["path"]) else ""
    binary = "  binary" if file["binary"] else ""
    text = joined(
        Text(f" {mark} ", STYLES[style]), safe(str(file["path"]), "strong"), safe(f"{renamed}{binary}", "faint")
    )
    return DiffLine(f"file/{n}", lambda width, shift: text, str(file["path"]))


def _gap(key: str, hunk: Doc) -> DiffLine:
    text = Text(
        f"{'⋯':>{NUMBER - 1}}   lines {hunk['new_start']}-{hunk['new_start'] + max(hunk['new_count'], 1) - 1}",
        STYLES["quiet"],
    )
    return DiffLine(f"gap/{key}", lambda width, shift: text, can_select=False)


def _note(words: str) -> DiffLine:
    return DiffLine(f"note/{words}", lambda width, shift: safe(f" {words}", "faint"), can_select=False)


def _placed(comments: Iterable[Doc]) -> dict[tuple[str, int | None], list[Doc]]:
    """Each comment where its lines are now; at the head of its file where they are gone."""
    found: dict[tuple[str, int | None], list[Doc]] = {}
    for comment in comments:
        now = comment.get("now") or {}
        path = str(now.get("path") or comment["path"])
        line = now.get("end_line") if now else comment["end_line"]
        found.setdefault((path, line), []).append(comment)
    return found


def _comment_lines(comment: Doc) -> list[DiffLine]:
    is_open = comment["round"] is None
    now = comment.get("now") or {}
    lines = f"{comment['line']}-{comment['end_line']}" if comment["line"] != comment["end_line"] else comment["line"]
    became = f", {now['became']}" if now and not is_open else ""
    head = f"line {lines}, open" if is_open else f"line {lines}, round {comment['round']}{became}"
    style = "waits" if is_open else "faint"
    said = [line for line in plain(str(comment["text"])).strip().split("\n") if line.strip()] or [""]
    number = int(comment["number"])
    return [
        DiffLine(
            f"comment/{number}/{n}",
            lambda width, shift, n=n, line=line: joined(  # type: ignore[misc]
                Text("          ┃ ", STYLES[style]),
                safe(line, "text" if is_open else "faint"),
                safe(f"   {head}" if not n else "", "quiet"),
            ),
            comment=number if is_open else None,
            can_select=is_open,
        )
        for n, line in enumerate(said)
    ]


# --- beside and above -------------------------------------------------------------------------------


def file_lines(document: Doc) -> list[ListLine]:
    """The tree of files: each directory once, with what was added and removed in each file."""
    lines: list[ListLine] = []
    before = ""
    for n, file in enumerate(document["files"]):
        directory, _, name = str(file["path"]).rpartition("/")
        if directory and directory != before:
            lines.append(ListLine(f"dir/{n}", lambda width, d=directory: safe(f" {d}/", "faint", width), False))  # type: ignore[misc]
        before = directory
        lines.append(ListLine(f"file/{n}", _file_entry(document, file, name, bool(directory))))
    return lines


def _file_entry(document: Doc, file: Doc, name: str, is_inside: bool) -> Callable[[int], Text]:
    shown = [line["kind"] for hunk in document["hunks"] if hunk["path"] == file["path"] for line in hunk["lines"]]
    added, removed = shown.count("added"), shown.count("removed")
    comments = sum(each["path"] == file["path"] and each["round"] is None for each in document["comments"])
    mark, style = FILE_MARKS.get(str(file["status"]), ("~", "waits"))
    counts = joined(
        Text(f" +{added}" if added else "", STYLES["added"]),
        Text(f" −{removed}" if removed else "", STYLES["removed"]),
        Text(f" ┃{comments}" if comments else "", STYLES["waits"]),
        Text(" "),
    )

    def draw(width: int) -> Text:
        head = Text(f"{'  ' if is_inside else ''} {mark} ", STYLES[style])
        return joined(head, safe(name, "text", max(4, width - len(head.plain) - len(counts.plain))), counts)

    return draw


def fact_texts(document: Doc, width: int, now: float) -> list[Text]:
    """What matters before the diff."""
    checks, conflicts = document["checks"], document["conflicts"] or ()
    still_open = sum(each["round"] is None for each in document["comments"])
    counts = [counted(len(document["files"]), "file")]
    counts += [counted(still_open, "open comment")] if still_open else []
    counts += [counted(len(document["rounds"]), "round") + " before"] if document["rounds"] else []
    lines = [_fact("task", one_line(str(document["prompt"] or "work without a task"), 400), "text")]
    shown = f"only what changed since {document['since']}" if document["since"] else "all of the work"
    lines.append(_fact("shown", f"{shown}: {', '.join(counts)}", "busy" if document["since"] else "faint"))
    if checks["state"] == "passed":
        lines.append(_fact("checks", f"✓ passed {age(now - checks['at_unix'])} ago", "review"))
    elif checks["state"] == "failed":
        lines.append(_fact("checks", f"✗ {checks['failed']} failed: o shows its output", "broken"))
    if document["uncommitted"]:
        lines.append(_fact("left", f"uncommitted: {some(document['uncommitted'], 4)}", "waits"))
    lines += [_fact("conflict", f"with {each['worker']} in {some(each['files'], 4)}", "waits") for each in conflicts]
    said = [each for each in document["rounds"] if each["message"]] if document["since"] else []
    lines += [_fact(f"round {each['number']}", one_line(each["message"], 300), "faint") for each in said]
    return lines


def _fact(name: str, words: str, meaning: str) -> Text:
    return joined(safe(name.ljust(9), "quiet"), safe(words, meaning))


def place_in(rows: Sequence[DiffLine], first: int, last: int) -> tuple[str, str] | str:
    """The lines of the new side for `llmc comment`, and their words; or why there are none."""
    chosen = [row for row in rows[first : last + 1] if row.new_no is not None]
    if not chosen:
        return "a comment needs a line of the new side: choose a line that is still there"
    if len({row.path for row in chosen}) > 1:
        return "these lines are of two files: comment on one at a time"
    numbers = [row.new_no for row in chosen if row.new_no is not None]
    place = f"{min(numbers)}-{max(numbers)}" if len(numbers) > 1 else f"{numbers[0]}"
    return chosen[0].path, place
