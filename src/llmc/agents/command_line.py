"""The command line of an agent, made of what the installed program knows."""

from __future__ import annotations

from collections.abc import Iterable

from llmc.core.program import InstalledProgram
from llmc.values import dataclass


@dataclass(frozen=True, slots=True)
class CommandOption:
    """Words that belong together and begin with an option, and what is lost where the program does not know it.

    A value may be in the first word, as in `--resume=ID`.
    """

    words: tuple[str, ...]
    lost: str


def option(*words: str, lost: str) -> CommandOption:
    return CommandOption(words, lost)


@dataclass(frozen=True, slots=True)
class CommandLine:
    argv: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    """Each option that the program does not know, with what is lost by that."""


def command_line(
    program: InstalledProgram,
    begin: tuple[str, ...],
    options: Iterable[CommandOption],
    end: tuple[str, ...] = (),
    *,
    command: str = "",
) -> CommandLine:
    """A program refuses to start with an option that it does not know, so it is started without."""
    argv, left_out = [*begin], []
    for each in options:
        name = each.words[0].partition("=")[0]
        if program.knows(name, command):
            argv += each.words
        else:
            left_out.append(f"{name} ({each.lost})")
    # One option may be given many times over.
    return CommandLine((*argv, *end), tuple(dict.fromkeys(left_out)))
