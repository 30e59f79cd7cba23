"""How the CLI of a supervisor reaches the tools of LLMC: a small program beside its settings joins it to its socket.

The program needs nothing but Python itself, so that it runs behind the fence as well.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from llmc.agents.base import LaunchOrder

SERVER = "llmc"
"""What the CLI calls it."""
BRIDGE = """\
# Joins an agent to the tools of LLMC. Written by LLMC anew at every start.
import os, socket, sys, threading, time

os.chdir(os.path.dirname(os.path.abspath(__file__)))
until = time.monotonic() + 20
while True:
    tools = socket.socket(socket.AF_UNIX)
    try:
        tools.connect("tools.socket")
        break
    except OSError as refused:
        tools.close()
        if time.monotonic() > until:
            sys.exit(f"error: the tools of LLMC cannot be reached: {refused}\\nhint: is the daemon running? `llmc up`")
        time.sleep(0.1)


def forward():
    try:
        while data := os.read(0, 65536):
            tools.sendall(data)
        tools.shutdown(socket.SHUT_WR)
    except OSError:
        os._exit(0)


threading.Thread(target=forward, daemon=True).start()
try:
    while data := tools.recv(65536):
        while data:
            data = data[os.write(1, data) :]
except OSError:
    pass
os._exit(0)
"""


def bridge_path(order: LaunchOrder) -> str:
    return f"{order.settings_dir}/tools.py"


def bridge_command(order: LaunchOrder) -> list[str]:
    """Empty where the worker is no supervisor. The interpreter itself: an environment may lie in somebody's home."""
    return [os.path.realpath(sys.executable), "-I", "-S", bridge_path(order)] if order.delegates else []


def bridge_files(order: LaunchOrder) -> Mapping[str, str]:
    return {bridge_path(order): BRIDGE} if order.delegates else {}
