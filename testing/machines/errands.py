"""Programs on the machines of tests, with our streams; `llmc` without the time that Python takes to start.

For tests that type hundreds of commands. What Python reads when it starts (`LANG`, `PYTHON...`) is not read again.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, NoReturn

import llmc.commands
from llmc.cli.main import entry
from testing.warm_llmc import LENGTH_BYTES, NUMBER_BYTES, exactly, number_in

Streams = Sequence[int]
Attend = Callable[[socket.socket, dict[str, Any], Streams], NoReturn]


# --- who asks ---------------------------------------------------------------------------------------


@dataclass(slots=True)
class Errand:
    """A program that runs elsewhere, with our streams."""

    connection: socket.socket
    pid: int
    """As it is counted there."""

    def ended(self, timeout: float) -> int:
        """Its exit code."""
        self.connection.settimeout(timeout)
        try:
            return number_in(self.connection)
        finally:
            self.connection.close()


def begin(place: str, order: Mapping[str, Any], streams: Streams, timeout: float) -> Errand:
    """`order` has `llmc` (the words after it) or `argv`, and `env` and `cwd`."""
    asking = socket.socket(socket.AF_UNIX)
    asking.settimeout(timeout)
    asking.connect(place)
    text = json.dumps(order).encode()
    socket.send_fds(asking, [len(text).to_bytes(LENGTH_BYTES)], list(streams))
    asking.sendall(text)
    return Errand(asking, number_in(asking))


def run_there(
    place: str,
    order: Mapping[str, Any],
    *,
    stdin: bytes = b"",
    timeout: float,
    kill: Callable[[int], None],
) -> subprocess.CompletedProcess[bytes]:
    """To its end; `kill` ends what takes longer."""
    with tempfile.TemporaryFile() as into, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        into.write(stdin)
        into.seek(0)
        errand = begin(place, order, [into.fileno(), out.fileno(), err.fileno()], timeout)
        try:
            code = errand.ended(timeout)
        except TimeoutError:
            kill(errand.pid)
            raise
        written = [os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0) for file in (out, err)]
        return subprocess.CompletedProcess(list(order.get("argv", ["llmc", *order.get("llmc", ())])), code, *written)


def listening_at(place: str) -> socket.socket:
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(place)
    listening.listen(64)
    return listening


# --- who has it loaded ------------------------------------------------------------------------------


def load() -> None:
    """All of it, so that nothing is left to be read after a fork."""
    for module in iter_modules(llmc.commands.__path__):
        import_module(f"llmc.commands.{module.name}")


def serve(listening: socket.socket, attend: Attend | None = None, until: int | None = None) -> None:
    """Until the other end of `until` is closed; each order is attended to in a process of its own."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    watched = [listening.fileno(), *([] if until is None else [until])]
    while listening.fileno() in select.select(watched, [], [])[0]:
        client, _ = listening.accept()
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            listening.close()
            length, streams, _, _ = socket.recv_fds(client, LENGTH_BYTES, 3)
            order = json.loads(exactly(client, int.from_bytes(length)))
            (attend or run_ordered)(client, order, streams)
        client.close()


def run_ordered(client: socket.socket, order: dict[str, Any], streams: Streams) -> NoReturn:
    pid = os.fork()
    if pid == 0:
        client.close()
        _become(order, streams)
    tell(client, pid)
    tell(client, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    os._exit(0)


def tell(client: socket.socket, number: int) -> None:
    """Who asked may have gone."""
    try:
        client.sendall(number.to_bytes(NUMBER_BYTES, signed=True))
    except OSError:
        os._exit(0)


def _become(order: dict[str, Any], streams: Streams) -> NoReturn:
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.environ.clear()
    os.environ.update(order["env"])
    os.chdir(order["cwd"])
    if "argv" in order:
        _run_program(order["argv"])
    sys.argv = ["llmc", *order["llmc"]]
    name_process(" ".join(sys.argv))
    entry()


def _run_program(argv: list[str]) -> NoReturn:
    try:
        os.execvpe(argv[0], argv, os.environ)
    except OSError as error:
        os.write(2, f"{argv[0]}: {error.strerror}\n".encode())
        os._exit(127)


def name_process(words: str) -> None:
    """What `/proc/PID/comm` says: a fork has the command line of whoever has forked."""
    Path("/proc/self/comm").write_text(words[:15])
