"""Every way of calling a person, with real programs and a real endpoint; none of them holds anything up."""

from __future__ import annotations

import os
import pty
from pathlib import Path

import pytest

from llmc.config.sections import NotifySettings
from llmc.core.notice import Notice, notice_of, plain_notice
from llmc.core.screen.assessment import Assessment
from llmc.host.background import Errands
from llmc.host.local import LocalHost
from llmc.perform.channels import Caller
from testing.endpoint import Answer, endpoint
from testing.waiting import wait_until

HOSTILE = "run \x1b]0;owned\x07 `rm` $(rm) #{pid} %H; \x1b[31mnow"
ASKED: Assessment = {
    "state": "NEEDS_CONFIRMATION",
    "detail": "permission",
    "summary": HOSTILE,
    "actions_needed": ("answer yes or no",),
}
NOTICE = notice_of("shop", ASKED)
QUIET = NotifySettings(bell=False, tmux_message=False)


@pytest.fixture
def heard() -> list[str]:
    return []


def call(settings: NotifySettings, heard: list[str], tty: str = "") -> Errands:
    errands = Errands(heard.append)
    Caller(LocalHost(), settings, errands).call(NOTICE, [], tty)
    return errands


def program(directory: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in that writes down its words."""
    said = directory / "said"
    path = directory / name
    path.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" > '{said}.new' && mv '{said}.new' '{said}'\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{directory}:{os.environ['PATH']}")
    return said


def test_it_says_who_why_and_what_is_asked_without_anything_harmful():
    assert NOTICE.who == "shop"
    assert NOTICE.text.startswith("shop asks you (permission): run")
    assert NOTICE.text.endswith("; answer yes or no")
    assert NOTICE.text.isprintable()
    assert plain_notice("adam", "error", "adam: it \x1b[1mfailed").text == "adam it \ufffd[1mfailed"


def test_what_to_type_is_what_is_asked():
    notice = plain_notice("adam", "needs_input", "adam waits for you: it asks: which?; `llmc answer adam yes`")
    assert (notice.why, notice.asked) == ("waits for you: it asks: which?", "`llmc answer adam yes`")
    assert notice.text == "adam waits for you: it asks: which?; `llmc answer adam yes`"


def test_the_command_gets_the_words_and_none_of_them_is_run(tmp_path, heard):
    said = tmp_path / "said"
    line = (
        f'printf \'%s|\' "$LLMC_NOTICE_WHO" "$LLMC_NOTICE_KIND" "$LLMC_NOTICE_TEXT" > {said}.new; mv {said}.new {said}'
    )
    call(NotifySettings(bell=False, tmux_message=False, command=line), heard)
    wait_until(said.exists)
    assert said.read_text() == f"shop|NEEDS_CONFIRMATION|{NOTICE.text}|"
    assert heard == []


def test_the_desktop_is_told_by_the_program_that_there_is(tmp_path, heard, monkeypatch):
    said = program(tmp_path, "notify-send", monkeypatch)
    call(NotifySettings(bell=False, tmux_message=False, desktop=True), heard)
    wait_until(said.exists)
    assert said.read_text().splitlines() == ["--app-name=LLMC", "--", "LLMC: shop", NOTICE.text]


def test_a_webhook_gets_json(heard):
    with endpoint() as place:
        call(NotifySettings(bell=False, tmux_message=False, webhook=place.address), heard)
        wait_until(lambda: place.heard)
    assert (place.heard[0]["who"], place.heard[0]["asked"]) == ("shop", "answer yes or no")
    assert heard == []


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("slack", {"text": "LLMC: adam asks: &lt;!channel&gt; a &amp; b?; llmc answer adam yes"}),
        (
            "discord",
            {
                "content": "LLMC: adam asks: <!channel> a & b?; llmc answer adam yes",
                "allowed_mentions": {"parse": []},
            },
        ),
    ],
)
def test_services_get_what_they_take_and_nobody_is_mentioned(heard, form, expected):
    notice = Notice("adam", "needs_input", "asks: <!channel> a & b?", "llmc answer adam yes")
    with endpoint() as place:
        settings = NotifySettings(bell=False, tmux_message=False, webhook=place.address, format=form)
        Caller(LocalHost(), settings, Errands(heard.append)).call(notice, [])
        wait_until(lambda: place.heard)
    assert place.heard == [expected]


def test_ntfy_gets_text_with_a_title(heard):
    with endpoint() as place:
        call(NotifySettings(bell=False, tmux_message=False, webhook=place.address, format="ntfy"), heard)
        wait_until(lambda: place.heard)
    assert (place.heard[0]["text"], place.heard[0]["Title"]) == (NOTICE.text, "LLMC: shop")


@pytest.mark.parametrize("answer", [Answer(500), Answer(429)])
def test_a_webhook_that_refuses_is_complained_of(heard, answer):
    with endpoint(answer) as place:
        call(NotifySettings(bell=False, tmux_message=False, webhook=place.address), heard)
        wait_until(lambda: heard)
    assert heard == [f"the webhook: it answered {answer.status}"]


def test_a_webhook_that_hangs_holds_nothing_up(heard):
    with endpoint(Answer(hangs=True)) as place:
        errands = call(NotifySettings(bell=False, tmux_message=False, webhook=place.address), heard)
        wait_until(lambda: place.heard)
        assert errands.run("something else", lambda: heard.append("done"))
        wait_until(lambda: heard == ["done"])


def test_a_command_that_fails_is_complained_of(heard):
    call(NotifySettings(bell=False, tmux_message=False, command="echo oh; exit 7"), heard)
    wait_until(lambda: heard)
    assert heard == ["the notify command: it ended with 7: oh"]


def test_the_bell_rings_in_the_terminal_itself(heard):
    outer, inner = pty.openpty()
    call(NotifySettings(tmux_message=False), heard, os.ttyname(inner))
    assert os.read(outer, 10) == b"\a"
    os.close(outer)
    os.close(inner)


def test_nothing_is_called_that_is_switched_off(heard):
    errands = call(QUIET, heard)
    errands.finish(5.0)
    assert heard == []
    assert isinstance(NOTICE, Notice)
