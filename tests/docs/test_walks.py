"""The four walks of docs/architecture.md, taken by the real programs."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from llmc.model import Session, Work
from testing.namespace import PROJECT
from testing.story import Story, script
from testing.waiting import wait_until
from testing.walks import left_out

PAGE = PROJECT / "docs" / "architecture.md"
STEP = re.compile(r"^\d+\. `([\w.]+)`", re.M)


def steps(walk: str) -> list[str]:
    """What the page lists under this heading."""
    text = PAGE.read_text("utf-8")
    part = text.partition(f"\n### {walk}\n")[2].partition("\n#")[0]
    found = STEP.findall(part)
    assert found, f"the page has no walk named {walk!r}"
    return found


def assert_walked(walk: str, listed: Path) -> None:
    """Each step was taken, and after those before it."""
    taken = listed.read_text("utf-8").splitlines()
    assert left_out(steps(walk), taken) == [], [each for each in steps(walk) if each not in taken]


def run_traced(story: Story, listed: Path, *words: str) -> subprocess.Popen[bytes]:
    argv = [sys.executable, "-P", "-m", "testing.walks", str(listed), "--root", story.root.path, *words]
    process = subprocess.Popen(argv, cwd=PROJECT, env={**os.environ, "PYTHONPATH": str(PROJECT)})
    story.started.append(process)
    return process


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    return tmp_path / "walk.txt"


def test_a_prompt_and_an_accept(story: Story, listed: Path) -> None:
    story.begin("adam").up()
    prompt = script("write notes.txt one", "commit Add notes")
    assert run_traced(story, listed, "start", "--worker", "adam", "--prompt", prompt).wait(120) == 0
    assert_walked("A prompt", listed)
    story.wait("adam", Work.NEEDS_REVIEW)
    assert run_traced(story, listed, "accept", "adam").wait(120) == 0
    assert_walked("An accept", listed)


@pytest.fixture
def daemon(story: Story, listed: Path) -> subprocess.Popen[bytes]:
    """One that remembers what it does, with a worker that is idle."""
    story.begin("adam")
    process = run_traced(story, listed, "up")
    story.wait("adam", session=Session.UP)
    story.llmc("patrol")  # whatever was under way is over when it answers
    return process


def end(daemon: subprocess.Popen[bytes]) -> None:
    daemon.send_signal(signal.SIGTERM)
    daemon.wait(120)


def test_a_report(story: Story, listed: Path, daemon: subprocess.Popen[bytes]) -> None:
    """The first one may still be heard by whoever looks after the worker already."""
    daemon.send_signal(signal.SIGUSR1)
    story.rewrite("adam", work=Work.WORKING)
    report(story, "permission")
    story.wait("adam", Work.NEEDS_INPUT)
    report(story, "activity")
    story.wait("adam", Work.WORKING)
    report(story, "turn_end")
    story.wait("adam", Work.NEEDS_INPUT)
    end(daemon)
    assert_walked("A report", listed)


def report(story: Story, event: str) -> None:
    spool = Path(story.root.spool("adam"))
    (spool / ".new").write_text(json.dumps({"event": event}))
    (spool / ".new").rename(spool / f"{event}.json")


def test_a_change_of_a_pane(story: Story, listed: Path, daemon: subprocess.Popen[bytes]) -> None:
    """The first one may still be seen by whoever looks already."""
    daemon.send_signal(signal.SIGUSR1)
    kept = Path(story.root.terminals, "adam", "status.json")
    for letter in "abc":
        before = kept.read_text()
        story.site.tmux.type_text(story.pane("adam").id, letter)
        wait_until(lambda before=before: kept.read_text() != before, 60)
    end(daemon)
    assert_walked("A change on a screen", listed)
