"""`run/programs/`: what installed programs said of themselves, so that each is asked once and not at every start."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from llmc.core.program import InstalledProgram
from llmc.host.files import write_atomically
from llmc.values import Value

KEPT_FOR_SECS = 86_400.0
"""A program behind a shim (asdf, mise, volta) changes while the shim stays the same."""
SILENCE_KEPT_FOR_SECS = 600.0
"""A program that did not answer is not waited for at every start, and is asked again later."""


class Binary(Value):
    """One program file as it is now: another one in its place has another size or time."""

    path: str
    size: int
    changed_ns: int


def look_at(path: str) -> Binary | None:
    real = os.path.realpath(path)
    try:
        there = os.stat(real)
    except OSError:
        return None
    return Binary(real, there.st_size, there.st_mtime_ns)


def read_program(directory: str, binary: Binary, commands: tuple[str, ...], now: float) -> InstalledProgram | None:
    """None when it was never asked about these commands, too long ago, or the file is not as we write it."""
    try:
        said = json.loads(_file(directory, binary).read_bytes())
        same = (said["binary"], said["commands"]) == (asdict(binary), list(commands))
        kept_for = KEPT_FOR_SECS if said["answered"] else SILENCE_KEPT_FOR_SECS
        if not same or not 0 <= now - said["asked_at"] < kept_for:
            return None
        return InstalledProgram(str(said["version"]), _options(said["options"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _options(said: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, str]]:
    return {str(command): {str(k): str(v) for k, v in options.items()} for command, options in said.items()}


def keep_program(
    directory: str, binary: Binary, commands: tuple[str, ...], program: InstalledProgram, now: float
) -> None:
    """A disk that is full only means that the next start asks again."""
    answered = bool(program.version) and set(commands) <= program.options.keys()
    said = {
        "binary": asdict(binary),
        "asked_at": now,
        "answered": answered,
        "commands": list(commands),
        "version": program.version,
        "options": {command: dict(options) for command, options in program.options.items()},
    }
    path = _file(directory, binary)
    with suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomically(path, json.dumps(said))


def forget_program(directory: str, binary: Binary) -> None:
    with suppress(OSError):
        _file(directory, binary).unlink()


def _file(directory: str, binary: Binary) -> Path:
    mark = zlib.crc32(binary.path.encode("utf-8", "surrogateescape"))
    return Path(directory, f"{os.path.basename(binary.path)}-{mark:08x}.json")
