"""The place where it happens: a user with a repository, a root on a small disk of its own, workers, a daemon."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from llmc.daemon.process import running_daemon
from llmc.root import Root
from testing.commands import PROGRAM, Llmc, Said
from testing.namespace import PROJECT
from testing.roots import make_repository

DISK_MB = 400
PATIENCE_SECS = 120.0
CLOCK = PROJECT / "testing" / "chaos" / "clock"
USERS_DRAFT = "a line that the user has not committed\n"
SETTINGS = """
[agents.chaos]
command = ["{python}", "-P", "-m", "testing.chaos.agent"]
env = {{ PYTHONPATH = "{project}", LLMC_CHAOS_MEMORY = "{memory}", LLMC_CHAOS_COMMITS = "{commits}" }}
clear = "/clear"
pack = "demo"
events = true
"""
CHOICES = {"defaults.agent": "chaos", "defaults.patrol_interval_secs": "5", "backup.keep_count": "100000"}
# What LLMC or a rebase writes anew is a copy; only what an agent commits itself is an original.
HOOK = """\
#!/bin/sh
[ -n "$LLMC_CHAOS_COMMITS" ] || exit 0
[ -d "$(git rev-parse --git-path rebase-merge)" ] && exit 0
git rev-parse HEAD >>"$LLMC_CHAOS_COMMITS"
"""


@dataclass(frozen=True, slots=True)
class Sent:
    """A text that somebody tried to send, and what LLMC said of it."""

    token: str
    worker: str
    words: str
    outcome: str
    """Of the receipt; `refused` when there was none, `killed` when the sender died."""
    said: str = ""
    """What LLMC said instead of a receipt."""


@dataclass(slots=True)
class World:
    place: Path
    """On the small disk."""
    outside: Path
    """On the big one: what is kept here survives everything."""
    random: random.Random
    workers: tuple[str, ...]
    sent: list[Sent] = field(default_factory=list)
    by_hand: list[str] = field(default_factory=list)
    """What the user committed."""
    landed: list[str] = field(default_factory=list)
    """Tokens of the work that `accept` said is merged."""
    happened: dict[str, int] = field(default_factory=dict)
    serial: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _llmc: Llmc | None = None

    # --- places ---------------------------------------------------------------------------------------

    @property
    def root(self) -> Root:
        return Root(str(self.place / "llmc"))

    @property
    def source(self) -> Path:
        return self.outside / "repository"

    @property
    def memory(self) -> Path:
        return self.outside / "prompts"

    @property
    def commits(self) -> Path:
        return self.outside / "commits"

    @property
    def clock(self) -> Path:
        return self.outside / "clock"

    @property
    def llmc(self) -> Llmc:
        if self._llmc is None:
            self._llmc = Llmc(self.outside / "home", self.place / "llmc")
        return self._llmc

    # --- what people do -------------------------------------------------------------------------------

    def begin(self) -> None:
        make_repository(self.source)
        (self.source / "draft").write_text("tracked\n")
        self.git("add", "--all")
        self.git("commit", "--quiet", "-m", "a file that the user works on")
        (self.source / "draft").write_text(USERS_DRAFT)
        self.run("init", "--source", str(self.source), "--target", self.root.path, check=True)
        self._write_settings()
        for name in self.workers:
            self.run("add", name, "--agent", "chaos", check=True)
        self.run("up", "--detach", check=True)

    def _write_settings(self) -> None:
        values = {"python": sys.executable, "project": PROJECT, "memory": self.memory, "commits": self.commits}
        with open(self.root.config_file, "a", encoding="utf-8") as config:
            config.write(SETTINGS.format(**values))
        for key, value in (
            ("defaults.agent", "chaos"),
            ("backup.keep_count", "100000"),
            ("defaults.patrol_interval_secs", "5"),
        ):
            self.run("config", "set", key, value, check=True)
        hook = Path(self.root.git_dir, "hooks", "post-commit")
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(HOOK)
        hook.chmod(0o755)

    def run(self, *words: str, check: bool = False) -> Said:
        try:
            return self.llmc.run(*words, check=check, timeout=PATIENCE_SECS, env=self._changes())
        except subprocess.TimeoutExpired:
            return Said(-1, "", f"it did not end within {PATIENCE_SECS:.0f} s")

    def spawn(self, *words: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [str(PROGRAM), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=self.llmc.environment(self._changes()),
            cwd=self.outside,
        )

    def _changes(self) -> dict[str, str]:
        return {"PYTHONPATH": f"{CLOCK}{os.pathsep}{PROJECT}", "LLMC_CHAOS_CLOCK": str(self.clock)}

    def git(self, *words: str, cwd: Path | None = None) -> str:
        """Git as the user has it; fails where git does."""
        argv: Sequence[str] = ("git", *words)
        env = self.llmc.environment()
        done = subprocess.run(argv, cwd=cwd or self.source, env=env, capture_output=True, check=True, timeout=60)
        return done.stdout.decode("utf-8", "replace").strip()

    def tmux(self, *words: str) -> str:
        argv = ["tmux", "-L", self.root.tmux_socket, *words]
        done = subprocess.run(argv, env=self.llmc.environment(), capture_output=True, check=False, timeout=20)
        return done.stdout.decode("utf-8", "replace")

    # --- what is known --------------------------------------------------------------------------------

    def daemon(self) -> int | None:
        holder = running_daemon(self.root)
        return holder.pid if holder else None

    def statuses(self) -> dict[str, str]:
        said = self.run("status", "--json")
        if said.code != 0:
            return {}
        return {worker["name"]: worker["status"] for worker in json.loads(said.out)["workers"]}

    def worktree(self, name: str) -> Path:
        return Path(self.root.worktree(name))

    def a_worker(self) -> str:
        return self.random.choice(self.workers)

    def new_token(self) -> str:
        with self._lock:
            self.serial += 1
            return f"token-{self.serial:05d}-of-chaos"

    def note(self, what: str) -> None:
        with self._lock:
            self.happened[what] = self.happened.get(what, 0) + 1

    def note_sent(self, sent: Sent) -> None:
        with self._lock:
            self.sent.append(sent)
