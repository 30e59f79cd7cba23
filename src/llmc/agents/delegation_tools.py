"""How the CLI of a supervisor reaches the tools of LLMC: a small program joins it to its worker's socket."""

from __future__ import annotations

import os
import sys

from llmc.agents.base import LaunchOrder

SERVER = "llmc"
"""What the CLI calls it."""
BRIDGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tools_bridge.py")


def bridge_command(order: LaunchOrder) -> list[str]:
    """Empty where the worker is no supervisor."""
    return bridge_to(order.settings_dir) if order.delegates else []


def bridge_to(directory: str) -> list[str]:
    """The interpreter itself: an environment may lie in somebody's home."""
    return [os.path.realpath(sys.executable), "-I", "-S", BRIDGE, directory]
