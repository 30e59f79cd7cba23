"""One daemon per root: the lock that says so, and finding the one that runs."""

from __future__ import annotations

import time

from llmc.errors import LlmcError
from llmc.host.locks import FileLock, Holder, is_held
from llmc.host.processes import is_running
from llmc.root import Root

TAKE_OVER_SECS = 1.0
"""Somebody who only asks whether a daemon runs holds the lock for an instant."""
DEAD_HOLDER_SECS = 10.0
"""One that was killed holds its locks until the last of its threads has ended: on a busy machine that takes a while."""
PAUSE_SECS = 0.02


class DaemonRunsError(LlmcError):
    """There is a daemon for this root already."""


def daemon_lock(root: Root) -> FileLock:
    return FileLock(root.daemon_lock, name="the daemon", timeout=TAKE_OVER_SECS)


def running_daemon(root: Root) -> Holder | None:
    return living_holder(root.daemon_lock)


def living_holder(path: str) -> Holder | None:
    """Who holds the lock, once everybody who was killed has let go of it."""
    deadline = time.monotonic() + DEAD_HOLDER_SECS
    while (holder := is_held(path)) and not is_running(holder.pid) and time.monotonic() < deadline:
        time.sleep(PAUSE_SECS)
    return holder


def refuse_second(root: Root) -> None:
    holder = running_daemon(root)
    if holder is not None:
        raise DaemonRunsError(
            f"the daemon of {root.path} runs already (pid {holder.pid})",
            "see `llmc status`, or stop it with `llmc down`",
        )
