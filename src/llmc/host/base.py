"""The seam to a machine: processes and files, wherever they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import IO, Protocol

from llmc.errors import LlmcError
from llmc.values import Value


class ProgramMissingError(LlmcError):
    """The program is not installed."""


class ProgramHungError(LlmcError):
    """The program did not end in time and was ended."""

    def __init__(self, what: str, hint: str = "", out: bytes = b"") -> None:
        super().__init__(what, hint)
        self.out = out
        """What it had said until then."""


class Completed(Value):
    """A finished process. `code` is negative for a signal, as Python has it."""

    code: int
    out: bytes
    err: bytes

    @property
    def ok(self) -> bool:
        return self.code == 0

    @property
    def text(self) -> str:
        return self.out.decode("utf-8", "replace")

    @property
    def complaint(self) -> str:
        return self.err.decode("utf-8", "replace").strip() or self.text.strip()


class Talk(Protocol):
    """A program that runs beside us and is spoken to in lines."""

    def say(self, line: bytes) -> None: ...

    def hear(self) -> bytes:
        """The next line, without its end. Raises EOFError when there is none any more."""

    def close(self) -> None: ...


class Host(Protocol):
    """One machine. Paths are strings of that machine."""

    def run(
        self,
        argv: Sequence[str],
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
        timeout: float = 120.0,
    ) -> Completed:
        """Runs a program to its end. `env` replaces the whole environment.

        Raises ProgramMissingError, or ProgramHungError after `timeout` seconds, when it has ended the process tree.
        """

    def run_and_clear(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str],
        timeout: float,
        output: IO[bytes] | None = None,
        leaves: Callable[[], bool] = lambda: False,
        heard: Callable[[str], None] = lambda line: None,
    ) -> Completed:
        """As `run`, but over when the program's own process is, whoever holds its output open, or when we leave.

        What it has left running in its process group is ended. `out` is the beginning and the end of what it said
        until then. All of it goes to `output`, open for reading and writing; of a flood, only the latest is kept there.
        `heard` is told the last line every now and then.
        """

    def talk_to(self, argv: Sequence[str], env: Mapping[str, str], cwd: str | None = None) -> Talk:
        """Starts a program that is spoken to in lines."""

    def alone(self, path: str, within: float) -> AbstractContextManager[None]:
        """Whoever else asks for this path waits; after `within` seconds they go on all the same."""

    def which(self, program: str) -> str | None: ...

    def environ(self) -> dict[str, str]: ...

    def exists(self, path: str) -> bool: ...

    def is_dir(self, path: str) -> bool: ...

    def read(self, path: str) -> bytes | None:
        """The file's content; None when there is no such file."""

    def size(self, path: str) -> int | None:
        """Bytes of the file, or of the symlink itself; None when there is nothing."""

    def write(self, path: str, content: bytes) -> None:
        """Writes the whole file in one step, with the directories above it."""

    def move(self, source: str, target: str) -> None:
        """Renames, with the directories above `target`; nothing may be there."""

    def make_dir(self, path: str) -> None:
        """For its owner alone."""

    def remove_tree(self, path: str) -> None:
        """Removes a directory tree, or a single file; symlinks inside are removed, never followed."""

    def real_path(self, path: str) -> str:
        """The absolute path with every symlink resolved; the last parts need not exist."""

    def read_link(self, path: str) -> str | None:
        """Where the symlink points; None when the path is no symlink."""

    def has_odd_files(self, path: str, leave_out: str, *, links_too: bool) -> bool:
        """Whether there is anything in the directory tree but directories, sockets and files of a size that git makes.

        Pipes, which keep whoever opens them waiting, and symlinks to such, or all of them. Nothing in directories named
        `leave_out` counts.
        """

    def make_link(self, target: str, path: str) -> None:
        """A symlink at `path`, where nothing may be."""

    def copy_file(self, source: str, target: str, *, below: str = "") -> None:
        """Copies a file with its mode and times, or a symlink as a symlink.

        Makes the directories above `target` and replaces what is there, never writing through a symlink. With `below`,
        a directory that somebody else writes to, no directory on the way from there is one, either.
        """

    def has_unread_input(self, tty: str) -> bool:
        """Whether something was typed on this terminal that its program has yet to read; False when nobody can tell."""

    def reads_lines(self, tty: str) -> bool:
        """Whether the terminal collects lines for its program (canonical mode); False when nobody can tell."""
