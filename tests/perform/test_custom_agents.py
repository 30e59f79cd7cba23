"""An agent that is described in `config.toml`, from `add` to the review of its work."""

from __future__ import annotations

import shutil
from importlib.resources import files
from pathlib import Path

from llmc.model import Turn, Work
from testing.line_reader import agent_table
from testing.story import Story

WITH_PROMPT = ("--prompt", "> ")


def begin(story: Story, *options: str, events: bool, more: str) -> None:
    story.begin(agents=agent_table("mytool", story.place / "kept", *options, events=events) + more)
    packs = Path(story.root.packs)
    packs.mkdir()
    shutil.copy(str(files("llmc.agents.packs") / "generic.toml"), packs / "mytool.toml")
    story.llmc("config", "check")
    story.llmc("add", "adam", "--agent", "mytool")
    story.up()


def test_its_pack_its_settings_and_its_own_files(story: Story) -> None:
    settings = 'files = { "mytool.json" = \'{"worker": "{name}", "tree": "{worktree}"}\' }\n'
    begin(story, *WITH_PROMPT, events=True, more=f'pack = "mytool"\nown_files = [".mytool*"]\n{settings}')
    written = Path(story.root.settings_dir("adam"), "mytool.json").read_text()
    assert written == f'{{"worker": "adam", "tree": "{story.root.worktree("adam")}"}}'
    Path(story.root.worktree("adam"), ".mytool.history").write_text("mine")
    assert story.json("start", "--worker", "adam", "--prompt", "commit Add made")["outcome"] == "delivered"
    story.wait("adam", Work.NEEDS_REVIEW)
    assert ".mytool" not in story.git("show", "--stat", "HEAD", cwd=story.root.worktree("adam"))


def test_one_that_should_report_and_does_not_is_followed_by_its_screen(story: Story) -> None:
    begin(story, *WITH_PROMPT, "--silent", events=True, more='pack = "mytool"\n')
    assert story.json("start", "--worker", "adam", "--prompt", "commit Add made")["outcome"] == "delivered"
    story.wait("adam", Work.NEEDS_REVIEW)
    assert story.worker("adam").turn is Turn.UNKNOWN
    assert "did not report it: git, its process and its screen decide" in story.llmc("explain", "adam").out
    assert "(no reports)" in story.llmc("status").out


def test_one_that_reports_its_start_and_nothing_else_counts_as_one_without_reports(story: Story) -> None:
    begin(story, *WITH_PROMPT, "--only-start", events=True, more='pack = "mytool"\n')
    assert story.worker("adam").reports_events
    story.llmc("start", "--worker", "adam", "--prompt", "commit Add made", code=4)  # unknown
    story.wait("adam", Work.NEEDS_REVIEW)
    assert not story.worker("adam").reports_events
    assert "(no reports)" in story.llmc("status").out
