"""The terminals that a root knows: one directory for each, made when it is opened and gone when it is."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import suppress
from dataclasses import asdict, fields
from pathlib import Path

from llmc.core.names import LONGEST_NAME, name_problem, shown, unfit_name
from llmc.errors import LlmcError
from llmc.host.files import disk_errors, make_own_directory, write_atomically
from llmc.host.locks import FileLock
from llmc.root import Root
from llmc.values import Value

RECORD = "terminal.json"
CHANGED = ".changed"
LOCK_SECS = 10.0


class UnknownTerminalError(LlmcError):
    """There is no terminal of this name."""


class NameTakenError(LlmcError):
    """Another terminal or a worker has this name."""


class KnownTerminal(Value):
    id: str
    server: str
    """The path of its tmux server's socket."""
    server_pid: int
    """A server that was started again counts its panes from the beginning."""
    pane: str
    session: str
    window: str
    cwd: str
    cli: str
    """The program that it was opened for; empty where what runs in it decides."""
    made_here: bool
    """Not adopted: its window may be closed by us."""
    created_at_unix: float


def check_terminal_name(name: str) -> None:
    """The name becomes a directory and the name of a tmux window."""
    problem = name_problem(name)
    if problem:
        raise unfit_name("a terminal's", name, problem, ", such as `shop` or `api-2`")


class Terminals:
    def __init__(self, root: Root) -> None:
        self._root = root
        self.directory = Path(root.terminals)

    def make_directory(self) -> None:
        with disk_errors(self.directory):
            make_own_directory(str(self.directory))

    def lock(self, timeout: float = LOCK_SECS) -> FileLock:
        """Held while names are given and taken away."""
        self.make_directory()
        return FileLock(self.directory / ".lock", name="the list of terminals", timeout=timeout)

    def all(self) -> dict[str, KnownTerminal]:
        """Every terminal, by its name. A record that cannot be read is passed over."""
        found = {}
        for path in sorted(self.directory.glob(f"*/{RECORD}")):
            terminal = _read(path)
            if terminal is not None:
                found[terminal.id] = terminal
        return found

    def find(self, name: str) -> KnownTerminal:
        terminal = _read(self.directory / name / RECORD) if name_problem(name) is None else None
        if terminal is None:
            known = ", ".join(self.all())
            hint = f"there is {known}" if known else "open one with `llmc pty create DIR`"
            raise UnknownTerminalError(f"there is no terminal named {shown(name)}", hint)
        return terminal

    def add(self, terminal: KnownTerminal) -> None:
        """The caller holds the lock and has asked whether the name is free."""
        directory = self.directory / terminal.id
        with disk_errors(directory):
            directory.mkdir(mode=0o700, exist_ok=True)
            write_atomically(directory / RECORD, json.dumps(asdict(terminal), indent=2))

    def announce(self) -> None:
        """Lets a watcher know at once that there is another terminal, or one less."""
        with suppress(OSError):
            (self.directory / CHANGED).touch()

    def is_taken(self, name: str) -> bool:
        return os.path.lexists(self.directory / name) or os.path.lexists(self._root.worktree(name))

    def free_name(self, wanted: str) -> str:
        """The name that is like this one and not taken."""
        letters = "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "-" for c in wanted).strip("-_")
        base = (letters if letters[:1].isalpha() else f"t-{letters}".rstrip("-"))[: LONGEST_NAME - 5]
        numbered = (f"{base}-{number}" for number in range(2, 10_000))
        return next(name for name in (base, *numbered) if not self.is_taken(name))

    def require_free(self, name: str) -> None:
        check_terminal_name(name)
        if self.is_taken(name):
            raise NameTakenError(f"there is a terminal or a worker named {name} already", "choose another --name")

    def forget(self, name: str) -> None:
        """With all of its files."""
        with suppress(FileNotFoundError), disk_errors(self.directory / name):
            shutil.rmtree(self.directory / name, ignore_errors=True)


def _read(path: Path) -> KnownTerminal | None:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        return KnownTerminal(**{field.name: data[field.name] for field in fields(KnownTerminal)})
    except (OSError, ValueError, KeyError, TypeError):
        return None
