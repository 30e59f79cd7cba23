"""Unix sockets at paths of any length, and programs that are given a connection for standard input and output."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from llmc.host.files import open_own

MOST_WAITING = 16


def listen_at(path: str) -> socket.socket:
    """For this user alone. Whatever was there before is gone: a socket outlives whoever listened at it."""
    listening = socket.socket(socket.AF_UNIX)
    try:
        with suppress(FileNotFoundError):
            os.unlink(path)
        with suppress(OSError):  # a system where a socket has no mode yet; the directory is this user's alone
            os.fchmod(listening.fileno(), 0o600)  # by its path it might be that of another file by then
        with _short(path) as near:
            listening.bind(near)
        listening.listen(MOST_WAITING)
    except BaseException:
        listening.close()
        raise
    return listening


@contextmanager
def _short(path: str) -> Iterator[str]:
    """The path, or one that leads to the same place: 107 bytes are all that the system takes."""
    if len(os.fsencode(path)) < 100 or not os.path.isdir("/proc/self/fd"):
        yield path
        return
    directory = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{directory}/{os.path.basename(path)}"
    finally:
        os.close(directory)


def stop_listening(listening: socket.socket, path: str) -> None:
    """Whoever waits for connections there is woken."""
    with suppress(OSError):
        listening.shutdown(socket.SHUT_RDWR)
    listening.close()
    with suppress(OSError):
        os.unlink(path)


def serve_connection(argv: Sequence[str], connection: socket.socket, log: str) -> int:
    """Runs the program with the connection as its standard input and output, to its end. It outlives this one."""
    with open(open_own(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT), "ab") as errors, connection:
        process = subprocess.Popen(
            argv, stdin=connection.fileno(), stdout=connection.fileno(), stderr=errors, start_new_session=True, cwd="/"
        )
    return process.wait()
