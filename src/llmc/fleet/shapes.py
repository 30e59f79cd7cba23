"""What a machine says, taken into a known shape.

A machine may be broken, or lie: nothing in it is believed to be there, of the right kind, or harmless to show.
"""

from __future__ import annotations

from math import isfinite
from typing import Any

from llmc.core.display import plain
from llmc.core.names import name_problem
from llmc.core.usage.sums import COUNTED
from llmc.model import Session, Turn, Work

MOST_TEXT = 200_000
MOST_ITEMS = 5000
LATEST_UNIX = 1e11
TEXTS, ANY_NAME = [""], "*"


class Maybe:
    """None, or something of this shape."""

    def __init__(self, shape: Any) -> None:  # noqa: ANN401 - any shape
        self.shape = shape


class OneOf:
    """One of these; else the first."""

    def __init__(self, *words: str) -> None:
        self.words = words


class Raw:
    """Text as it came: whoever asks for it makes it harmless."""


TEXT, TIME, RAW = Maybe(""), Maybe(0.0), Raw()
_ATTENTION = {
    "state": OneOf("UNKNOWN", "READY", "BUSY", "NEEDS_CONFIRMATION", "ERROR", "EXITED"),
    "detail": TEXT,
    "confidence": 0.0,
    "source": "",
    "age_secs": TIME,
}
_SPENT = {**dict.fromkeys(COUNTED, 0), "usd": TIME, "priced": OneOf("unknown", "partly", "api")}
_STATUSES = ("offline", "needs_input", *(work.value for work in Work))
WORKER = {
    "status": OneOf(*dict.fromkeys(_STATUSES)),
    "work": OneOf(*(work.value for work in Work)),
    "session": OneOf("down", *(session.value for session in Session)),
    "turn": OneOf(*(turn.value for turn in Turn)),
    **dict.fromkeys(("name", "agent", "worktree_path", "branch", "session_id", "current_prompt", "start_dialog"), ""),
    **dict.fromkeys(("hint", "resume_work", "last_words", "request", "commit_sha", "base_sha", "rejected_sha"), TEXT),
    **dict.fromkeys(("created_at_unix", "last_activity_unix"), 0.0),
    **dict.fromkeys(("crash_count", "round"), 0),
    **dict.fromkeys(("reports_events", "by_name_only"), False),
    "reviewed": Maybe({"commit": "", "tree": "", "base": ""}),
    "pending": [None],
    "conflicted_files": TEXTS,
    "evidence": {"signal": "", "at_unix": 0.0, "detail": ""},
    "attention": {**_ATTENTION, "disagreement": Maybe(_ATTENTION)},
    "asked": Maybe({"id": TEXT, "text": TEXT, "options": TEXTS}),
    "blocked": Maybe({"kind": "", "since_unix": 0.0, "until_unix": TIME}),
    "conflicts": Maybe({"with_branch": TEXTS, "with_workers": {ANY_NAME: TEXTS}, "age_secs": 0.0}),
    "checks": {"state": OneOf("none", "running", "passed", "failed"), "failed": TEXT, "at_unix": TIME},
    "usage": Maybe({**_SPENT, "task": Maybe(_SPENT)}),
    "troubles": [{"kind": "", "what": "", "do": ""}],
}
BOARD = {"daemon": {"running": False, "pid": Maybe(0)}, "branch": TEXT, "workers": [WORKER]}


def shaped(said: Any, shape: Any) -> Any:  # noqa: ANN401 - that is what JSON is
    """What was said as far as it has this shape; in place of the rest something empty."""
    match shape:
        case None:
            return None
        case Maybe():
            return None if said is None else shaped(said, shape.shape)
        case OneOf():
            return said if isinstance(said, str) and said in shape.words else shape.words[0]
        case Raw():
            return said[:MOST_TEXT] if isinstance(said, str) else ""
        case str():
            return plain(said[:MOST_TEXT]) if isinstance(said, str) else ""
        case bool():
            return said is True
        case int():
            return int(number(said))
        case float():
            return number(said)
        case [inner]:
            return [shaped(each, inner) for each in said[:MOST_ITEMS]] if isinstance(said, list) else []
        case _:
            return _shaped_object(said if isinstance(said, dict) else {}, shape)


def _shaped_object(said: dict[str, Any], shape: dict[str, Any]) -> dict[str, Any]:
    if ANY_NAME in shape:
        return {plain(name[:MOST_TEXT]): shaped(each, shape[ANY_NAME]) for name, each in [*said.items()][:MOST_ITEMS]}
    return {name: shaped(said.get(name), inner) for name, inner in shape.items()}


def number(said: object, otherwise: float = 0.0) -> float:
    """A finite one that a clock could show."""
    is_one = isinstance(said, int | float) and not isinstance(said, bool)
    return float(said) if is_one and abs(said) < LATEST_UNIX and isfinite(said) else otherwise  # type: ignore[arg-type]


def shaped_board(said: Any) -> dict[str, Any]:  # noqa: ANN401 - that is what JSON is
    """Without workers whose names could be none here, and with each name once."""
    board: dict[str, Any] = shaped(said, BOARD)
    named = {worker["name"]: worker for worker in board["workers"] if name_problem(worker["name"]) is None}
    return {**board, "workers": [*named.values()]}
