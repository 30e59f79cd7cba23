"""What docs/events.md tells authors of agents: its programs are run as they stand, its table of oddities holds."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from llmc.agents.reports import KINDS
from llmc.model import Work
from llmc.store.spool import pending
from testing.namespace import PROJECT
from testing.story import Story, told_in

PAGE = (PROJECT / "docs" / "events.md").read_text()
PROGRAMS = {"sh": "sh", "python": sys.executable}
FOR_LLMC = "LLMC_SPOOL"


@pytest.fixture
def story(tmp_path: Path) -> Iterator[Story]:
    """A worker at work, and no daemon."""
    with told_in(tmp_path) as story:
        story.begin("adam")
        story.rewrite("adam", work=Work.WORKING, current_prompt="Add a page")
        Path(story.root.spool("adam")).mkdir(parents=True, exist_ok=True)
        yield story


def run(story: Story, language: str, more: str = "", *, started_by_llmc: bool = True) -> None:
    (program,) = re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    env = {**os.environ, FOR_LLMC: story.root.spool("adam")} if started_by_llmc else {**os.environ}
    subprocess.run([PROGRAMS[language], "-c", program + more], env=env, check=True)


@pytest.mark.parametrize("language", PROGRAMS)
def test_the_examples_report_in_order(story: Story, language: str) -> None:
    run(story, language)
    said = story.json("explain", "adam")
    assert (said["work"], said["evidence"]["signal"]) == ("needs_input", "hook.turn_end")
    heard = [event.signal for event in story.events("adam") if event.signal.startswith("hook.")]
    assert heard == ["hook.prompt", "hook.turn_end"]
    assert os.listdir(story.root.spool("adam")) == []


@pytest.mark.parametrize("language", PROGRAMS)
def test_the_examples_do_nothing_elsewhere(story: Story, language: str) -> None:
    run(story, language, started_by_llmc=False)
    assert os.listdir(story.root.spool("adam")) == []


def test_many_reports_of_one_moment_keep_their_order(story: Story) -> None:
    more = (f'report \'{{"event": "question", "text": "{number}"}}\'\n' for number in range(12))
    run(story, "sh", "".join(more))
    asked = [
        waiting.data["text"] for waiting in pending(story.root.spool("adam")) if "question" in waiting.data.values()
    ]
    assert asked == [str(number) for number in range(12)]


def test_the_page_has_every_event() -> None:
    told = re.findall(r"^\| `([a-z_]+)` \|", PAGE.partition("\n| `event` |")[2], re.MULTILINE)
    assert sorted(told) == sorted(KINDS)


def test_what_becomes_of_odd_ones(story: Story) -> None:
    spool = Path(story.root.spool("adam"))
    (spool / "1.json").write_text("no JSON")
    (spool / "2.json").symlink_to("/etc/hostname")
    (spool / "3.json").write_text('{"event": "party"}')
    (spool / ".4.json").write_text('{"event": "turn_end"}')
    (spool / "5.txt").write_text('{"event": "turn_end"}')
    assert story.json("explain", "adam")["work"] == "working"
    assert sorted(os.listdir(spool)) == [".4.json", "5.txt", "bad"]
    assert sorted(note.read_text().partition(":")[0] for note in (spool / "bad").glob("*.note")) == ["1.json", "2.json"]
    assert any(found["code"] == "events-bad" for found in story.json("doctor")["findings"])
