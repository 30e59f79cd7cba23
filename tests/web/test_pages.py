"""What the server draws: escaped, without anything inline, small, with what each card offers."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest
from jinja2 import UndefinedError

from llmc.core.board.board import board_of
from llmc.web import drawing
from llmc.web.drawing import STATIC, drawn

HOSTILE = "<img src=x onerror=alert(1)>\"'</textarea><script>alert(2)</script>"
TEMPLATES = Path(drawing.__file__).parent / "templates"


def worker(name, **more):
    return {
        "name": name,
        "agent": "claude",
        "status": "working",
        "session": "up",
        "work": "working",
        "attention": {"state": "BUSY"},
        "current_prompt": "Add a login page",
        "evidence": {"signal": "hook.prompt", "at_unix": 1.0},
        **more,
    }


def document(*workers, tasks=()):
    return {
        "root": "/a/root",
        "branch": "main",
        "daemon": {"running": True},
        "workers": list(workers),
        "tasks": list(tasks),
        "task_counts": {},
        "train": {"entries": [], "paused": False},
        "landings": [],
    }


def page_of(*workers, tasks=(), read_only=False):
    board = board_of(document(*workers, tasks=tasks))
    return drawn("board.html", board=board, head=board["head"], id="a.1", read_only=read_only, path="/", root="/a/root")


ASKS = {
    "status": "needs_input",
    "work": "needs_input",
    "attention": {"state": "NEEDS_CONFIRMATION"},
    "asked": {"id": "d7", "text": f"Run {HOSTILE}?", "options": ["Yes", HOSTILE]},
}


def test_whatever_an_agent_writes_is_only_text() -> None:
    page = page_of(worker("adam", **ASKS, last_words=HOSTILE, current_prompt=HOSTILE))
    assert "<img src=x" not in page
    assert "<script>alert" not in page
    assert "&lt;img src=x" in page


def test_what_turns_a_line_around_is_seen_and_half_a_character_breaks_no_page() -> None:
    page = page_of(
        worker("adam", **{**ASKS, "asked": {"id": "d7", "text": "run \u202emr\u2066\x1b[31m \udcff", "options": []}})
    )
    assert page.encode()
    assert not set("\u202e\u2066\x1b") & set(page)
    assert "run \ufffdmr\ufffd" in page


@pytest.mark.lesson(53, "an answer to a dialog that has changed meanwhile is refused")
def test_each_option_is_a_button_that_answers_this_very_dialog() -> None:
    page = page_of(worker("adam", **ASKS))
    assert page.count('data-post="/api/v1/workers/adam/answer"') == 2
    assert page.count("&#34;dialog&#34;: &#34;d7&#34;") == 2


def test_who_may_only_look_is_offered_nothing_to_do() -> None:
    queued = {"id": "t1", "title": "Later", "state": "queued", "after": [], "priority": 0}
    page = page_of(worker("adam", **ASKS), worker("baker"), tasks=[queued], read_only=True)
    assert "data-post" not in page
    assert "data-open" not in page
    assert "Run &lt;img" in page, "they see what is asked"


def test_nothing_is_inline_and_nothing_comes_from_elsewhere() -> None:
    """The content policy forbids both."""
    for template in TEMPLATES.glob("*.html"):
        text = template.read_text("utf-8")
        assert not re.search(r"<style|\sstyle=|\son[a-z]+=|javascript:|\|safe\b", text), template.name
        assert re.findall(r"<script(?![^>]*\ssrc=\"/static/)", text) == [], template.name
        assert "//" not in re.sub(r"\{#.*?#\}", "", text), template.name


def test_what_is_not_known_is_an_error_and_not_a_gap() -> None:
    with pytest.raises(UndefinedError):
        drawn("board.html")


def test_the_first_page_is_small() -> None:
    """Ten kilobytes for each kind of card, a hundred in all, and the terminal only where there is one."""
    page = page_of(*(worker(f"w{number}") for number in range(20)), worker("adam", **ASKS))
    parts = [STATIC / name for name in ("board.js", "style.css", "icon.svg")] + [*STATIC.glob("part-*.js")]
    size = sum(len(gzip.compress(part.read_bytes())) for part in parts) + len(gzip.compress(page.encode()))
    assert size < 100_000
    assert "worker.js" not in page


def test_the_bundles_have_no_address_in_them() -> None:
    for bundle in STATIC.glob("*.js"):
        text = bundle.read_text("utf-8")
        assert "eval(" not in text
        assert {*re.findall(r"https?://[\w.]+", text)} <= {"http://www.w3.org"}, bundle.name


def test_the_work_of_a_stopped_worker_can_be_accepted() -> None:
    stopped = worker("adam", status="offline", session="down", work="needs_review")
    board = board_of(document(stopped))
    work = {
        "tree": "75114a541bf8",
        "task": "t1",
        "reviewed_sha": "4059d7ae1881",
        "prompt": "Add it",
        "uncommitted": [],
        "files": [],
        "checks": {"results": []},
        "since": None,
    }
    page = drawn(
        "review.html",
        card=board["cards"]["worker/adam"],
        head=board["head"],
        work=work,
        files=[],
        talk={"open": [], "rounds": []},
        since=False,
        split=False,
        problem=None,
        read_only=False,
        path="/workers/adam/review",
        root="/a/root",
    )
    assert "Accept tree 75114a5" in page
    assert "restart adam first" in page
    assert "Send back" not in page
