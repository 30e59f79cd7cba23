"""Our part of tmux's status line: put in front of what is there, and taken out again without a trace."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from llmc.errors import LlmcError
from llmc.tmux.server import Tmux, literal
from llmc.tmux.windows import ask

PART = "@llmc_status_part"
LENGTH_BEFORE = "@llmc_status_length"
ROOM = 200
"""Columns for the right of the status line; tmux's own 40 hold two terminals."""


class UnfitPathError(LlmcError):
    """tmux could not tell where the command ends."""


def status_part(command: Sequence[str]) -> str:
    """What tmux runs, as a part of its own language."""
    words = shlex.join(command)
    if "(" in words or ")" in words:
        raise UnfitPathError(
            f"tmux cannot run a command with brackets in its status line: {words}",
            "use a root and an installation whose paths have no brackets",
        )
    return f"#({words.replace('#', '##').replace('%', '%%')}) "


def install(tmux: Tmux, part: str) -> bool:
    """Whether there was something to do."""
    installed = _option(tmux, PART)
    now = _option(tmux, "status-right")
    if installed and installed in now:
        if installed == part:
            return False
        now = now.replace(installed, "", 1)
    elif installed:
        remove(tmux)
    _set(tmux, "status-right", part + now)
    _set(tmux, PART, part)
    if not _option(tmux, LENGTH_BEFORE):
        length = _option(tmux, "status-right-length")
        _set(tmux, LENGTH_BEFORE, length)
        _set(tmux, "status-right-length", str(max(ROOM, int(length))))
    return True


def remove(tmux: Tmux) -> bool:
    """Whether it was there. What the person has changed since then stays."""
    part = _option(tmux, PART)
    if not part:
        return False
    _set(tmux, "status-right", _option(tmux, "status-right").replace(part, "", 1))
    before = _option(tmux, LENGTH_BEFORE)
    if before and _option(tmux, "status-right-length") == str(max(ROOM, int(before))):
        _set(tmux, "status-right-length", before)
    for option in (PART, LENGTH_BEFORE):
        ask(tmux, "set-option", "-gu", option)
    return True


def is_installed(tmux: Tmux) -> bool:
    answer = tmux.run("show-options", "-gqv", PART)
    return answer.ok and bool(answer.text.strip())


def _option(tmux: Tmux, name: str) -> str:
    return ask(tmux, "show-options", "-gqv", name).removesuffix("\n")


def _set(tmux: Tmux, name: str, value: str) -> None:
    ask(tmux, "set-option", "-g", name, literal(value))
