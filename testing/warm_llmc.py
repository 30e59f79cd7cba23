"""`llmc` in a process of its own, without the time that Python takes to start: one that has all of it loaded forks.

For tests that type hundreds of commands. What Python reads when it starts (`LANG`, `PYTHON...`) is not read again.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import NoReturn

import llmc.commands
from llmc.cli.main import entry

LENGTH_BYTES = 8
NUMBER_BYTES = 4


# --- who asks ---------------------------------------------------------------------------------------


@cache
def _place() -> str:
    """Where the loaded process listens; it ends with this one."""
    directory = tempfile.TemporaryDirectory(prefix="llmc-w-")
    place = f"{directory.name}/socket"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(place)
        listening.listen()
        number = listening.fileno()
        argv = [sys.executable, "-P", __file__, str(number)]
        env = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
        loaded = subprocess.Popen(argv, stdin=subprocess.PIPE, pass_fds=[number], env=env, cwd="/")
    atexit.register(directory.cleanup)
    atexit.register(loaded.communicate)
    return place


def run_warm(
    words: Sequence[str], *, env: Mapping[str, str], cwd: Path, timeout: float
) -> subprocess.CompletedProcess[bytes]:
    """`llmc WORDS` to its end, with nothing to read."""
    order = json.dumps({"words": list(words), "env": dict(env), "cwd": str(cwd)}).encode()
    with (
        open(os.devnull, "rb") as nothing,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
        socket.socket(socket.AF_UNIX) as asking,
    ):
        asking.settimeout(timeout)
        asking.connect(_place())
        streams = [nothing.fileno(), out.fileno(), err.fileno()]
        socket.send_fds(asking, [len(order).to_bytes(LENGTH_BYTES)], streams)
        asking.sendall(order)
        pid = _number(asking)
        try:
            code = _number(asking)
        except TimeoutError:
            os.kill(pid, signal.SIGKILL)
            raise
        written = [os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0) for file in (out, err)]
        return subprocess.CompletedProcess(["llmc", *words], code, *written)


def _number(connection: socket.socket) -> int:
    return int.from_bytes(_exactly(connection, NUMBER_BYTES), signed=True)


def _exactly(connection: socket.socket, size: int) -> bytes:
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
    order = json.loads(_exactly(client, int.from_bytes(length)))
    pid = os.fork()
    if pid == 0:
        client.close()
        _become(order["words"], order["env"], order["cwd"], streams)
    client.sendall(pid.to_bytes(NUMBER_BYTES, signed=True))
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
