"""What CLIs write down of their conversations: a JSON object a line, in files of their own. Read, never written."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from datetime import datetime
from glob import glob
from types import MappingProxyType
from typing import Any

from llmc.core.delivery.texts import told_digest
from llmc.host.files import open_plain
from llmc.values import Value

BLOCK = 256 * 1024
MOST_BYTES = 8 * 1024 * 1024
"""From the end. What lies further back is not about now."""


class Whereabouts(Value):
    """Of the worker whose transcript is meant."""

    home: str
    """The person's."""
    worktree: str
    settings_dir: str
    variables: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Of the worker's agent, as far as they say where it keeps its files."""

    def kept_in(self, variable: str, usually: str) -> str:
        """The directory that the variable names, else the usual one in the home."""
        return self.variables.get(variable) or f"{self.home}/{usually}"


class Line(Value):
    """What one line says that is of use to us."""

    at_unix: float
    prompt: str = ""
    state: str = ""
    """What the agent does from then on."""


class Transcripts(Value):
    pattern: Callable[[Whereabouts], str]
    """Where the files of a worker are, with wildcards."""
    read: Callable[[Mapping[str, Any]], Line | None]
    marks: tuple[bytes, ...]
    """One of these is in every line that is of use."""
    is_of: Callable[[Mapping[str, Any], Whereabouts], bool] = lambda first, where: True
    """Whether the file with this first line is about that worker."""
    kept_open: str = ""
    """In the path of the file that the running program keeps open, which tells whose it is."""


def prompts_since(transcripts: Transcripts, where: Whereabouts, since_unix: float) -> frozenset[str]:
    """The digests of what this worker's agent was given since then, as it wrote that down itself."""
    found: set[str] = set()
    for path in glob(transcripts.pattern(where)):
        try:
            if os.stat(path).st_mtime < since_unix or not transcripts.is_of(_first(path), where):
                continue
            for line in _useful(transcripts, path):
                if line.at_unix < since_unix:
                    break
                if line.prompt:
                    found.add(told_digest(line.prompt))
        except OSError:
            continue  # it was cleared away meanwhile
    return frozenset(found)


def last_state(transcripts: Transcripts, path: str, since_unix: float) -> Line | None:
    """The last line since then that says what the agent does now."""
    try:
        for line in _useful(transcripts, path):
            if line.state:
                return line if line.at_unix >= since_unix else None
    except OSError:
        pass
    return None


def moment(text: object) -> float:
    """A time as these files have it; 0 for what is none."""
    try:
        return datetime.fromisoformat(str(text)).timestamp()
    except ValueError:
        return 0.0


_PASTED = re.compile(r'\s*<pasted_content id="([^"]*)">\n(.*)\n</pasted_content id="\1">\s*', re.DOTALL)
"""How Claude Code from 2.1.328 on marks what was pasted and not typed."""


def texts(content: object) -> str:
    """All text of a message: one string, or parts. What was pasted as a whole comes without the marks around it."""
    parts = content if isinstance(content, list) else []
    said = "".join(str(part.get("text", "")) for part in parts if isinstance(part, dict))
    said = content if isinstance(content, str) else said
    pasted = _PASTED.fullmatch(said)
    return pasted[2] if pasted else said


def _useful(transcripts: Transcripts, path: str) -> Iterator[Line]:
    """The newest first."""
    for raw in _lines_backwards(path):
        if any(mark in raw for mark in transcripts.marks):
            line = transcripts.read(_object(raw))
            if line is not None:
                yield line


def _first(path: str) -> Mapping[str, Any]:
    with open_plain(path) as file:
        return _object(file.readline(MOST_BYTES))


def _object(raw: bytes) -> Mapping[str, Any]:
    """Empty where the line is no object: it may be half written."""
    try:
        data = json.loads(raw)
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}


def _lines_backwards(path: str) -> Iterator[bytes]:
    with open_plain(path) as file:
        at = file.seek(0, os.SEEK_END)
        least = max(0, at - MOST_BYTES)
        rest = b""
        while at > least:
            size = min(BLOCK, at - least)
            at -= size
            file.seek(at)
            begun, *whole = (file.read(size) + rest).split(b"\n")
            yield from reversed(whole)
            rest = begun
        if least == 0:
            yield rest


def part_of(data: Any, path: Iterable[str]) -> Any:  # noqa: ANN401 - that is what JSON is
    """What stands under these names, one inside the other; None where there is nothing."""
    for name in path:
        data = data.get(name) if isinstance(data, dict) else None
    return data


def prompts(kind: str, *path: str, kind_at: Iterable[str] = ("type",)) -> Callable[[Mapping[str, Any]], Line | None]:
    """Reads lines of this kind, with what was said to the agent under the path."""

    def line(data: Mapping[str, Any]) -> Line | None:
        said = part_of(data, path) if part_of(data, kind_at) == kind else None
        return Line(moment(data.get("timestamp")), texts(said)) if said is not None else None

    return line
