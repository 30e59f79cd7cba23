"""The command line of an agent, made of what the installed program knows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from llmc.agents.base import Launch
from llmc.core.program import InstalledProgram
from llmc.values import Value

NOTHING: Mapping[str, str] = MappingProxyType({})


class CommandOption(Value):
    """Words that belong together and begin with an option, and what is lost where the program does not know it.

    A value may be in the first word, as in `--resume=ID`.
    """

    words: tuple[str, ...]
    lost: str


def option(*words: str | None, lost: str) -> CommandOption:
    """It is left out where one of its words is empty: nobody has chosen a model, or there is nothing to resume."""
    return CommandOption(tuple(word for word in words if word) if all(words) else (), lost)


def launch_of(
    program: InstalledProgram,
    begin: tuple[str, ...],
    options: Iterable[CommandOption],
    end: tuple[str, ...] = (),
    *,
    command: str = "",
    env: Mapping[str, str] = NOTHING,
    files: Mapping[str, str] = NOTHING,
    links: Mapping[str, str] = NOTHING,
) -> Launch:
    """A program refuses to start with an option that it does not know, so it is started without."""
    argv, left_out = [*begin], []
    for each in (each for each in options if each.words):
        name = each.words[0].partition("=")[0]
        if program.knows(name, command):
            argv += each.words
        else:
            left_out.append(f"{name} ({each.lost})")
    # One option may be given many times over.
    return Launch((*argv, *end), env, files, links, tuple(dict.fromkeys(left_out)))
