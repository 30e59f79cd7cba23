"""A command of llmc as the shell of a machine understands it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from llmc.fleet.reach import shell_word
from llmc.fleet.registry import Machine


def command_there(machine: Machine, words: Sequence[str]) -> str:
    member = machine.member
    return f"LLMC_ROOT={shell_word(member.root)} exec {shell_word(member.program)} {shlex.join(words)}"
