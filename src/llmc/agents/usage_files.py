"""What CLIs write down of the tokens that their answers cost: read once, from where the last look has ended."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from fnmatch import fnmatch
from glob import iglob
from hashlib import sha256
from typing import IO, Any

from llmc.agents.transcripts import Whereabouts
from llmc.core.usage.answer import FilePlace, ModelAnswer
from llmc.host.files import open_plain
from llmc.values import Value

Remembered = dict[str, Any]
"""What a reader has to know of the lines before: plain JSON, kept with the place that was read up to."""
LineReader = Callable[[Remembered, Mapping[str, Any]], Iterable[ModelAnswer]]
LONGEST_FIRST = 8 << 20
LONGEST = 32 << 20
"""What is longer is no line of any CLI, and is passed over in pieces of this size."""
MOST_TRIES = 16
"""So many beginnings are tried in a line that was cut short: objects inside of it begin in the same way."""
DEEPEST = 8
"""Sub-agents' files are two or three directories down."""
ENDING = 256
"""So many bytes before a place tell whether a file is still the one that was read."""
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
    found = {path for pattern in files.patterns(where) for path in _matching(pattern)}
    return sorted(found)


def _matching(pattern: str) -> Iterator[str]:
    """With `**` for directories at any depth. An agent can link one of them to the one above: no link is followed."""
    above, deep, name = pattern.partition("/**/")
    return (path for top in iglob(above) for path in _below(top, name, DEEPEST)) if deep else iglob(pattern)


def _below(directory: str, name: str, depth: int) -> Iterator[str]:
    try:
        entries = list(os.scandir(directory))
    except OSError:
        return  # it is no directory, or not any more
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            if depth:
                yield from _below(entry.path, name, depth - 1)
        elif fnmatch(entry.name, name):
            yield entry.path


def read_on(
    files: UsageFiles, where: Whereabouts, path: str, place: FilePlace, since: float
) -> tuple[list[ModelAnswer], FilePlace] | None:
    """What was answered since the place, and the new one; None where nothing has changed, or before `since`.

    Whoever writes these files could put anything in their place: what is not a plain file is not opened.
    """
    status = os.lstat(path)
    seen = (status.st_ino, status.st_size, status.st_mtime_ns)
    if not stat.S_ISREG(status.st_mode) or seen == (place.inode, place.size, place.changed_ns):
        return None
    if status.st_mtime < since or status.st_size > LARGEST:
        return None
    with open_plain(path) as file:
        if not _goes_on(file, status, place):
            place = FilePlace()  # what is told again counts once anyway
        if place.offset == 0 and not files.is_of(_object(file.readline(LONGEST_FIRST)), where):
            return [], FilePlace(*seen)
        remembered: Remembered = json.loads(place.remembered)
        answers, offset = _read_lines(files, file, place.offset, remembered)
        return answers, FilePlace(*seen, offset, _ending(file, offset), json.dumps(remembered))


def _goes_on(file: IO[bytes], status: os.stat_result, place: FilePlace) -> bool:
    """Whether it is the file that was read, with more or less behind that place. One as long as before was replaced."""
    same = status.st_ino == place.inode and status.st_size != place.size
    return same and _ending(file, place.offset) == place.ending


def _ending(file: IO[bytes], offset: int) -> str:
    """A digest: what stands there is what people have said."""
    file.seek(max(0, offset - ENDING))
    before = file.read(min(offset, ENDING))
    return sha256(before).hexdigest()[:16] if before else ""


def _read_lines(
    files: UsageFiles, file: IO[bytes], offset: int, remembered: Remembered
) -> tuple[list[ModelAnswer], int]:
    """To the end, and where the last whole line ends. What is half written may be whole, but for the end of its line:
    it counts, and is read again.
    """
    answers: list[ModelAnswer] = []
    file.seek(offset)
    while line := file.readline(LONGEST):
        half = not line.endswith(b"\n") and len(line) < LONGEST
        answers += _answers(files, line, dict(remembered) if half else remembered)
        offset += 0 if half else len(line)
    return answers, offset


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
    for begun, _ in zip(BEGINNING.finditer(line, 1), range(MOST_TRIES), strict=False):
        data = _object(line[begun.start() :])
        if data:
            yield data
            return


def _object(raw: bytes) -> Mapping[str, Any]:
    try:
        data = json.loads(raw.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}
