"""What somebody who looks at a terminal from afar does to it: types, and resizes it. No client of tmux attaches.

Nothing is typed into a dead pane, and the check and the keys are one command sequence inside the server. A pane in copy
mode would take the keys for itself: it is left first.
"""

from __future__ import annotations

import re

from llmc.tmux.server import PaneGoneError, Tmux

BYTES_AT_ONCE = 2000
"""tmux refuses a command of more than 16 KB."""
NAMES = "Escape|Enter|Tab|BTab|Space|BSpace|Up|Down|Left|Right|Home|End|PageUp|PageDown|DC|IC|F[1-9]|F1[0-2]"
KEY = re.compile(rf"(?:[CMS]-){{0,3}}(?:[!-~]|{NAMES})")
ARROWS = {
    b"\x1b[A": "Up",
    b"\x1b[B": "Down",
    b"\x1b[C": "Right",
    b"\x1b[D": "Left",
    b"\x1b[H": "Home",
    b"\x1b[F": "End",
}
"""Which bytes these are depends on the program: tmux knows."""


def type_bytes(tmux: Tmux, pane: str, data: bytes) -> None:
    """Just these bytes, as a terminal would send them."""
    if data in ARROWS:
        press_key(tmux, pane, ARROWS[data])
        return
    for first in range(0, len(data), BYTES_AT_ONCE):
        _send(tmux, pane, "-H " + " ".join(f"{byte:02x}" for byte in data[first : first + BYTES_AT_ONCE]))


def press_key(tmux: Tmux, pane: str, key: str) -> None:
    """By the name that tmux has for it. One that it does not know would be typed letter by letter: it is refused."""
    if not KEY.fullmatch(key):
        raise ValueError(f"{key!r} is not the name of a key")
    base = key[-1]
    _send(tmux, pane, key if base.isalnum() else _quoted(key))


def _quoted(key: str) -> str:
    return "'" + key + "'" if "'" not in key else '"' + key + '"'


def _send(tmux: Tmux, pane: str, keys: str) -> None:
    answer = tmux.run(
        *("if-shell", "-F", "-t", pane, "#{pane_in_mode}", f"copy-mode -q -t {pane}", ";"),
        *("if-shell", "-F", "-t", pane, "#{pane_dead}", "display-message -p dead", f"send-keys -t {pane} {keys}"),
    )
    if not answer.ok or "dead" in answer.text:
        raise PaneGoneError("the agent's process has ended", "bring the worker up with `llmc up`")


def resize(tmux: Tmux, session: str, size: tuple[int, int]) -> None:
    tmux.run("resize-window", "-t", f"={session}:", "-x", str(size[0]), "-y", str(size[1]))


def give_size_back(tmux: Tmux, session: str = "") -> None:
    """Of a session, or of all: the size that it has while nobody is there, or that of the clients that are."""
    formats = ("session_name", "session_attached", "window_width", "window_height", "@columns", "@rows")
    line = "\t".join(f"#{{{name}}}" for name in formats)
    which = ("-s", "-t", f"={session}") if session else ("-a",)
    answer = tmux.run("list-panes", *which, "-F", line)
    for name, attached, *sizes in (row.split("\t") for row in answer.text.splitlines() if answer.ok):
        now, own = sizes[:2], sizes[2:]
        if attached != "0":
            tmux.run("set-option", "-w", "-u", "-t", f"={name}:", "window-size")
        elif all(own) and now != own:
            tmux.run("resize-window", "-t", f"={name}:", "-x", own[0], "-y", own[1])
