"""A program on a terminal of its own that the person sees, and cannot type into."""

from __future__ import annotations

import os
import pty
import select
import signal
import sys
import termios
import tty
from collections.abc import Mapping, Sequence

LEAVE = b"\x02d"
"""What makes tmux let its client go: Ctrl-b d."""
WANTS_TO_LEAVE = (b"q", b"\x03", LEAVE)


def look_on(argv: Sequence[str], env: Mapping[str, str]) -> None:
    """Until the program ends, or the person has seen enough."""
    pid, program = pty.fork()
    if pid == 0:
        os.execvpe(argv[0], list(argv), dict(env))
    keyboard, screen = sys.stdin.fileno(), sys.stdout.fileno()
    before, resized = termios.tcgetattr(keyboard), signal.getsignal(signal.SIGWINCH)

    def fit(*_: object) -> None:
        termios.tcsetwinsize(program, termios.tcgetwinsize(screen))

    fit()
    signal.signal(signal.SIGWINCH, fit)
    try:
        tty.setraw(keyboard)
        _show(program, keyboard, screen)
    finally:
        signal.signal(signal.SIGWINCH, resized)
        termios.tcsetattr(keyboard, termios.TCSAFLUSH, before)
        os.close(program)
        os.waitpid(pid, 0)


def _show(program: int, keyboard: int, screen: int) -> None:
    typed = b""
    while True:
        ready, _, _ = select.select([program, keyboard], [], [])
        if program in ready:
            try:
                shown = os.read(program, 1 << 16)
            except OSError:
                return  # so a terminal says that nobody has it open any more
            if not shown:
                return
            _write_all(screen, shown)
        if keyboard in ready:
            typed = typed[-1:] + os.read(keyboard, 1024)
            if not typed[1:] or any(way in typed for way in WANTS_TO_LEAVE):
                os.write(program, LEAVE)
                typed = b""


def _write_all(screen: int, shown: bytes) -> None:
    while shown:
        shown = shown[os.write(screen, shown) :]
