"""An agent is up again: with its conversation where it takes that up, and without it otherwise."""

from __future__ import annotations

import os

import pytest

from llmc.core.lifecycle import events as ev
from llmc.core.lifecycle.effects import StartSession, to_step
from llmc.perform import sessions
from testing.story import Story

HALF_A_TURN = """
  ┃
  ┃  Add the feature.
  ┃

  ┃
  ┃  ⠙ make test
  ┃

     ▣  Build · Scripted

"""
INPUT_LINE = """
  ┃
  ┃
  ┃
  ┃  Build · Scripted Loopback
  ╹▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀
   ~/demo                                 tab agents  ctrl+p commands
"""
PROGRAM = """\
#!/bin/sh
if [ "$1" = --session ]; then
  [ -n "{lost}" ] && {{ echo "Error: Session not found: $2"; exit 1; }}
  cat "{before}"
fi
cat "{input_line}"
echo '{{"event": "session_start", "reason": "startup"}}' > "$LLMC_SPOOL/$$.json"
exec cat > /dev/null
"""
"""What opencode shows of a conversation, by `--session`."""


def with_opencode(story: Story, monkeypatch: pytest.MonkeyPatch, before: str, *, lost: bool = False) -> None:
    """A worker that had a conversation, on a machine with that program for opencode."""
    programs = story.place / "programs"
    programs.mkdir()
    parts = {"before": before, "input_line": INPUT_LINE}
    for name, content in parts.items():
        (programs / name).write_text(content)
    program = programs / "opencode"
    program.write_text(PROGRAM.format(lost="yes" if lost else "", **{name: programs / name for name in parts}))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    story.begin("adam", agent="opencode", agents="\n[agents.opencode]\nready_timeout_secs = 20\n")
    story.site.ledger.apply("adam", ev.PromptHeard(story.site.now(), "0" * 64, "ses_1"))


def start(story: Story) -> ev.SessionReady:
    result = sessions.start(story.site, story.worker("adam"), to_step(StartSession(), "adam-1"))
    assert isinstance(result, ev.SessionReady), result
    return result


@pytest.mark.parametrize(
    "before",
    [
        pytest.param("", id="nothing was said yet"),
        pytest.param(HALF_A_TURN, id="half a turn"),
        pytest.param(HALF_A_TURN.replace("⠙ make test", "Unable to connect."), id="a failure"),
    ],
)
def test_a_conversation_is_taken_up_however_it_ended(
    story: Story, monkeypatch: pytest.MonkeyPatch, before: str
) -> None:
    with_opencode(story, monkeypatch, before)
    assert start(story).resumed


def test_a_conversation_that_is_lost_is_begun_anew(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    with_opencode(story, monkeypatch, "", lost=True)
    assert not start(story).resumed
