"""What an agent says reaches tmux, the desktop, the notify command and the webhook as words, and nothing runs them."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from llmc.config.sections import NotifySettings
from llmc.core.notice import Notice, plain_notice
from llmc.host.background import Errands
from llmc.host.local import LocalHost
from llmc.perform.channels import Caller
from llmc.tmux.server import Tmux
from testing.attached import Person
from testing.endpoint import endpoint
from testing.story import Story
from testing.waiting import wait_until

TRICKS = (
    "#({})",
    "##({})",
    "###({})",
    "#{{E:#({})}}",
    "#[fg=red]#({})",
    "##[fg=red]##({})",
    "#{{?1,#({}),}}",
    "%H %%H #({})",
    "$({})",
    "`{}`",
    "; run-shell '{}'",
    "x\n{}\n;",
    '" ; run-shell "{}" ; "',
    "' ; {} ; '",
    "#{{l:x}}\x1b]52;c;eA==\x07\x9b31m\x00{}",
    "{};",
    "{}\\;",
)


@pytest.fixture
def pwned(tmp_path: Path) -> Path:
    return tmp_path / "pwned"


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Tmux]:
    """A server with a person attached to it."""
    tmux = Tmux(LocalHost(), f"llmc-notices-{os.getpid()}")
    tmux.new_session("seen", str(tmp_path), ["sleep", "1000"], {}, (200, 50))
    try:
        with Person(tmux.attach_command("seen", "Ctrl-b d leaves"), os.environ, columns=200):
            wait_until(lambda: tmux.run("list-clients").text.strip())
            yield tmux
    finally:
        tmux.stop()


def _notice(trick: str, pwned: Path) -> Notice:
    return plain_notice("adam", "needs_input", "adam: " + trick.format(f"touch {pwned}"))


def _call(settings: NotifySettings, notice: Notice, servers: list[Tmux]) -> list[str]:
    heard: list[str] = []
    errands = Errands(heard.append)
    Caller(LocalHost(), settings, errands).call(notice, servers)
    errands.finish(20.0)
    return heard


def test_a_message_in_tmux_is_shown_as_it_is_and_runs_nothing(watched: Tmux, pwned: Path, tmp_path: Path) -> None:
    client = watched.run("list-clients", "-F", "#{client_name}").text.strip()
    for trick in TRICKS:
        notice = _notice(trick, pwned)
        assert _call(NotifySettings(bell=False), notice, [watched]) == []
        shown = watched.run("show-messages", "-t", client).text
        assert _styleless(notice.text) in _styleless(shown), trick
    # The same without our care, to know that the trick would have worked by now.
    control = tmp_path / "control"
    # tmux ends what it has begun for a client that has left: one try may come to nothing.
    wait_until(lambda: watched.run("display-message", "-p", f"#(touch {control})").ok and control.exists())
    assert not pwned.exists()


def _styleless(text: str) -> str:
    """tmux keeps what it would show as `#[` with one more `#` than that."""
    return re.sub(r"#+\[", "[", text)


def test_neither_the_desktop_nor_a_command_nor_a_webhook_runs_it(
    tmp_path: Path, pwned: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = tmp_path / "said"
    program = tmp_path / "notify-send"
    program.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" > '{said}'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    by_command = f'printf %s "$LLMC_NOTICE_TEXT" > {tmp_path}/command'
    for trick in TRICKS:
        notice = _notice(trick, pwned)
        with endpoint() as place:
            settings = NotifySettings(
                bell=False, tmux_message=False, desktop=True, command=by_command, webhook=place.address
            )
            assert _call(settings, notice, []) == []
            assert place.heard[0]["text"] == notice.text
        assert said.read_text().splitlines()[:3] == ["--app-name=LLMC", "--", "LLMC: adam"]
        assert (tmp_path / "command").read_text() == notice.text
        assert notice.text.isprintable()
    assert not pwned.exists()


def test_the_desktop_shows_markup_and_escapes_as_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = tmp_path / "said"
    program = tmp_path / "notify-send"
    program.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" > '{said}'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    notice = plain_notice("adam", "error", r"adam: <img src=x> & \033[2J")
    assert _call(NotifySettings(bell=False, tmux_message=False, desktop=True), notice, []) == []
    assert said.read_text().splitlines()[-1] == r"adam &lt;img src=x&gt; &amp; \\033[2J"


def test_a_report_of_an_agent_reaches_an_attached_person_as_words(story: Story, pwned: Path) -> None:
    said = story.place / "said"
    command = f'printf "%s\\n" "$LLMC_NOTICE_TEXT" >> {said}'
    story.begin("adam", notify__command=command).up()
    story.task("adam", "hang")
    attach = story.site.tmux.attach_command("llmc-adam", "Ctrl-b d leaves")
    with Person(attach, os.environ, columns=200):
        wait_until(lambda: story.site.tmux.run("list-clients").text.strip())
        for number, trick in enumerate(TRICKS):
            _report(story, f"n{number} " + trick.format(f"touch {pwned}"))
            # One after the other: of many notices at once some are dropped.
            story.until(lambda number=number: said.exists() and f"n{number} " in said.read_text())
    assert not pwned.exists()
    assert not list(story.place.rglob("pwned"))


def _report(story: Story, words: str) -> None:
    spool = Path(story.root.spool("adam"))
    unfinished = spool / ".evil"
    unfinished.write_text(json.dumps({"event": "permission", "command": words}))
    unfinished.rename(spool / f"{time.time_ns()}-evil.json")
