"""`llmc` in a process of its own, without the time that Python takes to start: one that has all of it loaded forks.

For tests that type many commands: each has its own words, variables, directory, files and end, as if it had been
started. What Python reads when it starts (`LANG`, `PYTHON...`) is not read again, and what others see of the process
(its command line, its first variables) is that of the loaded one: a daemon is better started in the cold.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from struct import Struct
from typing import IO, NoReturn

import llmc.commands
from llmc.cli.main import entry

LENGTH_BYTES = 8
NUMBER_BYTES = 4
CREDENTIALS = Struct("3i")
READ_AT_START = ("LANG", "LC_", "PYTHON", "TZ")
AT_START = {"LANG": "C.UTF-8"}
"""What the loaded process was started with."""


def can_be_warm(env: Mapping[str, str]) -> bool:
    """Whether a command with these variables would have been started as the loaded process was."""
    read = {name: value for name, value in env.items() if name.startswith(READ_AT_START)}
    return {name: value for name, value in read.items() if name != "PYTHONDONTWRITEBYTECODE"} == AT_START


# --- who asks ---------------------------------------------------------------------------------------


class WarmCommand:
    """A command that runs; as `subprocess.Popen` shows one."""

    def __init__(self, words: Sequence[str], connection: socket.socket) -> None:
        self.args = ["llmc", *words]
        self.returncode: int | None = None
        self._connection = connection
        self.pid = _sender(connection)

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            if not select.select([self._connection], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(self.args, timeout or 0.0)
            self.returncode = number_in(self._connection)
            self._connection.close()
        return self.returncode

    def poll(self) -> int | None:
        try:
            return self.wait(timeout=0)
        except subprocess.TimeoutExpired:
            return None

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


@dataclass(frozen=True, slots=True)
class WarmLlmc:
    """A process that has all of `llmc` loaded, by the place where it listens."""

    place: str

    def start(
        self,
        words: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: Path,
        stdin: IO[bytes],
        stdout: IO[bytes],
        stderr: IO[bytes],
    ) -> WarmCommand:
        """`llmc WORDS`, under way."""
        order = json.dumps({"words": list(words), "env": dict(env), "cwd": str(cwd)}).encode()
        asking = socket.socket(socket.AF_UNIX)
        try:
            asking.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
            asking.connect(self.place)
            streams = [stream.fileno() for stream in (stdin, stdout, stderr)]
            socket.send_fds(asking, [len(order).to_bytes(LENGTH_BYTES)], streams)
            asking.sendall(order)
            return WarmCommand(words, asking)
        except BaseException:
            asking.close()
            raise

    def run(
        self, words: Sequence[str], *, env: Mapping[str, str], cwd: Path, timeout: float, stdin: bytes = b""
    ) -> subprocess.CompletedProcess[bytes]:
        """`llmc WORDS` to its end."""
        with tempfile.TemporaryFile() as entered, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            entered.write(stdin)
            entered.seek(0)
            command = self.start(words, env=env, cwd=cwd, stdin=entered, stdout=out, stderr=err)
            try:
                code = command.wait(timeout)
            except BaseException:
                command.kill()
                command.wait()
                raise
            written = [os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0) for file in (out, err)]
            return subprocess.CompletedProcess(command.args, code, *written)


@contextmanager
def warm_llmc(entering: Sequence[str] = ()) -> Iterator[WarmLlmc]:
    """It ends with the context. `entering` are words before its own, to have it on another machine with these files."""
    with tempfile.TemporaryDirectory(prefix="llmc-w-") as directory, socket.socket(socket.AF_UNIX) as listening:
        place = f"{directory}/socket"
        listening.bind(place)
        listening.listen()
        number = listening.fileno()
        argv = [*entering, sys.executable, "-P", __file__, str(number)]
        env = {"PATH": os.environ["PATH"], **AT_START}
        loaded = subprocess.Popen(argv, stdin=subprocess.PIPE, pass_fds=[number], env=env, cwd="/")
        try:
            yield WarmLlmc(place)
        finally:
            loaded.communicate()


@cache
def the_warm_llmc() -> WarmLlmc:
    """That of this process, until it ends."""
    context = warm_llmc()
    loaded = context.__enter__()
    atexit.register(context.__exit__, None, None, None)
    return loaded


def _sender(connection: socket.socket) -> int:
    """The process that says the first word; by its number here, if it is on another machine."""
    word, beside, _, _ = connection.recvmsg(1, socket.CMSG_SPACE(CREDENTIALS.size))
    assert word, "the process that has llmc loaded has ended"
    (_, _, who), *_ = beside
    pid: int = CREDENTIALS.unpack(who)[0]
    return pid


def number_in(connection: socket.socket) -> int:
    return int.from_bytes(exactly(connection, NUMBER_BYTES), signed=True)


def exactly(connection: socket.socket, size: int) -> bytes:
    got = b""
    while len(got) < size:
        more = connection.recv(size - len(got))
        assert more, "the process that has llmc loaded has ended"
        got += more
    return got


# --- who has it loaded ------------------------------------------------------------------------------


def serve(listening: socket.socket) -> None:
    """Until whoever started it closes its standard input."""
    for module in iter_modules(llmc.commands.__path__):
        import_module(f"llmc.commands.{module.name}")
    gc.collect()
    gc.freeze()  # what is never looked at need not be copied for each command
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while listening in select.select([listening, sys.stdin], [], [])[0]:
        client, _ = listening.accept()
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            listening.close()
            _attend(client)
        client.close()


def _attend(client: socket.socket) -> NoReturn:
    length, streams, _, _ = socket.recv_fds(client, LENGTH_BYTES, 3)
    order = json.loads(exactly(client, int.from_bytes(length)))
    pid = os.fork()
    if pid == 0:
        client.sendall(b".")
        client.close()
        _become(order["words"], order["env"], order["cwd"], streams)
    for stream in streams:
        os.close(stream)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    client.sendall(code.to_bytes(NUMBER_BYTES, signed=True))
    os._exit(0)


def _become(words: list[str], env: dict[str, str], cwd: str, streams: list[int]) -> NoReturn:
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd)
    sys.argv = ["llmc", *words]
    entry()


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
