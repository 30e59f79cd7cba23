"""What `llmc status` draws: fits, colours, and harmless words."""

from __future__ import annotations

import re

from llmc.commands.shared.status_view import status_text
from llmc.core.lifecycle.signal_words import SIGNAL_WORDS, reason
from llmc.core.lifecycle.table import TABLE
from llmc.core.paint import Paint

COLOUR = re.compile(r"\x1b\[[0-9;]*m")

FLOW = {"train": {"paused": False, "entries": []}, "tasks": [], "task_counts": {}}


def worker(name="adam", status="working", **more):
    return {
        "name": name,
        "status": status,
        "work": status,
        "session": "up",
        "agent": "demo",
        "turn": "open",
        "reports_events": True,
        "current_prompt": "Add a login page with a form, a session and a way to log out again",
        "last_activity_unix": 0,
        "attention": {"state": "BUSY"},
        "evidence": {"signal": "hook.prompt", "detail": ""},
        "conflicts": None,
        "troubles": [],
        **more,
    }


def document(*workers, root="/somewhere/llmc"):
    daemon = {"running": True, "pid": 7}
    return {"root": root, "daemon": daemon, "branch": "main", "landings": [], "workers": workers, "patrol": {}, **FLOW}


def test_every_signal_has_words():
    assert {rule.signal for rule in TABLE.values()} <= set(SIGNAL_WORDS)


def test_reasons_are_words_and_no_signal_names():
    assert reason("hook.prompt", "") == "has read its task"
    assert reason("delivery", "proof: hook") == "has its text"
    assert reason("hook.activity", "Bash") == "uses a tool: Bash"
    assert reason("git.commit", "commit 0123") == "commit 0123"


def test_there_is_a_header_and_who_waits_is_counted():
    shown = status_text(document(worker(), worker("baker", "needs_review")), 100).splitlines()
    assert "1 waits for you" in shown[0]
    assert shown[1].split() == ["worker", "status", "screen", "task", "age", "why"]
    assert shown[1].index("task") == shown[2].index("Add a login")


def test_lines_fit_with_and_without_colours():
    many = document(worker("a-rather-long-name"), worker("baker", "needs_input"), worker("carl", "error"))
    for columns in (40, 80, 120, 300):
        bare = status_text(many, columns).splitlines()[1:]
        assert max(map(len, bare)) <= columns
        painted = status_text(many, columns, Paint(wanted=True)).splitlines()[1:]
        assert [COLOUR.sub("", line).rstrip() for line in painted] == bare
        assert all(COLOUR.search(line) for line in painted)


def test_a_long_name_leaves_room_for_the_reason():
    shown = status_text(document(worker("a-name-of-thirty-eight-characters-long", "needs_input")), 80)
    assert "has read" in shown


def test_nothing_of_others_reaches_the_terminal_raw():
    evil = "\x1b]0;owned\x07\x1b[2J"
    told = worker(current_prompt=evil, evidence={"signal": "x", "detail": evil}, troubles=[{"what": evil, "do": evil}])
    shown = status_text(document(told, root=f"/somewhere/{evil}"), 80, Paint(wanted=True))
    assert "\x1b" not in COLOUR.sub("", shown)
    assert "\x07" not in shown
