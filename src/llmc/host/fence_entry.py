"""Becomes bubblewrap: what the fence is made of stands in a file, and none of it on a command line.

Run by itself, without anything else of LLMC loaded: `python -I -S fence_entry.py ORDER`. The environment is made small
before bubblewrap starts: what its first process began with can be read from inside.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from typing import Any

FORWARDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fence_forward.py")
PROXY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fence_proxy.py")
PORT = "3128"
OF_THE_TERMINAL = ("TERM", "COLORTERM")
NAMESPACES = (
    *("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--disable-userns"),
    *("--die-with-parent", "--cap-drop", "ALL", "--hostname", "fence"),
)
PLACES = ("--dev", "/dev", "--proc", "/proc", "--tmpfs", "/var/tmp", "--dir", "/run")


def main() -> None:
    with open(sys.argv[1], "rb") as file:
        order: dict[str, Any] = json.load(file)
    kept = {name: os.environ[name] for name in (*order["kept"], *OF_THE_TERMINAL) if name in os.environ}
    environment = {**kept, **order["variables"]}
    command = order["command"]
    if order["allowed"] is not None:
        command = _behind_proxy(order, command)
    words = [*NAMESPACES, *order["network"], *order["base"], *PLACES, *order["mounts"], "--chdir", order["directory"]]
    told = ["--args", str(_in_memory("\0".join(words).encode("utf-8", "surrogateescape") + b"\0"))]
    if order["filter"]:
        told += ["--seccomp", str(_in_memory(bytes.fromhex(order["filter"])))]
    os.execve(order["program"], [order["program"], *told, "--", *command], environment)


def _in_memory(content: bytes) -> int:
    """A file that bubblewrap inherits, and that has no name."""
    fd = os.memfd_create("llmc", 0)
    os.write(fd, content)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _behind_proxy(order: dict[str, Any], command: list[str]) -> list[str]:
    """The proxy stays outside; into the fence leads one socket, through which connections are handed to it."""
    outside, inside = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if os.fork() == 0:
        os.set_inheritable(outside.fileno(), True)
        inside.close()
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        argv = [sys.executable, "-I", "-S", PROXY, str(outside.fileno()), *order["allowed"]]
        os.execve(sys.executable, argv, {**os.environ, **order["marks"]})
    outside.close()
    os.set_inheritable(inside.fileno(), True)
    return [sys.executable, "-I", "-S", FORWARDER, str(inside.detach()), PORT, *command]


if __name__ == "__main__":
    main()
