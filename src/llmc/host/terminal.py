"""Programs that take over the person's own terminal: an editor, a pager, tmux itself."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence

from llmc.errors import LlmcError
from llmc.host.files import open_own


def run_in_terminal(argv: Sequence[str], *, cwd: str | None = None, env: Mapping[str, str] | None = None) -> int:
    """Runs a program on the person's terminal and waits for it."""
    try:
        return subprocess.run(argv, cwd=cwd, env=env, check=False).returncode
    except FileNotFoundError:
        raise LlmcError(f"{argv[0]} is not installed", f"install {argv[0]} or name another program") from None


def page(text: str, pager: str) -> bool:
    """Shows it as git would, colours included; False when there is no such program, or it fails."""
    env = {"LESS": "FRX", "LV": "-c", **os.environ}
    words = text.encode("utf-8", "backslashreplace") + b"\n"
    return subprocess.run(["sh", "-c", pager], input=words, env=env, check=False).returncode == 0


def become(argv: Sequence[str], env: Mapping[str, str]) -> None:
    """Replaces this process by the program."""
    try:
        os.execvpe(argv[0], list(argv), dict(env))
    except FileNotFoundError:
        raise LlmcError(f"{argv[0]} is not installed", f"install {argv[0]}") from None


def start_in_background(argv: Sequence[str], log: str) -> int:
    """Starts a program that outlives this one, away from the terminal. Its pid."""
    with open(open_own(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT), "ab") as output:
        process = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True, cwd="/"
        )
    # It is init's child from now on, as far as we are concerned.
    process.returncode = 0
    return process.pid
