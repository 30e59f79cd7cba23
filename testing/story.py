"""The whole of LLMC on the built-in demo agent: a repository, a root, the commands that a person types."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from llmc.app import open_site
from llmc.care.catch_up import work_news
from llmc.cli.main import main
from llmc.daemon.process import running_daemon
from llmc.daemon.upstream import fetch_upstream
from llmc.git.runner import Git
from llmc.host.local import LocalHost
from llmc.host.processes import is_running, marked_processes
from llmc.model import Session, State, Work, Worker
from llmc.root import Root
from llmc.site import Site
from llmc.store.event_log import LoggedEvent
from llmc.tmux.parsing import Pane
from testing.roots import make_repository
from testing.waiting import PATIENCE_SECS, wait_until
from testing.warm_llmc import WarmCommand, the_warm_llmc

LLMC = (sys.executable, "-P", "-m", "llmc.cli.main")
PACE = '\n[agents.demo]\nenv = { LLMC_DEMO_PACE = "0.01" }\n'
SILENT = f"""
[agents.silent]
command = ["{sys.executable}", "-P", "-m", "llmc.demo", "--pace", "0.01", "--no-events"]
clear = "/clear"
pack = "demo"
"""
"""The demo agent without its reports, for `agents`."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a command answered."""

    code: int
    out: str
    err: str


@dataclass(slots=True)
class Story:
    place: Path
    started: list[subprocess.Popen[bytes] | WarmCommand] = field(default_factory=list)

    @property
    def repository(self) -> Path:
        return self.place / "repository"

    @property
    def root(self) -> Root:
        return Root(str(self.place / "llmc"))

    @property
    def site(self) -> Site:
        return open_site(self.root)

    # --- what a person types ------------------------------------------------------------------------

    def begin(self, *workers: str, agent: str = "demo", agents: str = "", **settings: str) -> Story:
        """A root with these workers. `agents` are more tables of `config.toml`; `repo__validate` is `repo.validate`."""
        make_repository(self.repository)
        self.llmc("init", "--source", str(self.repository), "--target", self.root.path)
        with open(self.root.config_file, "a", encoding="utf-8") as config:
            config.write(PACE + agents)
        for key, value in settings.items():
            self.llmc("config", "set", key.replace("__", "."), value)
        for name in workers:
            self.llmc("add", name, "--agent", agent)
        return self

    def up(self) -> int:
        """A daemon in the background, with every worker up. Its pid."""
        self.llmc("up", "--detach")
        return self.daemon()

    def llmc(self, *words: str, code: int = 0) -> Said:
        """Runs a command in this process, and expects this exit code of it."""
        said = self.try_llmc(*words)
        assert said.code == code, f"llmc {' '.join(words)}: {said}\n{self.account()}"
        return said

    def try_llmc(self, *words: str) -> Said:
        """Runs a command in this process, whatever comes of it."""
        out, err = _stream(), _stream()
        with redirect_stdout(out), redirect_stderr(err):
            ended = main(["--root", self.root.path, *words])
        # Advice repeats the root that was named, which says nothing in a story that has only one.
        return Said(ended, *(_written(each).replace(f"--root {self.root.shown} ", "") for each in (out, err)))

    def json(self, *words: str, code: int = 0) -> Any:  # noqa: ANN401 - whatever the command answers
        return json.loads(self.llmc(*words, "--json", code=code).out)

    def spawn(self, *words: str) -> WarmCommand:
        """The command as a process of its own, to be waited for or to be killed."""
        with open(self.place / "spawned.log", "ab") as log, open(os.devnull, "rb") as nothing:
            process = the_warm_llmc().start(
                ["--root", self.root.path, *words],
                env=os.environ,
                cwd=Path.cwd(),
                stdin=nothing,
                stdout=log,
                stderr=log,
            )
        self.started.append(process)
        return process

    def spawn_cold(self, *words: str) -> subprocess.Popen[bytes]:
        """Started as a person does it, with its variables and its command line for everybody to see: a daemon."""
        with open(self.place / "spawned.log", "ab") as log:
            process = subprocess.Popen([*LLMC, "--root", self.root.path, *words], stdout=log, stderr=log)
        self.started.append(process)
        return process

    def task(self, name: str, *steps: str) -> Said:
        return self.llmc("start", "--worker", name, "--prompt", script(*steps))

    def crash(self, name: str, *steps: str) -> None:
        """A task that its agent ends at, maybe before anybody can say whether it has got it."""
        said = self.try_llmc("start", "--worker", name, "--prompt", script(*steps))
        assert said.code in (0, 4), f"{said}\n{self.account()}"

    def work(self, name: str, *steps: str) -> Worker:
        """A task that ends with work to review."""
        self.task(name, *steps)
        return self.wait(name, Work.NEEDS_REVIEW)

    def rewrite(self, name: str, **fields: Any) -> Worker:  # noqa: ANN401 - any field of a worker
        """Puts the worker's record into a state, without all that leads there."""

        def change(state: State) -> State:
            return replace(state, workers={**state.workers, name: replace(state.workers[name], **fields)})

        return self.site.ledger.state.transact(change).workers[name]

    def commit_as(self, name: str, path: str, content: str, message: str) -> str:
        """A commit in the worker's worktree."""
        return self._commit(self.worker(name).worktree_path, path, content, message)

    def commit_upstream(self, path: str, content: str, message: str) -> str:
        """The user commits by hand."""
        return self._commit(str(self.repository), path, content, message)

    def _commit(self, where: str, path: str, content: str, message: str) -> str:
        Path(where, path).write_text(content)
        self.git("add", "--all", cwd=where)
        self.git("commit", "--quiet", "-m", message, cwd=where)
        return self.git("rev-parse", "HEAD", cwd=where)

    # --- what is to be seen -------------------------------------------------------------------------

    def worker(self, name: str) -> Worker:
        return self.site.worker(name)

    def wait(self, name: str, work: Work | None = None, session: Session | None = None) -> Worker:
        """Until the worker has got there and nothing is pending for it."""

        def arrived() -> bool:
            now = self.worker(name)
            return work in (None, now.work) and session in (None, now.session) and not now.pending

        self.until(arrived)
        return self.worker(name)

    def until(self, condition: Callable[[], object]) -> None:
        """Waits for it; a failure tells all that happened."""
        try:
            wait_until(condition, PATIENCE_SECS)
        except AssertionError as late:
            raise AssertionError(f"{late}\n{self.account()}") from None

    def look_until(self, name: str, condition: Callable[[], object]) -> None:
        """Where no daemon runs: reads what the agent reports until it has come to that."""

        def looked() -> object:
            work_news(self.site, self.site.worker(name))
            return condition()

        self.until(looked)

    def screen(self, name: str) -> str:
        return self.site.tmux.capture(self.pane(name).id)

    def press(self, name: str, *keys: str) -> None:
        """What a person does who is attached."""
        self.site.tmux.press(self.pane(name).id, *keys)

    def pane(self, name: str) -> Pane:
        return self.site.tmux.panes()[self.worker(name).session_id]

    def daemon(self) -> int:
        holder = running_daemon(self.root)
        assert holder is not None, self.account()
        return holder.pid

    def events(self, name: str | None = None, signal_name: str = "") -> list[LoggedEvent]:
        logged = self.site.ledger.events.recent(name, limit=10_000)
        return [event for event in logged if signal_name in ("", event.signal, event.kind)]

    def prompts(self, name: str) -> int:
        """How many prompts the agent says it has accepted."""
        return len(self.events(name, "hook.prompt"))

    def subjects(self) -> list[str]:
        """What the user's branch has, oldest first."""
        return self.git("log", "--reverse", "--format=%s", "main").splitlines()

    def git(self, *words: str, cwd: str | None = None) -> str:
        """As a person or an agent would there: with everything that is configured."""
        return Git(LocalHost(), as_agents=True).text(cwd or str(self.repository), *words)

    def fetch_upstream(self) -> str:
        """What the daemon does when the user's branch has moved."""
        return fetch_upstream(self.site)

    def account(self) -> str:
        """What is known, for the words of a failure."""
        if not self.root.exists:
            return "no root"
        lines = [f"{event.worker} {event.signal or event.kind}: {event.detail}" for event in self.events()[-25:]]
        log = Path(self.root.daemon_log)
        return "\n".join([*lines, log.read_text() if log.exists() else "no daemon's log"])

    def processes(self) -> dict[int, str]:
        """Every process of this story that runs: the daemon, tmux, agents and whatever these have started."""
        found = marked_processes(TMUX_TMPDIR=os.environ["TMUX_TMPDIR"])
        return {each.pid: each.command for each in found}

    def until_all_have_ended(self) -> None:
        """Waits for the last of its processes; a failure names those that go on."""
        try:
            wait_until(lambda: not self.processes(), PATIENCE_SECS)
        except AssertionError:
            raise AssertionError(f"still running: {self.processes()}\n{self.account()}") from None

    # --- the end ------------------------------------------------------------------------------------

    def finish(self) -> None:
        for process in self.started:
            with suppress(ProcessLookupError):
                process.kill()
            process.wait()
        if self.root.exists:
            main(["--root", self.root.path, "down", "--force"])
        for pid in self.processes():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        _bury_daemons()


def script(*steps: str) -> str:
    """A prompt for the demo agent."""
    return "\n".join(f"demo:{step}" for step in steps)


def end_abruptly(pid: int) -> None:
    """`kill -9`, and the process is gone."""
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not is_running(pid))


def _bury_daemons() -> None:
    """`llmc up --detach` leaves its daemon to init. Here that is this process, and whoever looks at all processes would
    look at a few hundred dead ones, too."""
    for task in Path("/proc/self/task").glob("*/children"):
        for pid in map(int, task.read_text().split()):
            with suppress(OSError):  # somebody has waited for it meanwhile
                if os.getsid(pid) == pid:
                    os.waitpid(pid, os.WNOHANG)


@contextmanager
def told_in(place: Path) -> Iterator[Story]:
    story = Story(place)
    try:
        yield story
    finally:
        story.finish()


def _stream() -> io.TextIOWrapper:
    """What a program writes to, and no terminal."""
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)


def _written(stream: io.TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()
