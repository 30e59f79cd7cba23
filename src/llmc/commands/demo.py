"""`llmc demo`: the whole story on this machine, by the same commands that a user types."""

from __future__ import annotations

import shlex
import tempfile
import time
from argparse import Namespace
from dataclasses import dataclass, field
from pathlib import Path

from llmc.app import App
from llmc.commands.shared.own_process import own_command
from llmc.commands.shared.result import Result
from llmc.commands.shared.status_view import status_text
from llmc.commands.status import status_document
from llmc.demo.story import BOARD_TASKS, EXPECTED_SUBJECTS, FEEDBACK, SAMPLE_FILES, TASKS
from llmc.errors import InvalidUsageError, LlmcError
from llmc.git.runner import Git
from llmc.host.base import Host
from llmc.host.watch import open_watch, wait_for_change
from llmc.root import Root

PACE_SECS = 0.25
WAIT_SECS = 90.0


def run(app: App, args: Namespace) -> Result:
    if not 0.1 <= args.speed <= 100:
        raise InvalidUsageError("--speed is a number from 0.1 to 100", "such as --speed 2")
    if args.web and not args.keep:
        raise InvalidUsageError("--web leaves the board running, which needs --keep", "`llmc demo --keep --web`")
    place = Path(tempfile.mkdtemp(prefix="llmc-demo-"))
    show = Show(app, app.host(), place, args.speed)
    try:
        commits = show.play()
        board = show.open_board() if args.web else ""
    except BaseException:
        app.console.say(f"\nthe demo stopped early; everything is kept in {place}")
        show.stop()
        raise
    return Result("\n".join((*_history(commits), *_farewell(show, board, keep=args.keep))), {"commits": commits})


def _history(commits: list[str]) -> list[str]:
    return ["", "The branch now, one commit for each task, nothing else:", *(f"  {commit}" for commit in commits)]


def _farewell(show: Show, board: str, *, keep: bool) -> list[str]:
    lines = [""]
    if keep:
        root = shlex.quote(show.root.path)
        lines += [
            f"It is all in {show.place}; look around with:",
            f"  export LLMC_ROOT={root}",
            "  llmc status",
            "  llmc ui",
            *([] if board else ["  llmc web --open"]),
            *(["", board, "`llmc web --stop` and `llmc down` end it."] if board else []),
            "",
        ]
    else:
        show.stop()
        show.host.remove_tree(str(show.place))
    if show.host.which("llmc") is None:
        lines += ["First put `llmc` on your PATH, here: `pipx install .` or `uv tool install .`", ""]
    return [
        *lines,
        "Your turn, in a repository of yours:",
        "  llmc init",
        "  llmc add adam",
        "  llmc up --detach",
        '  llmc start --prompt "..."',
        "and to see at a glance who needs you:",
        "  llmc ui     the board in the terminal",
        "  llmc web    the board in the browser, on this machine or on your phone",
    ]


@dataclass(slots=True)
class Show:
    app: App
    host: Host
    place: Path
    speed: float
    seen: dict[str, str] = field(default_factory=dict)

    @property
    def root(self) -> Root:
        return Root(str(self.place / "llmc"))

    @property
    def repository(self) -> str:
        return str(self.place / "greeter")

    def play(self) -> list[str]:
        self._chapter("A sample repository, and an LLMC root for it")
        self._make_repository()
        self._llmc("init", "--source", self.repository, "--target", self.root.path)
        self._set_pace()
        self._chapter("Three workers, each with its own worktree, branch and terminal")
        for name in TASKS:
            self._llmc("add", name, "--agent", "demo")
        self._llmc("up", "--detach")
        self._chapter("A task for each")
        for name, task in TASKS.items():
            self._llmc("start", "--worker", name, "--prompt", task)
            self._news()
        self._wait("adam", "needs_review")
        self._wait("charlie", "needs_review")
        self._wait("baker", "needs_review")
        self._say(status_text(status_document(self.root), self.app.console.columns))
        self._reviews()
        return self._check()

    def _reviews(self) -> None:
        self._chapter("Adam's work is reviewed and accepted")
        self._llmc("review", "adam")
        self._llmc("accept")
        self._chapter("Charlie's work is sent back with feedback, reworked, and accepted")
        self._llmc("review", "charlie", "--interface", "stat")
        self._llmc("reject", FEEDBACK)
        self._wait("charlie", "needs_review")
        self._llmc("review", "charlie", "--interface", "stat")
        self._llmc("accept")
        self._chapter("Baker changed the same lines as Adam: its agent resolved the conflict meanwhile")
        self._wait("baker", "needs_review")
        self._llmc("events", "baker", "--lines", "14")
        self._llmc("review", "baker")
        self._llmc("accept")
        self._say(status_text(status_document(self.root), self.app.console.columns))
        self._chapter("What that has cost (made up here: the demo agent asks no model)")
        self._llmc("usage")

    def _check(self) -> list[str]:
        log = Git(self.host).text(self.repository, "log", "--reverse", "--format=%h %s", "main")
        commits = log.splitlines()
        subjects = tuple(commit.partition(" ")[2] for commit in commits)
        if subjects != EXPECTED_SUBJECTS:
            raise LlmcError(f"the branch has other commits than expected: {subjects}", "please report this")
        return commits

    def open_board(self) -> str:
        """Something to see for each of the first columns; then the server, in the background. What it says."""
        self._chapter("Three more tasks, and the board in the browser")
        for name, task in BOARD_TASKS.items():
            self._llmc("start", "--worker", name, "--prompt", task)
        self._wait("adam", "needs_input")
        self._wait("baker", "needs_review")
        code, out, complaint = self._call(["web", "--detach"])
        if code != 0:
            raise LlmcError(f"`llmc web` failed: {complaint}", f"the root is {self.root.path}")
        return out.splitlines()[0]

    def stop(self) -> None:
        if self.root.exists:
            self._call(["down", "--force"])

    # --- the parts ----------------------------------------------------------------------------------

    def _make_repository(self) -> None:
        git = Git(self.host)
        Path(self.repository).mkdir()
        git.run(self.repository, "init", "--quiet", "--initial-branch=main")
        if not git.run(self.repository, "config", "user.email", check=False).ok:
            git.run(self.repository, "config", "user.name", "LLMC Demo")
            git.run(self.repository, "config", "user.email", "demo@localhost")
        for name, content in SAMPLE_FILES.items():
            Path(self.repository, name).write_text(content, encoding="utf-8")
        git.run(self.repository, "add", ".")
        git.run(self.repository, "commit", "--quiet", "--no-gpg-sign", "--message", EXPECTED_SUBJECTS[0])

    def _set_pace(self) -> None:
        with open(self.root.config_file, "a", encoding="utf-8") as config:
            config.write(f'\n[agents.demo]\nenv = {{ LLMC_DEMO_PACE = "{PACE_SECS / self.speed:.3f}" }}\n')

    def _chapter(self, title: str) -> None:
        self._say(f"\n── {title}")

    def _say(self, text: str) -> None:
        self.app.console.say(text)

    def _llmc(self, *words: str) -> None:
        """Types a command: shows it, runs it in a process of its own, shows what it says."""
        shown = [shlex.quote(word.splitlines()[0] + " …" if "\n" in word else word) for word in words]
        self._say(f"\n$ llmc {' '.join(shown)}")
        code, out, complaint = self._call([*words])
        if out.strip():
            self._say("\n".join(f"  {line}" for line in out.rstrip().splitlines()))
        if code != 0:
            raise LlmcError(f"`llmc {words[0]}` failed: {complaint}", f"the root is {self.root.path}")

    def _call(self, words: list[str]) -> tuple[int, str, str]:
        done = self.host.run(own_command(self.root, *words), env={**self.app.environ}, cwd=str(self.place), timeout=300)
        return done.code, done.text, done.complaint

    def _wait(self, name: str, status: str) -> None:
        """Until the worker is there, telling what all the others do meanwhile."""
        watch = open_watch()
        watch.add(self.root.path, "state", frozenset(("state.json",)))
        until = time.monotonic() + WAIT_SECS
        try:
            while self._news().get(name) != status:
                if time.monotonic() > until:
                    raise LlmcError(f"{name} is still {self.seen.get(name)}", f"the root is {self.root.path}")
                wait_for_change(watch, 1.0)
        finally:
            watch.close()

    def _news(self) -> dict[str, str]:
        now = {worker["name"]: worker["status"] for worker in status_document(self.root)["workers"]}
        for name, status in now.items():
            if self.seen.get(name, "idle") != status:
                self._say(f"  {name}: {self.seen.get(name, 'idle')} → {status}")
        self.seen = now
        return now
