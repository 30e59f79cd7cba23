"""The `llmc` command as a person runs it: a process of its own, with no way to the settings of whoever tests it."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import subprocess
import sysconfig
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Self

from testing.roots import GLOBAL_CONFIG
from testing.warm_llmc import run_warm

Changes = Mapping[str, str | None]
NO_CHANGES: Changes = MappingProxyType({})
PROGRAM = Path(sysconfig.get_path("scripts"), "llmc")
AT_ONCE = 2
READ_AT_START = ("LANG", "LC_", "PYTHON", "TZ")
PATIENCE_SECS = 300.0
"""For a command that hangs; none that tests run takes more than a few seconds."""


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
    """Words before the command, to run it in another place or with fewer rights."""
    program: Path = PROGRAM
    _sockets: Path | None = None

    def run(
        self,
        *words: str,
        check: bool = True,
        stdin: bytes | None = None,
        cwd: Path | None = None,
        timeout: float = PATIENCE_SECS,
        env: Changes = NO_CHANGES,
    ) -> Said:
        """`llmc WORDS`, to its end. `env` has the variables that differ from the usual ones; None takes one away."""
        done = subprocess.run(
            self.command(*words),
            input=b"" if stdin is None else stdin,
            capture_output=True,
            env=self.environment(env),
            cwd=cwd or self.home,
            timeout=timeout,
            check=False,
        )
        said = said_by(done)
        if check and said.code != 0:
            raise CommandFailedError(f"llmc {' '.join(words)} ended with {said.code}:\n{said.words}")
        return said

    def run_all(self, lines: Iterable[Sequence[str]], env: Changes = NO_CHANGES) -> dict[str, Said]:
        """Each of the commands, two at a time, whatever comes of them; by their words."""
        with ThreadPoolExecutor(AT_ONCE) as pool:
            begun = {" ".join(words): pool.submit(self._one_of_many, words, env) for words in lines}
            return {words: said.result() for words, said in begun.items()}

    def _one_of_many(self, words: Sequence[str], env: Changes) -> Said:
        if self.prefix or any(name.startswith(READ_AT_START) for name in env):
            return self.run(*words, check=False, env=env)
        return said_by(run_warm(words, env=self.environment(env), cwd=self.home, timeout=PATIENCE_SECS))

    def command(self, *words: str) -> list[str]:
        return [*self.prefix, str(self.program), *words]

    def environment(self, changes: Changes = NO_CHANGES) -> dict[str, str]:
        usual: dict[str, str | None] = {
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
        return {name: value for name, value in (usual | dict(changes)).items() if value is not None}

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


def said_by(done: subprocess.CompletedProcess[bytes]) -> Said:
    return Said(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))


def wrong_about(said: Said, *codes: int) -> list[str]:
    """What keeps this from being a proper refusal: error, hint, one of these exit codes, nothing else."""
    lines = said.err.splitlines()
    tests = {
        f"the exit code is {said.code}": said.code not in (codes or (1, 2)),
        f"it answers {said.out!r}": said.out != "",
        f"it does not begin with error and hint: {said.err!r}": [line.partition(": ")[0] for line in lines[:2]]
        != ["error", "hint"],
        f"it shows a traceback: {said.err}": "Traceback" in said.err,
        f"it sends control characters to the terminal: {said.err!r}": not "".join(lines).isprintable(),
    }
    return [complaint for complaint, found in tests.items() if found]


def listing(directory: Path) -> dict[str, str]:
    """Everything below a directory but lock files: kind, mode and content of each entry."""
    found = {str(path.relative_to(directory)): path for path in sorted(directory.rglob("*"))}
    # SQLite's own files come and go with whoever reads.
    return {name: _entry(path) for name, path in found.items() if not name.endswith((".lock", ".pane", "-shm", "-wal"))}


def _entry(path: Path) -> str:
    status = path.lstat()
    mode = stat.filemode(status.st_mode)
    if stat.S_ISLNK(status.st_mode):
        return f"{mode} {os.readlink(path)}"
    if stat.S_ISREG(status.st_mode):
        return f"{mode} {hashlib.sha256(path.read_bytes()).hexdigest()[:16]}"
    return mode
