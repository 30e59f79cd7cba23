"""A person at a tmux of their own: its status line and messages are read through another tmux around it."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from testing.commands import PATIENCE_SECS, PROGRAM, Said, said_by
from testing.terminals import end_servers
from testing.waiting import wait_until
from testing.warm_llmc import can_be_warm, the_warm_llmc

SIZE = ("180", "30")


@dataclass(slots=True)
class Desk:
    """`llmc` is said inside the person's tmux, in the first window of the session `main`."""

    home: Path
    outside: bool = False
    """Said in a plain terminal instead."""
    prefix: Sequence[str] = ()
    """Words before every command, to run it on another machine."""
    env: Mapping[str, str] = field(default_factory=lambda: os.environ)

    @property
    def root(self) -> Path:
        return self.home / "llmc"

    def tmux(self, *words: str, server: str = "user") -> str:
        argv = [*self.prefix, "tmux", "-L", server, *words]
        done = subprocess.run(argv, capture_output=True, text=True, env=self.env, check=False)
        assert done.returncode == 0, f"tmux {words}: {done.stderr}"
        return done.stdout.rstrip("\n")

    def llmc(self, *words: str, code: int = 0) -> Said:
        said = self.try_llmc(*words)
        assert said.code == code, f"llmc {' '.join(words)}: {said}\n{self.log()}"
        return said

    def try_llmc(self, *words: str) -> Said:
        env = self.environment()
        if self.prefix or not can_be_warm(env):
            argv = [*self.prefix, "env", f"--chdir={self.home}", str(PROGRAM), *words]
            done = subprocess.run(argv, capture_output=True, env=env, timeout=PATIENCE_SECS, check=False)
        else:
            done = the_warm_llmc().run(words, env=env, cwd=self.home, timeout=PATIENCE_SECS)
        return said_by(done)

    def environment(self) -> dict[str, str]:
        env = {**self.env, "HOME": str(self.home), "LANG": "C.UTF-8", "SHELL": "/bin/bash"}
        if not self.outside:
            env["TMUX"] = self.tmux("display-message", "-p", "#{socket_path},#{pid},0")
            env["TMUX_PANE"] = self.tmux("display-message", "-p", "-t", "=main:0", "#{pane_id}")
        return env

    def json(self, *words: str) -> Any:  # noqa: ANN401 - whatever the command answers
        return json.loads(self.llmc(*words, "--json").out)

    def state(self, name: str) -> str:
        return str(self.status(name).get("state", ""))

    def status(self, name: str) -> dict[str, Any]:
        """As it stands in the cache."""
        try:
            found = json.loads((self.root / ".workers" / name / "status.json").read_text())
        except FileNotFoundError:
            return {}
        assert isinstance(found, dict)
        return found

    def row(self, name: str) -> tuple[str, str]:
        """State and summary, as they stand in the database."""
        query = "SELECT state, summary FROM status WHERE id = ?"
        with closing(sqlite3.connect(self.root / ".workers" / "status.db")) as database:
            has_tables = database.execute("SELECT 1 FROM sqlite_master WHERE name = 'status'").fetchone()
            found = database.execute(query, (name,)).fetchone() if has_tables else None
        return tuple(found) if found else ("", "")

    def pane(self, name: str) -> str:
        return str(json.loads((self.root / ".workers" / name / "terminal.json").read_text())["pane"])

    def type(self, name: str, line: str) -> None:
        self.tmux("send-keys", "-t", self.pane(name), "-l", line)
        self.tmux("send-keys", "-t", self.pane(name), "Enter")

    def look(self) -> str:
        """All that the person sees, the status line included."""
        return self.tmux("capture-pane", "-p", "-t", "around:", server="around")

    def until(self, condition: Any, timeout: float = 40.0) -> Any:  # noqa: ANN401 - what the condition answers
        try:
            return wait_until(condition, timeout)
        except AssertionError as late:
            raise AssertionError(f"{late}\n{self.look()}\n{self.log()}") from None

    def complaints(self) -> list[str]:
        """What the watcher said is wrong."""
        return [str(json.loads(line)["text"]) for line in self.log().splitlines() if line.startswith("{")]

    def log(self) -> str:
        path = self.root / ".workers" / "watch.log"
        return path.read_text() if path.exists() else ""


@contextmanager
def at_desk(home: Path, prefix: Sequence[str] = (), env: Mapping[str, str] | None = None) -> Iterator[Desk]:
    """With a prefix, it stands on a machine that ends by itself."""
    home.mkdir(parents=True, exist_ok=True)
    (home / ".bashrc").write_text("PS1='$ '\n")
    desk = Desk(home, prefix=prefix, env=env or os.environ)
    shell = ("env", f"HOME={home}", "LANG=C.UTF-8", "bash", "--noprofile")
    try:
        width, height = SIZE
        desk.tmux(
            "-f", "/dev/null", "new-session", "-d", "-s", "main", "-n", "first", "-x", width, "-y", height, *shell
        )
        desk.tmux("set-option", "-g", "automatic-rename", "off")
        desk.tmux("set-option", "-g", "default-command", " ".join(shell))
        attach = ("env", "-u", "TMUX", "tmux", "-L", "user", "attach-session", "-t", "=main")
        around = ("new-session", "-d", "-s", "around", "-x", width, "-y", height)
        desk.tmux("-f", "/dev/null", *around, *attach, server="around")
        wait_until(lambda: desk.tmux("list-clients", "-F", "#{client_name}"))
        yield desk
    finally:
        desk.outside = True
        stop = [*prefix, str(PROGRAM), "pty", "watch", "--stop"]
        subprocess.run(stop, env=desk.environment(), capture_output=True, check=False)
        if not prefix:
            end_servers(os.environ["TMUX_TMPDIR"])
