"""Comments on lines of a worker's work, and the numbered rounds in which they are sent to its agent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from enum import StrEnum
from typing import Any

from llmc.core.display import counted, one_line, plain
from llmc.core.lifecycle.effects import Deliver, from_step
from llmc.model import Worker
from llmc.values import Value

MOST_QUOTED = 40
LONGEST_QUOTED = 400
"""Lines, and characters of one: the file itself has the rest."""


class Comment(Value):
    number: int
    """Counted through all rounds of the work, so that it means one comment for as long as the work is there."""
    path: str
    line: int
    end_line: int
    quoted: tuple[str, ...]
    commit_sha: str
    """Whose lines these are."""
    base_sha: str
    """Where the work of that commit began."""
    text: str
    at_unix: float
    round: int = 0
    """In which it was sent; 0 for one that is open."""

    @property
    def place(self) -> str:
        return place_of(self.path, self.line, self.end_line)


class Round(Value):
    number: int
    message: str
    commit_sha: str
    """What the reviewer had seen."""
    base_sha: str
    at_unix: float
    comments: tuple[int, ...] = ()
    outcome: str = ""
    """Of its delivery; empty where whoever sent it has not lived to write it down."""


class ReviewRecord(Value):
    """What was said about the present work of a worker."""

    open: tuple[Comment, ...] = ()
    earlier: tuple[Comment, ...] = ()
    rounds: tuple[Round, ...] = ()


class Became(StrEnum):
    """What came of the lines of a comment."""

    UNTOUCHED = "untouched"
    CHANGED = "changed"
    GONE = "gone"
    UNKNOWN = "unknown"
    """The commit that it was made on is not there any more."""


class Fate(Value):
    became: Became
    path: str | None = None
    line: int | None = None
    """Where they are now; None where there is nothing to point at."""
    end_line: int | None = None
    lines: tuple[str, ...] = ()


def last_round(worker: Worker) -> int:
    """The worker's record alone says what was sent. What is on its way counts, and no longer if it does not arrive."""
    pending = (from_step(step) for step in worker.pending)
    return max([worker.round, *(effect.round for effect in pending if isinstance(effect, Deliver))])


def quoted_lines(lines: Sequence[str]) -> tuple[str, ...]:
    """As they can be shown and sent, whatever is in the file."""
    shown = [plain(line.removesuffix("\r"))[:LONGEST_QUOTED] for line in lines[:MOST_QUOTED]]
    more = len(lines) - len(shown)
    return tuple([*shown, f"... and {counted(more, 'more line')}"] if more else shown)


def place_of(path: str, line: int, end_line: int) -> str:
    return f"{plain(path)}:{line}" + (f"-{end_line}" if end_line != line else "")


def place_now(fate: Fate) -> str:
    """Empty where there is nothing to point at."""
    return place_of(fate.path, fate.line, fate.end_line) if fate.path and fate.line and fate.end_line else ""


def brief(comment: Comment, fate: Fate | None = None) -> str:
    """In one line."""
    return f"{comment.number}. {comment.place}{_now(comment, fate)}: {one_line(comment.text, 80)}"


def told(comment: Comment, fate: Fate) -> list[tuple[str, str]]:
    """The comment beside what became of its lines, each line with its meaning."""
    head = f"comment {comment.number}, round {comment.round}, {comment.place}{_now(comment, fate)}"
    quoted = [("removed" if fate.became in (Became.CHANGED, Became.GONE) else "", line) for line in comment.quoted]
    marks = {"removed": "-", "added": "+", "": " "}
    new = [("added", line) for line in fate.lines] if fate.became is Became.CHANGED else []
    said = [("", f"  {line}") for line in plain(comment.text).strip().split("\n")]
    return [("strong", head), *said, *((kind, f"    {marks[kind]} {line}") for kind, line in (*quoted, *new))]


def _now(comment: Comment, fate: Fate | None) -> str:
    if fate is None:
        return ""
    now = place_now(fate)
    return f" ({fate.became}{f', now {now}' if now and now != comment.place else ''})"


def comment_data(comment: Comment, fate: Fate | None = None) -> dict[str, Any]:
    """As `--json` and the history of a task have it."""
    now = {"now": asdict(fate)} if fate is not None else {}
    return {**asdict(comment), "round": comment.round or None, **now}


def round_data(sent: Round) -> dict[str, Any]:
    return {**asdict(sent), "outcome": sent.outcome or None}
