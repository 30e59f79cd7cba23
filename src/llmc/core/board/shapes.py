"""What the board is made of. Plain JSON: every face gets the same, also over a network.

Only for the types: nothing here is needed at run time.
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict

ColumnName = Literal["needs_you", "review", "working", "queued", "landing", "idle"]


class OpenDialog(TypedDict):
    """An open dialog."""

    id: str | None
    text: str
    options: list[str]


class Action(TypedDict):
    """Something that a person can do about a card now."""

    name: str
    """`answer`, `message`, `review`, ...: see `actions`."""
    label: str


ConflictToCome = TypedDict("ConflictToCome", {"with": str, "worker": str | None, "files": list[str]})
"""`with` whom or what; `worker` is None where that is the branch."""


class Card(TypedDict):
    """A worker, or a task that no worker has."""

    key: str
    """`worker/adam` or `task/t3`."""
    kind: Literal["worker", "task"]
    column: ColumnName
    title: str
    """What it is about, in one line."""
    worker: str | None
    task: str | None
    agent: str | None
    machine: str | None
    status: str
    """As `llmc status` has it, with what it hides in brackets."""
    state: str
    """The bare word, for scripts and colours: that of `status --json`, or of the task."""
    screen: str
    """What the terminal shows, in a word; empty when nobody can tell."""
    does: str
    """What it is doing, or why it is where it is, in plain words."""
    since_unix: float
    """When that began; 0 where nobody knows."""
    until_unix: float | None
    """When what keeps it from working is over, where that is known."""
    asked: OpenDialog | None
    checks: str
    """`passed`, `failed`, `running` or empty."""
    conflicts: list[ConflictToCome]
    troubles: list[str]
    """What the last patrol found, a line for each."""
    last_words: str | None
    usage: Any
    actions: list[Action]


class Head(TypedDict):
    """What stands above the columns."""

    root: str
    branch: str | None
    daemon: bool
    waiting: int
    """How many wait for a person: those that need one, and those that wait for a review."""
    landings: list[str]
    """Landings that were cut short, a line for each."""
    task_counts: dict[str, int]
    train_paused: bool


class Column(TypedDict):
    name: ColumnName
    label: str
    keys: list[str]
    """Its cards, the most urgent first."""


class Board(TypedDict):
    head: Head
    columns: list[Column]
    cards: dict[str, Card]


class Change(TypedDict):
    """What is different from the board before; what is not named stays as it was."""

    id: str
    head: Head | None
    columns: list[Column]
    """Those whose cards, or their order, have changed."""
    cards: list[Card]
    gone: list[str]
    events: list[dict[str, Any]]
    """What was logged since, oldest first."""
