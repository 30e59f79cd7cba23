"""One daemon per root: the lock that says so, and finding the one that runs."""

from __future__ import annotations

from llmc.errors import LlmcError
from llmc.root import Root
from llmc.store.lock import FileLock, Holder, is_held

TAKE_OVER_SECS = 1.0
"""Somebody who only asks whether a daemon runs holds the lock for an instant."""


class DaemonRunsError(LlmcError):
    """There is a daemon for this root already."""


def daemon_lock(root: Root) -> FileLock:
    return FileLock(root.daemon_lock, name="the daemon", timeout=TAKE_OVER_SECS)


def running_daemon(root: Root) -> Holder | None:
    return is_held(root.daemon_lock)


def refuse_second(root: Root) -> None:
    holder = running_daemon(root)
    if holder is not None:
        raise DaemonRunsError(
            f"the daemon of {root.path} runs already (pid {holder.pid})",
            "see `llmc status`, or stop it with `llmc down`",
        )
