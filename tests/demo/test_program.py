"""The demo agent as it is used: the process of a tmux pane."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from llmc.host.processes import is_running

PATIENCE_SECS = 150.0
COMMAND = [sys.executable, "-m", "llmc.demo"]


class Pane:
    """One demo agent in a repository of its own, on a tmux server of its own."""

    def __init__(self, home: Path, socket_dir: str) -> None:
        self.repo, self.spool = home / "repo", home / "spool"
        self.repo.mkdir()
        self.spool.mkdir()
        self._settings = home / "tmux.conf"
        self._settings.write_text("set -g remain-on-exit on\n")
        inherited = {name: os.environ[name] for name in ("PATH", "LANG", "PYTHONPATH") if name in os.environ}
        self._env = inherited | {
            "HOME": str(home),
            "XDG_CONFIG_HOME": str(home),
            "GIT_CONFIG_GLOBAL": str(home / "gitconfig"),
            "GIT_CONFIG_NOSYSTEM": "1",
            "TMUX_TMPDIR": socket_dir,
            "LC_ALL": "C.UTF-8",
            "LLMC_SPOOL": str(self.spool),
            "LLMC_DEMO_PACE": "0.02",
        }
        self.git("init", "-q", "-b", "main")
        self.git(
            "-c", "user.name=Ann", "-c", "user.email=ann@example.com", "commit", "-q", "--allow-empty", "-m", "base"
        )

    def git(self, *args: str, check: bool = True) -> str:
        done = subprocess.run(["git", *args], cwd=self.repo, env=self._env, capture_output=True, text=True, check=check)
        return done.stdout.strip()

    def tmux(self, *args: str, stdin: bytes = b"") -> str:
        command = ["tmux", "-L", "demo", "-f", str(self._settings), *args]
        return subprocess.run(command, env=self._env, input=stdin, capture_output=True, check=True).stdout.decode()

    def start(self, *args: str, size: tuple[int, int] = (80, 24)) -> Pane:
        width, height = map(str, size)
        self.tmux("new-session", "-d", "-x", width, "-y", height, "-c", str(self.repo), *COMMAND, *args)
        self.until(lambda: self.title == "demo: ready")
        return self

    def ask_tmux(self, question: str) -> str:
        return self.tmux("display-message", "-p", f"#{{{question}}}").strip()

    @property
    def title(self) -> str:
        return self.ask_tmux("pane_title")

    @property
    def screen(self) -> str:
        return self.tmux("capture-pane", "-p", "-J")

    @property
    def events(self) -> list[dict[str, str]]:
        return [json.loads(file.read_text("utf-8")) for file in sorted(self.spool.glob("*.json"))]

    @property
    def names(self) -> list[str]:
        return [event["event"] for event in self.events if event["event"] != "activity"]

    def until(self, condition: Callable[[], object]) -> None:
        patience = time.monotonic() + PATIENCE_SECS
        while not condition():
            assert time.monotonic() < patience, f"{self.events}\n{self.screen}"
            time.sleep(0.01)

    def until_shown(self, text: str) -> None:
        self.until(lambda: text in self.screen)

    def until_told(self, *names: str) -> None:
        self.until(lambda: self.names[-len(names) :] == list(names))

    def keys(self, *keys: str) -> None:
        self.tmux("send-keys", *keys)

    def type(self, text: str) -> None:
        """Waits until it is seen: only then does Enter mean this text."""
        self.tmux("send-keys", "-l", text)
        self.until_shown(f"❯ {text}")

    def submit(self, text: str) -> None:
        self.type(text)
        self.keys("Enter")

    def paste(self, text: str) -> None:
        self.tmux("load-buffer", "-b", "prompt", "-", stdin=text.encode())
        self.tmux("paste-buffer", "-p", "-r", "-d", "-b", "prompt")

    def exit_code(self) -> int:
        """tmux may miss that its child has ended; a signal makes it look again."""
        server = int(self.ask_tmux("pid"))

        def ended() -> bool:
            os.kill(server, signal.SIGCHLD)
            return self.ask_tmux("pane_dead_status") != ""

        self.until(ended)
        return int(self.ask_tmux("pane_dead_status"))


@pytest.fixture
def pane(tmp_path: Path) -> Iterator[Pane]:
    # A socket's path is short, a test's directory need not be.
    with tempfile.TemporaryDirectory(prefix="llmc-") as socket_dir:
        pane = Pane(tmp_path, socket_dir)
        try:
            yield pane
        finally:
            subprocess.run(
                ["tmux", "-L", "demo", "kill-server"], env={**os.environ, "TMUX_TMPDIR": socket_dir}, check=False
            )


def test_it_starts_and_says_what_it_is(pane: Pane) -> None:
    pane.start()
    pane.until_told("session_start")
    assert pane.events[0]["reason"] == "startup"
    assert "LLMC DEMO AGENT: scripted, there is no model behind it" in pane.screen
    assert pane.ask_tmux("alternate_on") == "1"


def test_a_paste_of_64_kilobytes_arrives_byte_by_byte(pane: Pane) -> None:
    line = "🤖 emoji 👩‍👩‍👧 世界 e\u0301 \ttab `$(x)` \\ 'quotes' ; -x /y\n"
    text = "demo:nothing\n" + line * (65536 // len(line.encode()) + 1) + "end;"
    pane.start().paste(text)
    pane.until_shown(f"❯ [Pasted text #1 +{text.count(chr(10))} lines]")
    pane.keys("Enter")
    pane.until_told("prompt", "turn_end")
    prompt = next(event for event in pane.events if event["event"] == "prompt")
    assert prompt["text"] == text
    assert prompt["sha256"] == hashlib.sha256(text.encode()).hexdigest()


def test_a_short_paste_is_seen_and_its_newlines_submit_nothing(pane: Pane) -> None:
    pane.start().paste("demo:say one\ndemo:say 世界\n")
    pane.until_shown("❯ demo:say one\n  demo:say 世界\n")
    assert "prompt" not in pane.names
    pane.keys("Enter")
    pane.until_told("prompt", "turn_end")
    assert pane.events[-1]["last_message"] == "世界"


def test_a_typed_newline_and_the_clearing_keys(pane: Pane) -> None:
    pane.start().type("first")
    pane.keys("C-j")
    pane.tmux("send-keys", "-l", "second")
    pane.until_shown("❯ first\n  second\n")
    pane.keys("M-Enter")
    pane.tmux("send-keys", "-l", "third")
    pane.until_shown("❯ first\n  second\n  third\n")
    pane.keys("C-u")
    pane.until(lambda: "third" not in pane.screen)
    pane.keys("C-c")
    pane.until(lambda: "first" not in pane.screen)
    assert pane.names == ["session_start"]


def test_a_prompt_while_busy_waits_for_its_turn(pane: Pane) -> None:
    pane.start().submit("demo:sleep 1.5")
    pane.until(lambda: pane.title == "⠋ demo: working")
    pane.submit("demo:say second")
    pane.until_shown("queued: demo:say second")
    assert re.search(r"^[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] Working… \(\d+s\)$", pane.screen, re.MULTILINE)
    pane.until_told("session_start", "prompt", "turn_end", "prompt", "turn_end")
    pane.until(lambda: pane.title == "demo: ready")


@pytest.mark.parametrize("key", ["Escape", "C-c"])
def test_an_interrupted_turn_reports_nothing(pane: Pane, key: str) -> None:
    pane.start().submit("demo:hang")
    pane.until_told("prompt")
    pane.until_shown("Working…")
    pane.keys(key)
    pane.until_shown("Interrupted")
    pane.until(lambda: pane.title == "demo: ready")
    assert pane.names == ["session_start", "prompt"]
    pane.submit("demo:nothing")
    pane.until_told("prompt", "prompt", "turn_end")


@pytest.mark.parametrize(
    ("key", "told"), [("1", "Permitted"), ("n", "I may not run this command"), ("Escape", "Interrupted")]
)
def test_a_permission_is_asked_for(pane: Pane, key: str, told: str) -> None:
    pane.start().submit("demo:permit rm -rf build")
    pane.until_told("permission")
    pane.until_shown("  rm -rf build\nDo you want to run this command?\n❯ 1. Yes\n  2. No\n")
    assert pane.title == "demo: asks"
    assert (pane.events[-1]["tool"], pane.events[-1]["command"]) == ("Bash", "rm -rf build")
    pane.keys(key)
    pane.until_shown(told)
    pane.until(lambda: pane.title == "demo: ready")
    assert pane.names[3:] == ([] if key == "Escape" else ["turn_end"])


def test_a_question_takes_a_typed_answer_and_a_dialog_ignores_pastes(pane: Pane) -> None:
    pane.start().submit("demo:ask Which colour?")
    pane.until_told("question")
    pane.until_shown("❯ 1. Yes\n  2. No\n  3. Type an answer\n")
    pane.paste("2")
    pane.keys("Down", "Down", "Enter")
    pane.until_shown("❯ 3. Type an answer:")
    pane.paste("2 blues")
    pane.until_shown("❯ 3. Type an answer: 2 blues")
    pane.keys("Enter")
    pane.until_told("question", "turn_end")
    assert pane.events[-1]["last_message"] == "You answered: 2 blues"
    pane.until_shown("\n❯ \n")


def test_a_failure_is_reported_and_ends_the_turn(pane: Pane) -> None:
    pane.start().submit("demo:fail rate_limit resets at noon")
    pane.until_told("prompt", "failure")
    assert (pane.events[-1]["kind"], pane.events[-1]["message"]) == ("rate_limit", "resets at noon")
    pane.until_shown("Error (rate_limit): resets at noon")
    pane.until(lambda: pane.title == "demo: ready")


def test_clearing_the_conversation(pane: Pane) -> None:
    pane.start().submit("demo:say remember")
    pane.until_told("turn_end")
    pane.until_shown("● remember")
    pane.submit("/clear")
    pane.until_told("session_end", "session_start")
    assert [event["reason"] for event in pane.events[-2:]] == ["clear", "clear"]
    pane.until(lambda: "remember" not in pane.screen)


def test_a_pasted_slash_command_and_an_unknown_one_are_prompts(pane: Pane) -> None:
    pane.start().paste("/clear")
    pane.until_shown("❯ /clear")
    pane.keys("Enter")
    pane.until_told("prompt", "turn_end")
    pane.submit("/dance")
    pane.until_told("prompt", "turn_end", "prompt", "turn_end")
    assert [event["text"] for event in pane.events if event["event"] == "prompt"] == ["/clear", "/dance"]


def test_leaving_by_command_even_while_busy(pane: Pane) -> None:
    pane.start().submit("demo:hang")
    pane.until_told("prompt")
    pane.submit("/exit")
    assert pane.exit_code() == 0
    assert pane.names[-1] == "session_end"


def test_leaving_takes_two_interrupts(pane: Pane) -> None:
    pane.start().keys("C-d", "C-c")
    pane.until_shown("Press Ctrl-C again to exit")
    pane.keys("x", "BSpace", "C-c")
    pane.until_shown("Press Ctrl-C again to exit")
    pane.keys("C-c")
    assert pane.exit_code() == 0
    assert pane.names == ["session_start", "session_end"]


def test_a_crash_leaves_its_code_and_its_last_words(pane: Pane) -> None:
    pane.start().submit("demo:crash 42")
    assert pane.exit_code() == 42
    assert "demo agent crashed on request" in pane.screen
    assert "Traceback" not in pane.screen
    assert pane.names == ["session_start", "prompt"]


def test_a_signal_kills_it(pane: Pane) -> None:
    pane.start()
    agent = int(pane.ask_tmux("pane_pid"))
    pane.submit("demo:signal 9")
    pane.until(lambda: not is_running(agent))
    assert pane.names == ["session_start", "prompt"]


def test_a_polite_request_to_stop(pane: Pane) -> None:
    pane.start()
    os.kill(int(pane.ask_tmux("pane_pid")), signal.SIGTERM)
    assert pane.exit_code() == 143
    assert pane.ask_tmux("alternate_on") == "0"
    assert pane.names == ["session_start", "session_end"]


def test_it_commits_in_a_real_repository(pane: Pane) -> None:
    pane.start().paste("Your task:\n- demo:write src/a.py print('hi')\n- demo:commit Add a program\n\nThank you.")
    pane.until_shown("  Thank you.")
    pane.keys("Enter")
    pane.until_told("prompt", "turn_end")
    assert pane.git("log", "-1", "--format=%s by %an") == "Add a program by LLMC demo agent"
    assert pane.git("show", "HEAD:src/a.py") == "print('hi')"
    assert [event["tool"] for event in pane.events if event["event"] == "activity"] == ["Write"] * 2 + ["Commit"] * 2


def test_an_interrupted_commit_leaves_no_lock_behind(pane: Pane) -> None:
    hook = pane.repo / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\ntouch ../hook-runs; exec sleep 1000\n")
    hook.chmod(0o755)
    pane.start().submit("demo:commit never")
    pane.until((pane.repo.parent / "hook-runs").exists)
    pane.keys("Escape")
    pane.until_shown("Interrupted")
    hook.unlink()
    pane.submit("demo:write a.txt x")
    pane.until_told("prompt", "turn_end")
    pane.submit("demo:commit Add a")
    pane.until_told("prompt", "turn_end", "prompt", "turn_end")
    assert pane.git("log", "--format=%s") == "Add a\nbase"


def test_it_resolves_a_real_conflict_in_a_worktree(pane: Pane, tmp_path: Path) -> None:
    pane.git("config", "user.name", "Ann")
    pane.git("config", "user.email", "ann@example.com")
    pane.git("worktree", "add", "-q", "-b", "topic", str(tmp_path / "topic"))
    main, pane.repo = pane.repo, tmp_path / "topic"
    for repo, text in ((pane.repo, "own\n"), (main, "theirs\n")):
        (repo / "f.txt").write_text(text)
        pane.git("-C", str(repo), "add", "-A")
        pane.git("-C", str(repo), "commit", "-q", "-m", text.strip())
    pane.git("rebase", "main", check=False)
    pane.start().submit("Please resolve the conflicts in f.txt")
    pane.until_told("prompt", "turn_end")
    assert (pane.repo / "f.txt").read_text() == "theirs\nown\n"
    assert pane.git("log", "--format=%s") == "own\ntheirs\nbase"
    assert pane.git("status", "--porcelain") == ""


@pytest.mark.parametrize("size", [(500, 100), (1, 1)])
def test_any_size_will_do(pane: Pane, size: tuple[int, int]) -> None:
    pane.start(size=size)
    pane.keys("h", "i")
    pane.tmux("resize-window", "-x", "60", "-y", "20")
    pane.until_shown("─" * 60 + "\n❯ hi\n" + "─" * 60 + "\n")
    assert pane.ask_tmux("pane_dead") == "0"


def test_without_events_it_reports_nothing(pane: Pane) -> None:
    pane.start("--no-events").submit("demo:say done")
    pane.until_shown("● done")
    pane.until(lambda: pane.title == "demo: ready")
    assert list(pane.spool.iterdir()) == []


def test_a_lost_spool_is_said_and_survived(pane: Pane) -> None:
    pane.start()
    shutil.rmtree(pane.spool)
    pane.submit("demo:say still here")
    pane.until_shown("● still here")
    assert pane.screen.count("Events cannot be reported") == 1


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="counts the process's wake-ups in /proc")
def test_an_idle_agent_sleeps(pane: Pane) -> None:
    pane.start()
    idle = pane.ask_tmux("pane_pid")
    pane.start()  # a second agent, which takes its time while the first has nothing to do
    before = _wakeups(idle)
    pane.submit("demo:sleep 0.5")
    pane.until_told("turn_end")
    assert _wakeups(idle) == before


def test_without_a_terminal_it_refuses() -> None:
    done = subprocess.run(COMMAND, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("error: the demo agent needs a terminal\nhint: ")


def _wakeups(pid: str) -> str:
    found = re.search(r"^voluntary_ctxt_switches:\s*(\d+)", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    assert found
    return found[1]
