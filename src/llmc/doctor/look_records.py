"""The daemon, the locks, the logs and the reports of a root, looked at without touching them."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from llmc.core.lifecycle.clocks import elapsed
from llmc.doctor.health import Absent, Answer, Daemon, Found, Spool, Unreadable
from llmc.errors import LlmcError
from llmc.root import Root
from llmc.store.landing_journal import LandingJournal
from llmc.store.lock import is_held, read_holder
from llmc.store.spool import look_into


def look_at_daemon(root: Root) -> Answer[Daemon]:
    holder = is_held(root.daemon_lock)
    if holder is not None:
        return Found(Daemon(holder.pid, holder.since_unix, running=True))
    # Whoever ends in good order takes the name out of the file.
    last = read_holder(root.daemon_lock)
    return Found(Daemon(last.pid, last.since_unix, running=False)) if last.pid else Absent()


def names_acted_for(root: Root) -> Answer[frozenset[str]]:
    """The workers that a command or the daemon does something for right now."""
    locks = _files_in(Path(root.inside("run", "locks")), ".lock")
    return Found(frozenset(path.stem for path in locks if is_held(path) is not None))


def look_at_spool(root: Root, worker: str, now: float) -> Answer[Spool]:
    times, bad = look_into(root.spool(worker))
    return Found(Spool(len(times), elapsed(min(times, default=now), now), bad))


def find_unreadable(root: Root) -> Answer[tuple[Unreadable, ...]]:
    troubles = {root.event_log: _event_log_trouble(Path(root.event_log))}
    troubles |= {str(path): _log_trouble(path) for path in _files_in(Path(root.logs), ".log")}
    troubles[root.landings] = _journal_trouble(root)
    return Found(tuple(Unreadable(path, why) for path, why in troubles.items() if why))


def _files_in(directory: Path, ending: str) -> list[Path]:
    """Unlike `glob`, which finds nothing in a directory that may not be read, this raises then."""
    try:
        return [each for each in directory.iterdir() if each.name.endswith(ending) and not each.name.startswith(".")]
    except FileNotFoundError:
        return []


def _log_trouble(path: Path) -> str:
    if not path.is_file():
        return "it is not a file"
    return "" if os.access(path, os.R_OK) else "you may not read it"


def _journal_trouble(root: Root) -> str:
    try:
        LandingJournal(root.landings).read()
    except LlmcError as broken:
        return broken.what
    return ""


def _event_log_trouble(path: Path) -> str:
    if not os.path.lexists(path):
        return ""
    if trouble := _log_trouble(path):
        return trouble
    # A database that somebody has open has its other files beside it. Without them SQLite would make them.
    in_use = all(path.with_name(path.name + suffix).exists() for suffix in ("-wal", "-shm"))
    address = f"file:{quote(str(path))}?{'mode=ro' if in_use else 'immutable=1'}"
    try:
        with closing(sqlite3.connect(address, uri=True)) as database:
            if database.execute("PRAGMA user_version").fetchone()[0]:
                database.execute("SELECT max(id) FROM events").fetchone()
            (verdict,) = database.execute("PRAGMA integrity_check(1)").fetchone()
    except sqlite3.Error as error:
        return str(error)
    return "" if verdict == "ok" else str(verdict).splitlines()[0]
