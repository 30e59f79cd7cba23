from __future__ import annotations

import pytest

from llmc.tmux.parsing import (
    PANE_FIELDS,
    SEPARATOR,
    last_words,
    parse_pane,
    parse_version,
    says_no_pane,
    says_no_sessions,
)

ALIVE = {
    "session_name": "llmc-adam",
    "pane_id": "%3",
    "pane_pid": "4711",
    "pane_tty": "/dev/pts/5",
    "pane_dead": "0",
    "pane_dead_status": "",
    "pane_dead_signal": "",
    "pane_current_command": "claude",
    "pane_in_mode": "0",
    "cursor_x": "7",
    "cursor_y": "11",
    "alternate_on": "1",
    "pane_width": "200",
    "pane_height": "50",
    "session_attached": "2",
    "pid": "99",
    "window_id": "@2",
    "@last_screen": "",
    "@rows_kept": "",
    "pane_title": "✳ topic",
}


def line(**changes: str) -> str:
    return SEPARATOR.join({**ALIVE, **changes}[name] for name in PANE_FIELDS)


def test_a_living_pane():
    pane = parse_pane(line())
    assert (pane.session, pane.id, pane.pid, pane.tty, pane.server_pid) == ("llmc-adam", "%3", 4711, "/dev/pts/5", 99)
    assert (pane.dead, pane.exit_code, pane.exit_signal) == (False, None, None)
    assert (pane.command, pane.title) == ("claude", "✳ topic")
    assert (pane.cursor, pane.width, pane.height, pane.attached) == ((7, 11), 200, 50, 2)
    assert pane.alternate
    assert not pane.in_mode


@pytest.mark.parametrize(
    ("status", "signal", "expected"),
    [("3", "", (3, None)), ("0", "", (0, None)), ("", "9", (None, 9)), ("", "", (None, None))],
)
def test_how_a_dead_pane_ended(status, signal, expected):
    pane = parse_pane(line(pane_dead="1", pane_dead_status=status, pane_dead_signal=signal))
    assert pane.dead
    assert (pane.exit_code, pane.exit_signal) == expected


@pytest.mark.parametrize(("in_mode", "expected"), [("0", False), ("", False), ("1", True), ("2", True)])
def test_modes_may_be_stacked(in_mode, expected):
    assert parse_pane(line(pane_in_mode=in_mode)).in_mode is expected


@pytest.mark.parametrize("title", ["", "a\u2028b\x85c", "with\ttabs"])
def test_a_title_is_taken_as_it_is(title):
    assert parse_pane(line(pane_title=title)).title == title


@pytest.mark.parametrize("text", ["", "one two", line(pane_pid=""), line(pane_pid="x"), SEPARATOR * 16])
def test_what_is_no_pane_is_not_taken_for_one(text):
    with pytest.raises(ValueError):
        parse_pane(text)


@pytest.mark.parametrize(
    "complaint",
    [
        "no server running on /tmp/tmux-0/llmc-1",
        "error connecting to /tmp/tmux-0/llmc-1 (No such file or directory)",
        "no current target",
    ],
)
def test_words_that_mean_that_there_is_nothing(complaint):
    assert says_no_sessions(complaint)
    assert says_no_pane(complaint)


@pytest.mark.lesson(21, "not knowing moves nobody")
@pytest.mark.parametrize(
    "complaint",
    [
        "error connecting to /tmp/tmux-0/llmc-1 (Permission denied)",
        "error connecting to /tmp/tmux-0/llmc-1 (Too many open files)",
        "server exited unexpectedly",
        "lost server",
        "protocol version mismatch (client 8, server 7)",
        "open terminal failed: not a terminal",
        "",
    ],
)
def test_any_other_words_mean_that_nothing_is_known(complaint):
    assert not says_no_sessions(complaint)
    assert not says_no_pane(complaint)


def test_a_missing_pane_says_nothing_about_the_others():
    assert says_no_pane("can't find pane: %99")
    assert not says_no_sessions("can't find pane: %99")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tmux 3.3a", (3, 3)),
        ("tmux 3.4\n", (3, 4)),
        ("tmux 3.10", (3, 10)),
        ("tmux 3.3-rc2", (3, 3)),
        ("tmux next-3.5", (3, 5)),
        ("tmux 4", (4, 0)),
        ("tmux 2.9a", (2, 9)),
        ("tmux master", (99, 0)),
        ("tmux openbsd-7.4", (99, 0)),
        ("", (99, 0)),
    ],
)
def test_versions(text, expected):
    assert parse_version(text) == expected


def test_last_words_are_the_programs_own():
    screen = "one\n\n  two  \nthree\nfour\n\nPane is dead (status 3, Sun Nov 15 12:00:00 2026)\n"
    assert last_words(screen) == "two / three / four"
    assert last_words("\n\nPane is dead (signal 9, now)\n") == ""
