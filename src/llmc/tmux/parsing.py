"""What tmux prints, as values."""

from __future__ import annotations

from dataclasses import dataclass

SEPARATOR = "\t"
"""tmux never prints a tab inside one of these fields but the title, which comes last."""

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
    "pane_title",
)
PANE_FORMAT = SEPARATOR.join(f"#{{{name}}}" for name in PANE_FIELDS)


@dataclass(frozen=True, slots=True)
class Pane:
    """One terminal: the first pane of a session."""

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
    title: str


def parse_pane(line: str) -> Pane:
    row = dict(zip(PANE_FIELDS, line.split(SEPARATOR, len(PANE_FIELDS) - 1), strict=True))
    return Pane(
        session=row["session_name"],
        id=row["pane_id"],
        pid=int(row["pane_pid"] or 0),
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
        title=row["pane_title"],
    )


def _number(text: str) -> int | None:
    return int(text) if text else None


LAST_LINES = 3


def last_words(screen: str) -> str:
    """The last lines that the program itself wrote: tmux adds "Pane is dead" below them."""
    lines = [line.strip() for line in screen.splitlines() if line.strip() and "Pane is dead" not in line]
    return " / ".join(lines[-LAST_LINES:])


def says_no_sessions(complaint: str) -> bool:
    """Whether tmux's words mean that there is no session at all, as opposed to any other failure."""
    # "no current target" is what a server without any session says to a question about all of them.
    return (
        "no server running" in complaint
        or "no current target" in complaint
        or ("error connecting to" in complaint and "No such file or directory" in complaint)
    )


def parse_version(text: str) -> tuple[int, int]:
    """`tmux 3.3a`, `tmux next-3.5`, `tmux master`: a development version counts as the newest."""
    digits = text.removeprefix("tmux ").removeprefix("next-").strip()
    major, _, minor = digits.partition(".")
    if not major.isdigit():
        return (99, 0)
    return (int(major), int("".join(c for c in minor if c.isdigit()) or 0))
