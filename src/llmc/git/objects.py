"""One `git cat-file` for each repository answers all that an operation asks about names and objects."""

from __future__ import annotations

from collections.abc import Callable
from threading import local

from llmc.host.base import Talk

MOST_BYTES = 4096
"""Of one question: it and its answer fit into pipes that nobody empties meanwhile."""


class ObjectReaders(local):
    """Of one thread. Each process begins with the first question and ends with the operation."""

    def __init__(self) -> None:
        self._operations = 0
        self._open: dict[str, Talk] = {}

    def __enter__(self) -> None:
        self._operations += 1

    def __exit__(self, *_: object) -> None:
        self._operations -= 1
        if not self._operations:
            for repository in tuple(self._open):
                self._open.pop(repository).close()

    @property
    def usable(self) -> bool:
        return self._operations > 0

    def ask(self, repository: str, begin: Callable[[], Talk], lines: bytes) -> list[bytes]:
        """One line for each. Raises EOFError where a process of its own has to be asked."""
        if not self.usable or len(lines) > MOST_BYTES:
            raise EOFError
        talk = self._open.get(repository) or self._open.setdefault(repository, begin())
        try:
            talk.say(lines)
            return [talk.hear() for _ in range(lines.count(b"\n"))]
        except BaseException:  # whoever asks next must not hear what is left of this answer
            self._open.pop(repository).close()
            raise
