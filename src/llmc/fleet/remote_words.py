"""A command of llmc as the shell of a machine understands it."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence

from llmc.fleet.reach import shell_word
from llmc.fleet.registry import Machine

_KIND_OF_TERMINAL = re.compile(r"[\w.+-]{1,40}")
USUAL_TERMINAL = "xterm-256color"


def command_there(machine: Machine, words: Sequence[str], *, terminal: bool = False) -> str:
    """`terminal`: it is on the person's own, which a container knows nothing of."""
    member, env = machine.member, f"LLMC_ROOT={shell_word(machine.member.root)}"
    if terminal:
        kind = os.environ.get("TERM", "")
        env += f" TERM={kind if _KIND_OF_TERMINAL.fullmatch(kind) else USUAL_TERMINAL} LC_ALL=C.UTF-8"
    return f"{env} exec {shell_word(member.program)} {shlex.join(words)}"
