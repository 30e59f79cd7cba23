"""A server of CLI Agent Orchestrator, on loopback and without sessions, so that its commands have somebody to ask."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.peers import ORCHESTRATOR, own_home
from testing.waiting import wait_until

PATIENCE_SECS = 60.0


@contextmanager
def orchestrator_server(home: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Its pid, and the environment in which its commands find it."""
    home.mkdir()
    port = _free_port()
    env = own_home(str(home)) | {"CAO_API_PORT": str(port)}
    program = Path(ORCHESTRATOR.program).with_name("cao-server")
    with open(home / "server.log", "wb") as log:
        server = subprocess.Popen([program], cwd=home, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        wait_until(lambda: _answers(port), PATIENCE_SECS)
        yield server.pid, env
    finally:
        server.terminate()
        server.wait()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as any_port:
        return int(any_port.getsockname()[1])


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1.0).close()
    except OSError:
        return False
    return True
