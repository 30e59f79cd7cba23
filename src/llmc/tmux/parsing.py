"""What tmux prints, as values."""

from __future__ import annotations

import re

from llmc.values import Value

SEPARATOR = "\t"

PANE_FIELDS = (
    "session_name",
    "pane_id",
    "pane_pid",
    "pane_tty",
    "pane_dead",
    "pane_dead_status",
    "pane_dead_signal",
    "pane_current_command",
    "pane_in_mode",
    "cursor_x",
    "cursor_y",
    "alternate_on",
    "pane_width",
    "pane_height",
    "session_attached",
    "pid",
    "window_id",
    "@last_screen",
    "@rows_kept",
    "pane_title",
)
# A program may call itself whatever it likes; of the other fields tmux itself keeps tabs and newlines out.
_EXPRESSIONS = {"pane_current_command": "s/\t/ /;s/\n/ /:pane_current_command"}
PANE_FORMAT = SEPARATOR.join(f"#{{{_EXPRESSIONS.get(name, name)}}}" for name in PANE_FIELDS)


class Pane(Value):
    """One terminal."""

    session: str
    id: str
    pid: int
    tty: str
    dead: bool
    exit_code: int | None
    exit_signal: int | None
    command: str
    in_mode: bool
    cursor: tuple[int, int]
    alternate: bool
    width: int
    height: int
    attached: int
    server_pid: int
    window: str
    last_screen: str
    """The buffer with what a dead one showed; empty before that was put aside."""
    rows_kept: int | None
    """How many rows it had then."""
    title: str


def parse_pane(line: str) -> Pane:
    """Raises ValueError when this is not a line of PANE_FORMAT about a pane that is there."""
    row = dict(zip(PANE_FIELDS, line.split(SEPARATOR, len(PANE_FIELDS) - 1), strict=True))
    return Pane(
        session=row["session_name"],
        id=row["pane_id"],
        pid=int(row["pane_pid"]),
        tty=row["pane_tty"],
        dead=row["pane_dead"] == "1",
        exit_code=_number(row["pane_dead_status"]),
        exit_signal=_number(row["pane_dead_signal"]),
        command=row["pane_current_command"],
        in_mode=row["pane_in_mode"] not in ("", "0"),
        cursor=(int(row["cursor_x"] or 0), int(row["cursor_y"] or 0)),
        alternate=row["alternate_on"] == "1",
        width=int(row["pane_width"] or 0),
        height=int(row["pane_height"] or 0),
        attached=int(row["session_attached"] or 0),
        server_pid=int(row["pid"] or 0),
        window=row["window_id"],
        last_screen=row["@last_screen"],
        rows_kept=_number(row["@rows_kept"]),
        title=row["pane_title"],
    )


def _number(text: str) -> int | None:
    return int(text) if text else None


LAST_LINES = 3


def last_words(screen: str) -> str:
    """The last lines with words that the program itself wrote: tmux adds "Pane is dead" below them."""
    worded = (line.strip() for line in screen.splitlines() if any(character.isalnum() for character in line))
    lines = [line for line in worded if "Pane is dead" not in line]
    return " / ".join(lines[-LAST_LINES:])


def says_no_sessions(complaint: str) -> bool:
    """Whether tmux's words mean that there is no session at all, as opposed to any other failure."""
    # "no current target" is what a server without any session says to a question about all of them.
    return (
        "no server running" in complaint
        or "no current target" in complaint
        or ("error connecting to" in complaint and "No such file or directory" in complaint)
    )


def says_server_ended(complaint: str) -> bool:
    """Whether the server went away while it was asked: nothing is known, and whoever asks again hears more."""
    return "server exited" in complaint or "lost server" in complaint


def says_no_pane(complaint: str) -> bool:
    """Whether tmux's words mean that the pane which they are about is not there."""
    return "can't find pane" in complaint or "can't find window" in complaint or says_no_sessions(complaint)


def parse_version(text: str) -> tuple[int, int]:
    """`tmux 3.3a`, `tmux next-3.5`, `tmux master`: a development version counts as the newest."""
    number = re.match(r"(?:tmux )?(?:next-)?(\d+)(?:\.(\d+))?", text.strip())
    return (int(number[1]), int(number[2] or 0)) if number else (99, 0)
