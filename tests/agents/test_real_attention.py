"""What `llmc status` and the cache say of the real CLIs, beside what is true of them at every step of their work.

How long each truth took to be told, and how long anything else was told, is printed (`pytest -s`).
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import pytest

from llmc.commands.status import status_document
from llmc.root import Root
from testing.models.steps import Fail, Run, Text
from testing.real_agents import EACH_AGENT, AgentRoot, installed, machine_for, make_empty_root
from testing.roots import own_environment
from testing.waiting import wait_until

PATIENCE_SECS = 150.0
SAMPLE_EVERY_SECS = 0.05
HELD_SECS = 2.5
SLOWLY_SECS = 8.0
WORDS = "I read the code first, because every caller goes through it. Then I looked at the tests, and at the docs too."
SOURCES = frozenset(("hook", "session", "transcript", "screen"))

pytestmark = [pytest.mark.hazard, pytest.mark.timeout(400)]


@dataclass
class Account:
    """What is told of `w`, all the time."""

    root: AgentRoot
    told: list[tuple[float, str, str]] = field(default_factory=list)
    """When, by `llmc status`, by the cache."""
    lines: list[str] = field(default_factory=list)
    _over: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        sys.stdout.write("\n".join(["", *self.lines, ""]))

    def _listen(self) -> None:
        while not self._over.wait(SAMPLE_EVERY_SECS):
            self.told.append((time.monotonic(), *self.now()))

    def now(self) -> tuple[str, str]:
        place = Root(str(self.root.root))
        worker = status_document(place)["workers"][0]
        try:
            cached = json.loads(Path(place.terminals, "w", "status.json").read_text())
        except (OSError, ValueError):
            cached = {"state": "UNKNOWN"}
        return worker["attention"]["state"], cached["state"]

    def becomes(self, state: str, truth: Callable[[], object], *, held: float = HELD_SECS) -> None:
        """Waits for the truth, then for it to be told; then nothing else is told for as long as it holds."""
        wait_until(truth, timeout=PATIENCE_SECS)
        true_at = time.monotonic()
        wait_until(lambda: self.now() == (state, state), timeout=PATIENCE_SECS)
        told_after = time.monotonic() - true_at
        time.sleep(held)  # not for luck: what is told in the meantime is what this is about
        wrong = self._longest_wrong(state, true_at, time.monotonic())
        agent = self.root.machine.agent.name
        self.lines.append(f"{agent:8} {state:18} told after {told_after:.2f} s; longest wrong {wrong}")
        assert self.now() == (state, state), self.lines

    def _longest_wrong(self, state: str, since: float, until: float) -> str:
        longest = []
        for column in (1, 2):
            wrong, began = 0.0, None
            for each in self.told:
                if since <= each[0] <= until:
                    began = None if each[column] == state else (began or each[0])
                    wrong = max(wrong, each[0] + SAMPLE_EVERY_SECS - began) if began else wrong
            longest.append(f"{wrong:.2f} s")
        return f"{longest[0]} (status), {longest[1]} (cache)"


@pytest.fixture(params=EACH_AGENT)
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[AgentRoot]:
    agent = installed(request.param)
    with own_environment(tmp_path / "home"), machine_for(agent) as machine:
        made = make_empty_root(machine, tmp_path)
        for name, value in {"skip_permissions": "false", "allowed_tools": "[]"}.items():
            made.done("config", "set", f"defaults.{name}", value)
        if agent.name == "claude":  # else it tries again for minutes, and is busy for as long
            made.done("config", "set", "agents.claude.env", '{ CLAUDE_CODE_MAX_RETRIES = "1" }')
        made.done("add", "w", "--agent", agent.name)
        made.done("up", "--detach")
        yield made
        made.done("down", "--force")


def test_what_is_told_is_true_at_every_step(root: AgentRoot) -> None:
    wait_until(lambda: root.status()["session"] == "up", timeout=PATIENCE_SECS)
    with Account(root) as account:
        account.becomes("READY", lambda: _shows(root, "READY"))

        root.models.answer_with([Text(WORDS, SLOWLY_SECS)])
        root.message("Answer slowly.")
        account.becomes("BUSY", lambda: root.models.prompts())
        account.becomes("READY", lambda: _shows(root, "READY"))

        made = root.worktree / "made"
        root.models.answer_with([Run(f"touch {made.name}", outside_sandbox=True), Text(WORDS, SLOWLY_SECS)])
        root.message("Make the file.")
        account.becomes("NEEDS_CONFIRMATION", lambda: _shows(root, "NEEDS_CONFIRMATION"))
        root.done("answer", "w", "yes")
        account.becomes("BUSY", made.exists)
        account.becomes("READY", lambda: _shows(root, "READY"))

        root.models.answer_with([Fail(401)])
        root.message("Try this.")
        account.becomes("ERROR", lambda: _shows(root, "ERROR"))
    attention = root.status()["attention"]
    assert attention["source"] in SOURCES
    assert attention["age_secs"] >= 0


def _shows(root: AgentRoot, state: str) -> bool:
    return root.reading().state == state
