"""Looking into a SQLite file of a root without changing anything there, not even the files beside it."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

from llmc.doctor.answers import Absent, Answer, Broken, Found, Newer
from llmc.store.database import is_damage

LOCKED_SECS = 1.0


def read_database(path: Path, version: int, query: str) -> Answer[list[tuple[Any, ...]]]:
    """What it answers, if it is whole and of this version or an older one."""
    if not os.path.lexists(path):
        return Absent()
    if trouble := file_trouble(path):
        return Broken(trouble)
    try:
        with closing(sqlite3.connect(_address(path), uri=True)) as database:
            (found,) = database.execute("PRAGMA user_version").fetchone()
            if found > version:
                return Newer(f"{path.name} was made by a newer llmc")
            rows = database.execute(query).fetchall() if found else []
            (verdict,) = database.execute("PRAGMA integrity_check(1)").fetchone()
    except sqlite3.Error as error:
        return Broken(str(error))
    return Found(rows) if verdict == "ok" else Broken(str(verdict).splitlines()[0])


def file_trouble(path: Path) -> str:
    if path.is_symlink():
        return "it is a link"
    if not path.is_file():
        return "it is not a file"
    return "" if os.access(path, os.R_OK) else "you may not read it"


def is_locked(path: Path) -> bool:
    """Whether somebody keeps everybody else from writing, for longer than LLMC does."""
    if not _is_in_use(path):
        return False
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=rw", uri=True, timeout=LOCKED_SECS)) as database:
            database.execute("BEGIN IMMEDIATE")
            database.rollback()
    except sqlite3.Error as error:
        return not is_damage(error) and "locked" in str(error)
    return False


def _address(path: Path) -> str:
    return f"file:{quote(str(path))}?{'mode=ro' if _is_in_use(path) else 'immutable=1'}"


def _is_in_use(path: Path) -> bool:
    """A database that somebody has open has its other files beside it. Without them SQLite would make them."""
    return all(path.with_name(path.name + suffix).exists() for suffix in ("-wal", "-shm"))
