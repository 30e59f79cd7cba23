"""What CLIs write down of the tokens that their answers cost: read once, from where the last look has ended."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from glob import glob
from typing import Any

from llmc.agents.transcripts import Whereabouts
from llmc.core.usage.answer import FilePlace, ModelAnswer
from llmc.host.files import open_plain
from llmc.values import Value

Remembered = dict[str, Any]
"""What a reader has to know of the lines before: plain JSON, kept with the place that was read up to."""
LineReader = Callable[[Remembered, Mapping[str, Any]], Iterable[ModelAnswer]]
LONGEST_FIRST = 8 << 20
LARGEST = 1 << 30
"""No CLI writes so much down; a file of zeros is quickly made and takes for ever to read."""
BEGINNING = re.compile(rb'\{"(?:parentUuid|timestamp|type|id|sessionId)":')
"""How lines begin. One that was cut short, by a kill or a full disk, has the next one right behind it."""


class UsageFiles(Value):
    patterns: Callable[[Whereabouts], tuple[str, ...]]
    """Where the files of a worker are, those of its sub-agents too, with wildcards."""
    read: LineReader
    marks: tuple[bytes, ...]
    """One of these is in every line that the reader wants."""
    is_of: Callable[[Mapping[str, Any], Whereabouts], bool] = lambda first, where: True
    """Whether the file with this first line is about that worker."""


def paths_of(files: UsageFiles, where: Whereabouts) -> list[str]:
    found = {path for pattern in files.patterns(where) for path in glob(pattern, recursive=True)}
    return sorted(found)


def read_on(
    files: UsageFiles, where: Whereabouts, path: str, place: FilePlace, since: float
) -> tuple[list[ModelAnswer], FilePlace] | None:
    """What was answered since the place, and the new one; None where nothing has changed, or before `since`."""
    status = os.stat(path)
    if (status.st_ino, status.st_size) == (place.inode, place.size) or status.st_mtime < since:
        return None
    if status.st_size > LARGEST:
        return None
    if status.st_ino != place.inode or status.st_size < place.offset:
        place = FilePlace()  # another file, or a shorter one: what is told again counts once anyway
    with open_plain(path) as file:
        if place.offset == 0 and not files.is_of(_object(file.readline(LONGEST_FIRST)), where):
            return [], FilePlace(status.st_ino, status.st_size)
        file.seek(place.offset)
        remembered: Remembered = json.loads(place.remembered)
        answers: list[ModelAnswer] = []
        offset = place.offset
        for line in file:
            if line.endswith(b"\n"):
                offset += len(line)
            answers += _answers(files, line, remembered if line.endswith(b"\n") else dict(remembered))
    return answers, FilePlace(status.st_ino, status.st_size, offset, remembered=json.dumps(remembered))


def _answers(files: UsageFiles, line: bytes, remembered: Remembered) -> Iterator[ModelAnswer]:
    if any(mark in line for mark in files.marks):
        for data in _objects(line):
            yield from (answer for answer in files.read(remembered, data) if answer.tokens.all)


def _objects(line: bytes) -> Iterator[Mapping[str, Any]]:
    """One; of a line that was cut short and went on with another one, that one."""
    data = _object(line)
    if data:
        yield data
        return
    for begun in BEGINNING.finditer(line, 1):
        data = _object(line[begun.start() :])
        if data:
            yield data
            return


def _object(raw: bytes) -> Mapping[str, Any]:
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}
