"""Whatever turns up among the reports of an agent: the daemon and every command go on, and doctor tells of it."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from llmc.model import Session, Work
from testing.story import Story, script

DAY = 86_400.0


def _report(spool: Path, name: str, content: object, at: float | None = None) -> None:
    """Complete from the first moment, as every report has to be."""
    unfinished = spool / f".{name}"
    unfinished.write_text(json.dumps(content))
    if at is not None:
        os.utime(unfinished, (at, at))
    unfinished.rename(spool / f"{name}.json")


def _files(spool: Path) -> None:
    for number in range(3000):
        _report(spool, f"{number:06}", {"event": "unheard of"})


def _horrors(spool: Path) -> None:
    (spool / "bad").write_text("mine")  # before LLMC has something to put there
    (spool / ".0" / "deep" / "deeper").mkdir(parents=True)
    (spool / ".0").rename(spool / "0.json")
    os.mkfifo(spool / "1.json")
    (spool / "2.json").symlink_to("/dev/zero")
    (spool / "3.json").symlink_to(spool)
    with socket.socket(socket.AF_UNIX) as bound:
        os.chdir(spool)  # the path of a socket must be short
        bound.bind("4.json")
    with (spool / "5.json").open("wb") as file:
        file.truncate(1 << 31)
    (spool / "6.json").write_bytes(b'{"event": "permission", "text": "' + b"x" * (3 << 20) + b'"}')
    (spool / "7.json").write_text('{"event": "question", "text": "\\ud800\\u0000"}')
    with open(os.fsencode(spool) + b"/8\n\xff.json", "wb") as file:
        file.write(b"[")


def _of_another(spool: Path) -> None:
    for event in ("prompt", "turn_end", "permission", "failure"):
        _report(spool, event, {"event": event, "text": "x", "session": "another"})


def _from_the_future(spool: Path) -> None:
    for number, event in enumerate(("session_start", "turn_end")):
        _report(spool, str(number), {"event": event}, time.time() + 900 * DAY)


@pytest.mark.parametrize("drop", [_files, _horrors, _of_another, _from_the_future])
def test_everything_goes_on(story: Story, drop: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(story.place)
    story.begin("adam").up()
    spool = Path(story.root.spool("adam"))
    drop(spool)
    story.until(lambda: not [path for path in spool.iterdir() if path.name.endswith(".json")])
    story.until(lambda: story.worker("adam").session is Session.UP)
    story.work("adam", "write a.txt x", "commit Add a")
    assert story.worker("adam").work is Work.NEEDS_REVIEW
    assert os.path.getsize(Path(story.root.path, "state.json")) < 200_000
    for words in ("status", "explain adam", "events", "logs adam"):
        assert story.llmc(*words.split()).out
    found = {each["code"] for each in story.json("doctor")["findings"] if each["worker"] == "adam"}
    assert found == ({"events-bad"} if drop is _horrors else set())
    story.llmc("restart", "adam", "--yes")
    assert story.json("message", "adam", script("nothing"))["outcome"] == "delivered"
