"""`state.json`: changed by one process at a time, replaced whole, never lost.

Reading needs no lock: a rename replaces the file in one step, so a reader sees the old state or the new one.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from llmc.core.lifecycle.clocks import following, in_present
from llmc.host.clock import read_clock
from llmc.host.files import DiskError, disk_error, disk_errors, open_regular, write_atomically
from llmc.host.locks import FileLock
from llmc.model import Clock, State, Worker
from llmc.store.codec import StateError, StateInvalidError, StateNewerError, check, decode, encode, encode_worker, parse

Change = Callable[[State], State]

_ENCODER = json.JSONEncoder(separators=(",\n", ": "), allow_nan=False)
"""One field per line, for people and for diffs, without the slow encoder that `indent` would select."""

COPIES_KEPT = 10
REBUILD = "`llmc doctor --rebuild` makes it again from the worktrees, the terminals and the log of events"


class StateMissingError(StateError):
    """There is no state file."""


class StateBrokenError(StateError):
    """The state file is no JSON, or no file."""


class StateExistsError(StateError):
    """There is a state file already."""


class StateFile:
    """The state of one LLMC root."""

    def __init__(
        self, root: Path | str, *, lock_timeout: float = 10.0, clock: Callable[[], Clock] = read_clock
    ) -> None:
        self.root = Path(root)
        self.path = self.root / "state.json"
        self.backup_path = self.root / "state.json.bak"
        self._lock_timeout = lock_timeout
        self._clock = clock
        self._known: tuple[bytes, State] | None = None
        """The file as it was last read or written here, and what it says: to decode it takes longer than to read it."""
        self._written: dict[str, tuple[Worker, bytes]] = {}
        """Each worker that was last written here, with its text: to encode them all takes longer than to write them."""

    @property
    def exists(self) -> bool:
        return not _is_absent(self.path)

    def load(self) -> State:
        with self._advice():
            raw = _read_regular(self.path)
            known = self._known
            if known is None or known[0] != raw:
                # Kept in a name of its own: another thread may put something newer in its place meanwhile.
                self._known = known = raw, self._decode(raw, self.path)
            return in_present(known[1], self._clock())

    def as_written(self) -> State:
        """With the times that stand in the file, whatever has become of the clock since."""
        with self._advice():
            return self._decode(_read_regular(self.path), self.path)

    def load_backup(self) -> State:
        return in_present(self._decode(_read_regular(self.backup_path), self.backup_path), self._clock())

    def transact(self, change: Change) -> State:
        """Under the lock: reload, change, check, save if something differs. What raises leaves everything as it was."""
        with self._lock_existing():
            return self._apply(change, self.load())

    def repair(self, change: Change) -> State:
        """As `transact`, for a state that contradicts itself and that `change` puts right."""
        with self._lock_existing():
            with self._advice():
                before = parse(_from_json(_read_regular(self.path), self.path), source=str(self.path))
            return self._apply(lambda state: change(in_present(state, self._clock())), before)

    def create(self, state: State | None = None, *, overwrite: bool = False) -> State:
        """The first state. With `overwrite`, what stands there is set aside under another name, not deleted."""
        state = state or State()
        with disk_errors(self.root):
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._lock():
            if not overwrite:
                self._refuse_to_overwrite()
            state = self._dated(self._checked(state, State()), None)
            with disk_errors(self.path):
                _set_aside(self.path)
                write_atomically(self.path, self._to_json(state), durable=True)
                _set_aside(self.backup_path)
                self.backup_path.unlink(missing_ok=True)
        return state

    def keep_copy(self, name: str) -> Path | None:
        """A copy of the file as it stands, whatever is in it; None when there is none."""
        if not self.path.is_file():
            return None
        copy = self.path.with_name(f"{self.path.name}.{name}-{time.time_ns()}")
        with disk_errors(copy):
            write_atomically(copy, self.path.read_bytes(), durable=True)
            for old in sorted(self.root.glob(f"{self.path.name}.{name}-*"))[:-COPIES_KEPT]:
                old.unlink(missing_ok=True)
        return copy

    def restore_backup(self, change: Change = lambda state: state) -> State:
        """Puts the backup, changed like that, in place of the state; what was there is set aside under another name.

        In one go: whoever watches the state acts upon it at once.
        """
        with self._lock_existing():
            backup = self.load_backup()
            state = self._dated(self._checked(change(backup), backup), backup.clock)
            with disk_errors(self.path):
                _set_aside(self.path)
                write_atomically(self.path, self._to_json(state), durable=True)
        return state

    def _decode(self, raw: bytes, path: Path) -> State:
        return decode(_from_json(raw, path), source=str(path))

    @contextmanager
    def _advice(self) -> Iterator[None]:
        """Says with every trouble of the state whether the backup could help."""
        try:
            yield
        except StateNewerError:
            raise
        except StateMissingError as error:
            error.hint = self._usable_backup() or (REBUILD if self._is_of_a_root() else error.hint)
            raise
        except StateError as error:
            error.hint = f"{error.hint}; {self._usable_backup() or f'there is no usable backup; {REBUILD}'}"
            raise

    def _usable_backup(self) -> str:
        try:
            self.load_backup()
            seconds = self._clock().unix - self.backup_path.stat().st_mtime
        except (StateError, DiskError, OSError):
            return ""
        return f"`llmc doctor --repair` can restore {self.backup_path.name} ({_age(seconds)} old)"

    def _is_of_a_root(self) -> bool:
        """Whether there is something that the state could be made from again."""
        return (self.root / "config.toml").exists()

    def _lock(self) -> FileLock:
        return FileLock(self.root / "state.lock", name="the state", timeout=self._lock_timeout)

    def _lock_existing(self) -> FileLock:
        """Leaves no lock file in a directory that is no LLMC root."""
        if not self.exists and _is_absent(self.backup_path):
            with self._advice():
                raise _missing(self.path)
        return self._lock()

    def _refuse_to_overwrite(self) -> None:
        if self.exists:
            raise StateExistsError(f"{self.path} is there already", "use it, or choose another root")
        if not _is_absent(self.backup_path):
            raise StateExistsError(f"{self.path} is gone, but its backup is there", "run `llmc doctor --repair`")

    def _apply(self, change: Change, before: State) -> State:
        after = self._checked(change(before), before)
        if after == before:
            return before
        after = self._dated(after, before.clock)
        data = self._to_json(after)
        with disk_errors(self.path):
            write_atomically(self.path, data, durable=True, previous=self.backup_path)
        self._known = data, after
        return after

    def _checked(self, after: State, before: State) -> State:
        """As it will be read again. Workers that did not change were checked when they came from the file."""
        changed = {key: worker for key, worker in after.workers.items() if before.workers.get(key) is not worker}
        read_again = parse(encode(replace(after, workers=changed)), source="the new state")
        workers = {key: read_again.workers.get(key, worker) for key, worker in after.workers.items()}
        after = replace(read_again, workers=MappingProxyType(workers))
        if problems := check(after):
            raise StateInvalidError("the new state", problems)
        return after

    def _dated(self, state: State, before: Clock | None) -> State:
        return replace(state, clock=following(before, self._clock()))

    def _to_json(self, state: State) -> bytes:
        self._written = {name: self._with_text(name, worker) for name, worker in state.workers.items()}
        before, _, after = _ENCODER.encode(encode(replace(state, workers={}))).encode().partition(b"{}")
        return b"".join((before, b"{", b",\n".join(text for _, text in self._written.values()), b"}", after, b"\n"))

    def _with_text(self, name: str, worker: Worker) -> tuple[Worker, bytes]:
        written = self._written.get(name)
        if written is not None and written[0] is worker:
            return written
        return worker, _ENCODER.encode({name: encode_worker(worker)})[1:-1].encode()


def _from_json(raw: bytes, path: Path) -> object:
    try:
        return json.loads(raw, object_pairs_hook=_unique, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        why = f"line {error.lineno}, column {error.colno}: {error.msg}" if raw.strip() else "it is empty"
    except (ValueError, RecursionError) as error:
        why = str(error)
    raise StateBrokenError(f"{path} is damaged: {why}", "fix it in an editor or run `llmc doctor --repair`")


def _missing(path: Path) -> StateMissingError:
    return StateMissingError(f"there is no {path}", "run `llmc init`")


def _read_regular(path: Path) -> bytes:
    try:
        fd = open_regular(path, os.O_RDONLY)
    except (FileNotFoundError, NotADirectoryError):
        raise _missing(path) from None
    except OSError as error:
        raise disk_error(path, error) from error
    if fd is None:
        raise StateBrokenError(f"{path} is not a file of its own", "move it away, then run `llmc doctor --repair`")
    with open(fd, "rb") as file:
        return file.read()


def _is_absent(path: Path) -> bool:
    """Whether there is nothing for sure; a directory that may not be looked into proves nothing."""
    try:
        path.lstat()
    except OSError as error:
        return isinstance(error, FileNotFoundError | NotADirectoryError)
    return False


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Python's parser would silently keep the last of two workers with one name."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(name for name in names if names.count(name) > 1)!r} stands there twice")
    return found


def _refuse(constant: str) -> object:
    raise ValueError(f"{constant} is not a number")


def _set_aside(path: Path) -> None:
    aside = path.with_name(f"{path.name}.aside-{time.time_ns()}")
    try:
        aside.hardlink_to(path)
    except FileNotFoundError:
        pass
    except OSError:  # a directory, or a file system without hard links
        path.rename(aside)


def _age(seconds: float) -> str:
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= length:
            count = int(seconds // length)
            return f"{count} {unit}{'s' if count > 1 else ''}"
    return "less than a minute"
