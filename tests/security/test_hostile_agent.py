"""An agent's words and files cannot reach the user's terminal as commands, nor files outside of its worktree."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path

import pytest

from llmc.model import Work
from testing.story import Story

EVIL = "\x1b]0;owned\x07\x1b[2J\x9b31m\x1b]52;c;b3duZWQ=\x07#(touch pwned)#{pane_id}$(touch pwned)`touch pwned`"
WATCHING = ("status", "peek adam", "events", "explain adam", "logs adam", "review adam", "review adam --interface stat")


def _harmless(text: str) -> bool:
    return all(character.isprintable() or character in "\n\t" for character in text)


def _report(story: Story, **report: str) -> None:
    spool = Path(story.root.spool("adam"))
    unfinished = spool / ".evil"
    unfinished.write_text(json.dumps(report))
    unfinished.rename(spool / f"{time.time_ns()}-evil.json")


def test_nothing_that_an_agent_says_reaches_the_terminal_raw(story: Story) -> None:
    story.begin("adam").up()
    pane = story.pane("adam")
    tty = story.site.tmux.run("display-message", "-p", "-t", pane.id, "#{pane_tty}").text.strip()
    Path(tty).write_text(EVIL)
    story.commit_as("adam", "evil.txt", EVIL, f"Add {EVIL}")
    story.wait("adam", Work.NEEDS_REVIEW)
    for words in WATCHING:
        said = story.llmc(*words.split())
        assert said.out, words
        assert _harmless(said.out + said.err), (words, said)
        as_json = story.llmc(*words.split(), "--json")
        assert _harmless(as_json.out), words
        json.loads(as_json.out)
    assert not list(story.place.rglob("pwned"))


@pytest.mark.parametrize("event", ["permission", "question", "failure"])
def test_what_an_agent_reports_reaches_the_terminal_as_plain_text(story: Story, event: str) -> None:
    story.begin("adam").up()
    story.task("adam", "hang")
    _report(story, event=event, tool=EVIL, command=EVIL, text=EVIL, message=EVIL, kind=EVIL)
    story.wait("adam", Work.NEEDS_INPUT)
    for words in ("status", "explain adam", "events", "logs adam", "status --short"):
        assert _harmless(story.llmc(*words.split()).out), words
    assert not list(story.place.rglob("pwned"))


@pytest.mark.parametrize("verb", ["reset", "nuke"])
def test_cleaning_up_does_not_follow_links(story: Story, precious: Path, verb: str) -> None:
    story.begin("adam").up()
    worktree = Path(story.worker("adam").worktree_path)
    (worktree / "there").symlink_to(precious)
    (worktree / "deep").mkdir()
    (worktree / "deep" / "there").symlink_to(precious / "below")
    story.llmc(verb, "adam", "--yes")
    assert (precious / "kept").read_text() == "kept\n"
    assert (precious / "below" / "kept").read_text() == "kept too\n"


def test_accepting_and_undoing_do_not_write_through_links(story: Story, precious: Path) -> None:
    story.begin("adam").up()
    story.work("adam", "write below/kept changed", "commit Add a directory")
    worktree = Path(story.worker("adam").worktree_path)
    story.llmc("reset", "adam", "--yes")
    (worktree / "below").symlink_to(precious / "below")
    story.llmc("undo", "adam", "--yes")
    assert (precious / "below" / "kept").read_text() == "kept too\n"


@pytest.mark.parametrize("verb", ["reset", "nuke"])
def test_a_worktree_that_was_replaced_by_a_link_leads_nowhere(story: Story, precious: Path, verb: str) -> None:
    story.begin("adam").up()
    worktree = Path(story.worker("adam").worktree_path)
    shutil.move(worktree, story.place / "moved")
    worktree.symlink_to(precious)
    said = story.spawn(verb, "adam", "--yes").wait()
    assert said in (0, 1)
    assert sorted(os.listdir(precious)) == ["below", "kept"]
    assert (precious / "kept").read_text() == "kept\n"


def test_a_prompt_is_never_run_by_a_shell(story: Story) -> None:
    story.begin("adam").up()
    touch = f"touch {story.place}/pwned"
    story.task("adam", f"say $({touch}) `{touch}`; {touch}", "nothing")
    story.wait("adam", Work.NEEDS_INPUT)
    assert touch in story.worker("adam").current_prompt
    assert not (story.place / "pwned").exists()
