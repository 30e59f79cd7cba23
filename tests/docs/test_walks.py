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

from llmc.daemon.process import running_daemon
from llmc.model import Session, Work
from testing.namespace import PROJECT
from testing.story import Story, script
from testing.waiting import wait_until
from testing.walks import walked

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
    """Each step was taken, and in this order."""
    order = {name: number for number, name in enumerate(walked(listed))}
    assert [step for step in steps(walk) if step not in order] == [], "these are never entered"
    assert sorted(steps(walk), key=order.__getitem__) == steps(walk)


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
    assert running_daemon(story.root) is not None
    return process


def end(daemon: subprocess.Popen[bytes]) -> None:
    daemon.send_signal(signal.SIGTERM)
    daemon.wait(60)


def test_a_report(story: Story, listed: Path, daemon: subprocess.Popen[bytes]) -> None:
    story.rewrite("adam", work=Work.WORKING)
    daemon.send_signal(signal.SIGUSR1)
    spool = Path(story.root.spool("adam"))
    (spool / ".new").write_text(json.dumps({"event": "turn_end"}))
    (spool / ".new").rename(spool / "1.json")
    story.wait("adam", Work.NEEDS_INPUT)
    end(daemon)
    assert_walked("A report", listed)


def test_a_change_of_a_pane(story: Story, listed: Path, daemon: subprocess.Popen[bytes]) -> None:
    daemon.send_signal(signal.SIGUSR1)
    pane = story.pane("adam")
    story.site.tmux.type_text(pane.id, "a draft")
    wait_until(lambda: story.json("status")["workers"][0]["attention"]["detail"] == "draft", 60)
    end(daemon)
    assert_walked("A change on a screen", listed)
