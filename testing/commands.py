"""The `llmc` command as a person runs it: a process of its own, with no way to the settings of whoever tests it."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import subprocess
import sysconfig
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from testing.roots import GLOBAL_CONFIG

PROGRAM = Path(sysconfig.get_path("scripts"), "llmc")
PATIENCE_SECS = 60.0
"""For a command that hangs; none that these tests run takes more than a few seconds."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a command left: its exit code and its words."""

    code: int
    out: str
    err: str

    @property
    def words(self) -> str:
        return self.out + self.err


class CommandFailedError(AssertionError):
    """A command that had to succeed did not."""


@dataclass(slots=True)
class Llmc:
    """One user with one root. As a context, everything that was started ends with it."""

    home: Path
    root: Path
    prefix: Sequence[str] = ()
    """Words before the command, such as `setpriv ... --`."""
    changes: Mapping[str, str | None] = field(default_factory=dict)
    """Variables that differ from the usual ones; None: not set."""
    _sockets: Path | None = None

    def run(
        self,
        *words: str | bytes,
        check: bool = True,
        stdin: bytes | None = None,
        cwd: Path | None = None,
        timeout: float = PATIENCE_SECS,
        **changes: str | None,
    ) -> Said:
        """`llmc WORDS`, to its end. `changes` are variables of the environment; None takes one away."""
        done = subprocess.run(
            [*self.prefix, PROGRAM, *words],
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environment(**changes),
            cwd=cwd or self.home,
            timeout=timeout,
            check=False,
        )
        said = Said(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))
        if check and said.code != 0:
            raise CommandFailedError(f"llmc {words} ended with {said.code}:\n{said.words}")
        return said

    def environment(self, **changes: str | None) -> dict[str, str]:
        usual = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "XDG_CONFIG_HOME": str(self.home / "config"),
            "GIT_CONFIG_GLOBAL": str(self._git_settings()),
            "GIT_CONFIG_NOSYSTEM": "1",
            "TMUX_TMPDIR": str(self.sockets),
            "LLMC_ROOT": str(self.root),
        }
        return {name: value for name, value in (usual | dict(self.changes) | changes).items() if value is not None}

    @property
    def sockets(self) -> Path:
        """Where this user's tmux servers are. A socket's path may have 107 bytes at most: not below the home."""
        if self._sockets is None:
            self._sockets = Path(tempfile.mkdtemp(prefix="llmc-t-"))
        return self._sockets

    def _git_settings(self) -> Path:
        settings = self.home / "gitconfig"
        if not settings.exists():
            self.home.mkdir(parents=True, exist_ok=True)
            settings.write_text(GLOBAL_CONFIG)
        return settings

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.run("down", "--force", check=False)
        for socket in self.sockets.glob("tmux-*/*"):
            subprocess.run(["tmux", "-S", socket, "kill-server"], capture_output=True, check=False)
        shutil.rmtree(self.sockets)


def listing(directory: Path) -> dict[str, str]:
    """Everything below a directory: kind, mode and content of each entry. What is in a lock file does not matter."""
    found = {}
    for path in sorted(directory.rglob("*")):
        status = path.lstat()
        mode = stat.filemode(status.st_mode)
        if stat.S_ISLNK(status.st_mode):
            mode += f" -> {os.readlink(path)}"
        elif stat.S_ISREG(status.st_mode) and path.suffix not in (".lock", ".pane"):
            mode += f" {hashlib.sha256(path.read_bytes()).hexdigest()[:16]}"
        found[str(path.relative_to(directory))] = mode
    return found
