"""A command at a terminal of its own: what it shows there, and what a person answers."""

from __future__ import annotations

import contextlib
import os
import pty
import subprocess
import termios
from collections.abc import Mapping, Sequence
from pathlib import Path


def run_at_terminal(
    argv: Sequence[str], env: Mapping[str, str], cwd: Path, answers: str = "", columns: int = 80
) -> tuple[int, str]:
    """Exit code and everything that was shown. `answers` wait in the terminal as if typed ahead."""
    keyboard, terminal = pty.openpty()
    termios.tcsetwinsize(terminal, (24, columns))
    os.write(keyboard, answers.encode())
    process = subprocess.Popen(
        argv, stdin=terminal, stdout=terminal, stderr=terminal, env=dict(env), cwd=cwd, start_new_session=True
    )
    os.close(terminal)
    shown = b""
    with contextlib.suppress(OSError):  # so a terminal says that nobody has it open any more
        while part := os.read(keyboard, 1 << 16):
            shown += part
    os.close(keyboard)
    return process.wait(), shown.decode(errors="replace").replace("\r\n", "\n")
