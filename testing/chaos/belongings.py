"""Everything that somebody wrote and did not give away: who, where, what, and whether they let go of it themselves."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

USER = "the user"


@dataclass(slots=True)
class Belonging:
    """A file with a content that there is only once."""

    owner: str
    """A worker's name, or the user."""
    file: Path
    content: bytes
    let_go: str = ""
    """What the owner did to lose it; empty while it has to be somewhere."""

    @property
    def blob(self) -> str:
        """What git calls this content."""
        return blob_of(self.content)

    @property
    def is_there(self) -> bool:
        """Maybe with the line ends that an agent has configured: what it commits so, and the user accepts, lands so."""
        try:
            return self.file.read_bytes().replace(b"\r\n", b"\n") == self.content
        except OSError:
            return False

    def __str__(self) -> str:
        return f"{self.owner}'s {self.file.name} ({self.content.decode().strip()})"


def blob_of(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


@dataclass(slots=True)
class Belongings:
    _all: list[Belonging] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def write(self, owner: str, file: Path, content: str) -> Belonging:
        """As an editor does: beside, then in its place. What the owner wrote there before is their own to replace."""
        file.parent.mkdir(parents=True, exist_ok=True)
        unfinished = file.with_name(f".{file.name}.edited")
        try:
            unfinished.write_text(content)
            with self._lock:
                self._replaced(file, "written over")
                unfinished.replace(file)
                self._all.append(Belonging(owner, file, content.encode()))
                return self._all[-1]
        finally:
            unfinished.unlink(missing_ok=True)

    def remove(self, belonging: Belonging) -> None:
        with self._lock:
            belonging.file.unlink()
            belonging.let_go = "deleted"

    def _replaced(self, file: Path, why: str) -> None:
        for belonging in self._all:
            if belonging.file == file and not belonging.let_go and belonging.is_there:
                belonging.let_go = why

    def of(self, owner: str) -> list[Belonging]:
        with self._lock:
            return [each for each in self._all if each.owner == owner and not each.let_go]

    def all(self) -> list[Belonging]:
        with self._lock:
            return list(self._all)

    def before(self, owner: str) -> Leaving:
        """For a step of the owner's that may drop what they have."""
        return Leaving(tuple(each for each in self.of(owner) if each.is_there))


@dataclass(frozen=True, slots=True)
class Leaving:
    there: tuple[Belonging, ...]

    def let_go(self, why: str) -> None:
        """Of what has been there before the step and is not after it."""
        for belonging in self._missing():
            belonging.let_go = why

    def _missing(self) -> Iterator[Belonging]:
        return (each for each in self.there if not each.is_there)
