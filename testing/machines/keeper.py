"""The first process of the outer namespaces: has `llmc` loaded and makes machines by forking; all ends with it."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path
from typing import Any, NoReturn

from testing.machines import kernel
from testing.machines.boot import boot
from testing.machines.plan import HUB, Plot
from testing.warm_llmc import Streams, listening_at, load, name_process, run_ordered, serve, tell

READY = b"ready\n"


def keep(place: str) -> None:
    """Until standard input is closed."""
    kernel.make_private()
    kernel.name_host("hub")
    kernel.mount("tmpfs", f"{place}/disks", "mode=755")
    kernel.mount("tmpfs", "/run", "mode=755")
    kernel.bind(f"{place}/passwd", "/etc/passwd")
    kernel.ip("link set lo up", "link add hub type bridge", f"addr add {HUB}/24 dev hub", "link set hub up")
    name_process("keeper")
    load()
    listening = listening_at(f"{place}/socket")
    os.write(1, READY)
    serve(listening, attend=_attend, until=sys.stdin.fileno())


def _attend(client: socket.socket, order: dict[str, Any], streams: Streams) -> NoReturn:
    os.chdir("/")
    if "boot" in order:
        _boot(client, Plot(**order["boot"]), streams)
    run_ordered(client, order, streams)


def _boot(client: socket.socket, plot: Plot, streams: Streams) -> NoReturn:
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    pid, middle = boot(plot)
    tell(client, pid)
    code = os.waitstatus_to_exitcode(os.waitpid(middle, 0)[1])
    tell(client, code)
    os._exit(0)


if __name__ == "__main__":
    keep(str(Path(sys.argv[1]).resolve()))
