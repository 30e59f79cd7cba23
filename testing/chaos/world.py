"""The place where it happens: a user with a repository, a root on a small disk of its own, workers, a daemon."""

from __future__ import annotations

import json
import os
import pty
import random
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from llmc.daemon.process import running_daemon
from llmc.host.processes import works_in
from llmc.root import Root
from testing.chaos.belongings import Belongings
from testing.commands import PROGRAM, Llmc, Said
from testing.killed_git import KilledGit
from testing.namespace import PROJECT
from testing.roots import make_repository

DISK_MB = 400
PATIENCE_SECS = 120.0
CLOCK = PROJECT / "testing" / "chaos" / "clock"
AGENTS_MARK = "LLMC_CHAOS_COMMITS"
"""The variable that only agents have: where they write down what they commit."""
SETTINGS = """
[agents.chaos]
command = ["{python}", "-P", "-m", "testing.chaos.agent"]
env = {{ PYTHONPATH = "{project}", LLMC_CHAOS_MEMORY = "{memory}", {mark} = "{commits}", PATH = "{path}" }}
clear = "/clear"
pack = "demo"
events = true
"""
CHOICES = {"defaults.agent": "chaos", "defaults.patrol_interval_secs": "5", "backup.keep_count": "100000"}
# What LLMC or a rebase writes anew is a copy; only what an agent commits itself is an original.
HOOK = f"""\
#!/bin/sh
[ -n "${AGENTS_MARK}" ] || exit 0
[ -d "$(git rev-parse --git-path rebase-merge)" ] && exit 0
git rev-parse HEAD >>"${AGENTS_MARK}"
"""
# The demo agent commits wherever git leads it: not when that is the user's repository, or another worker's, nor where
# `.git` leads there only after the look.
CAREFUL_GIT = """\
#!/bin/sh
place=$({git} rev-parse --absolute-git-dir 2>/dev/null)
if [ "$(cat "$place/gitdir" 2>/dev/null)" != "{worktrees}/$LLMC_WORKER/.git" ]; then
  echo "fatal: this is not my worktree" >&2
  exit 128
fi
export GIT_DIR="$place" GIT_WORK_TREE="{worktrees}/$LLMC_WORKER"
if [ -z "${hands}" ]; then
  exec 9>>"{directory}/$LLMC_WORKER.hands"
  flock --wait 30 9 || exit 128
fi
case "$1" in gc) how=--exclusive ;; *) how=--shared ;; esac
export GIT_NO_REPLACE_OBJECTS=1
exec flock --no-fork --wait 30 $how {lock} {git} "$@"
"""
"""An agent's git. None prunes while another writes: git keeps no objects for who has no name for them yet. And none is
fooled by what is replaced: it would amend another commit than its own. An agent does one thing at a time: its program
waits until its hands are free."""
HANDS_MARK = "LLMC_CHAOS_HANDS"
"""The variable that git has while the hands of an agent use it, which have taken their lock before."""
ORPHANS_SECS = 30.0


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
    tried: list[str] = field(default_factory=list)
    """Tokens of all that somebody tried to accept."""
    untrue: list[str] = field(default_factory=list)
    """What LLMC said and did not do, found out on the spot."""
    belongings: Belongings = field(default_factory=Belongings)
    branches: dict[str, str] = field(default_factory=dict)
    """The user's other branches, where the user left them."""
    let_go: set[str] = field(default_factory=set)
    """Commits that their agent itself has replaced."""
    led_away: dict[str, bytes] = field(default_factory=dict)
    """Workers whose `.git` leads elsewhere, with what it was before."""
    removed: set[str] = field(default_factory=set)
    """Workers that were removed and not added again yet."""
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
        return self.place / "repository"

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
    def trap(self) -> Path:
        return self.outside / "trap"

    @property
    def heard(self) -> Path:
        """The names of the traps that somebody else than an agent has set off."""
        return self.outside / "heard"

    @property
    def killed_git(self) -> KilledGit:
        """What LLMC gets for git."""
        return KilledGit(self.outside / "killed-git")

    @property
    def llmc(self) -> Llmc:
        if self._llmc is None:
            self._llmc = Llmc(self.outside / "home", self.place / "llmc")
        return self._llmc

    # --- what people do -------------------------------------------------------------------------------

    def begin(self) -> None:
        self._make_source()
        self.killed_git.install()
        self.run("init", "--source", str(self.source), "--target", self.root.path, check=True)
        self._write_settings()
        for name in self.workers:
            self.run("add", name, "--agent", "chaos", check=True)
        self.run("up", "--detach", check=True)

    def _make_source(self) -> None:
        make_repository(self.source)
        own = [f"{place}/{name}.txt" for place in ("own", "hidden") for name in self.workers]
        for path in ("draft", *own):
            (self.source / path).parent.mkdir(exist_ok=True)
            (self.source / path).write_text(f"{path}, as it was\n")
        (self.source / ".gitignore").write_text("*.log\n")
        self.git("add", "--all")
        self.git("commit", "--quiet", "-m", "files that somebody works on")
        self.git("branch", "topic")
        self.branches["topic"] = self.git("rev-parse", "topic")

    def _write_settings(self) -> None:
        path = f"{self._careful_git()}{os.pathsep}{os.environ['PATH']}"
        values = {"python": sys.executable, "project": PROJECT, "memory": self.memory, "commits": self.commits}
        with open(self.root.config_file, "a", encoding="utf-8") as config:
            config.write(SETTINGS.format(**values, path=path, mark=AGENTS_MARK))
        for key, value in CHOICES.items():
            self.run("config", "set", key, value, check=True)
        hook = Path(self.root.git_dir, "hooks", "post-commit")
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(HOOK)
        hook.chmod(0o755)

    def _careful_git(self) -> Path:
        directory = self.outside / "careful-git"
        directory.mkdir()
        program = directory / "git"
        parts = {"git": shutil.which("git"), "worktrees": self.root.worktrees, "lock": directory / "lock"}
        program.write_text(CAREFUL_GIT.format(**parts, hands=HANDS_MARK, directory=directory))
        program.chmod(0o755)
        return directory

    def run(self, *words: str, check: bool = False) -> Said:
        try:
            return self.llmc.run(*words, check=check, timeout=PATIENCE_SECS, env=self._changes())
        except subprocess.TimeoutExpired:
            return Said(-1, "", f"it did not end within {PATIENCE_SECS:.0f} s")

    def run_at_terminal(self, *words: str, typed: str) -> Said:
        """With somebody who types this, whatever the question is."""
        leader, follower = pty.openpty()
        os.write(leader, f"{typed}\n".encode())
        process = subprocess.Popen(
            [str(PROGRAM), *words],
            stdin=follower,
            stdout=subprocess.DEVNULL,
            stderr=follower,
            env=self.llmc.environment(self._changes()),
            cwd=self.outside,
            start_new_session=True,
        )
        os.close(follower)
        try:
            return Said(process.wait(PATIENCE_SECS), "", _read_all(leader))
        except subprocess.TimeoutExpired:
            process.kill()
            return Said(process.wait(), "", f"it did not end within {PATIENCE_SECS:.0f} s")
        finally:
            os.close(leader)

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
        return {
            "PYTHONPATH": f"{CLOCK}{os.pathsep}{PROJECT}",
            "LLMC_CHAOS_CLOCK": str(self.clock),
            "PATH": self.killed_git.path,
        }

    def git(self, *words: str, cwd: Path | None = None) -> str:
        """Git as the user has it; fails where git does."""
        return self._git(words, cwd or self.source, {})

    def agents_git(self, name: str, *words: str) -> str:
        """Git as the agent of this worker has it. It touches nothing but the worker's own."""
        worktree = self.worktree(name)
        careful = str(self.outside / "careful-git" / "git")
        env = {AGENTS_MARK: str(self.commits), "LLMC_WORKER": name, HANDS_MARK: "1", "GIT_EDITOR": "true"}
        return self._git(words, worktree, env, program=careful)

    def read_git(self, *words: str) -> str:
        """The clone as it is, whatever agents have told git about it."""
        env = {AGENTS_MARK: "/dev/null", "GIT_NO_REPLACE_OBJECTS": "1"}
        return self._git(words, Path(self.root.git_dir), env)

    def _git(self, words: Sequence[str], cwd: Path, changes: dict[str, str], program: str = "git") -> str:
        env = self.llmc.environment(changes)
        argv = (program, *words)
        done = subprocess.run(
            argv, cwd=cwd, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=True, timeout=60
        )
        return done.stdout.decode("utf-8", "replace").strip()

    def wait_for_orphans(self, worktree: Path) -> None:
        """A git whose LLMC was killed goes on to its end."""
        until = time.monotonic() + ORPHANS_SECS
        while works_in(str(worktree), "git") and time.monotonic() < until:
            time.sleep(0.02)

    def tmux(self, *words: str) -> str:
        argv = ["tmux", "-L", self.root.tmux_socket, *words]
        done = subprocess.run(argv, env=self.llmc.environment(), capture_output=True, check=False, timeout=120)
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

    def hands(self, name: str) -> str:
        """The lock of what an agent is doing."""
        return str(self.outside / "careful-git" / f"{name}.hands")

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

    def note_commit(self, sha: str) -> None:
        with self._lock, self.commits.open("a") as commits:
            commits.write(f"{sha}\n")

    def let_go_commits(self, shas: Iterable[str]) -> None:
        with self._lock:
            self.let_go |= set(shas)

    def note_sent(self, sent: Sent) -> None:
        with self._lock:
            self.sent.append(sent)


def _read_all(terminal: int) -> str:
    """What was written to it; its end is an error for whoever reads."""
    said = b""
    with suppress(OSError):
        while more := os.read(terminal, 4096):
            said += more
    return said.decode("utf-8", "replace")
