"""A repository that means harm: its names are never commands, its files are never settings."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import pytest

from llmc.agents.base import LaunchOrder
from llmc.agents.hooks import SCRIPT, hook_command, script_path
from llmc.model import Work
from testing.story import Story

EVIL_NAMES = (
    "$(touch pwned)",
    "`touch pwned`",
    "; touch pwned",
    "a'b\"c",
    "-rf",
    "new\nline",
    "\x1b[31mred",
    "#(touch pwned)",
)


def _pwned(story: Story) -> list[Path]:
    return list(story.place.rglob("pwned"))


def test_names_of_files_are_never_commands(story: Story) -> None:
    story.begin("adam").up()
    worktree = Path(story.worker("adam").worktree_path)
    for name in EVIL_NAMES:
        (worktree / name).write_text("x\n")
    story.git("add", "--all", "--", ".", cwd=str(worktree))
    story.git("commit", "--quiet", "-m", "Add odd names", cwd=str(worktree))
    story.wait("adam", Work.NEEDS_REVIEW)
    story.llmc("review", "adam")
    story.llmc("accept", "adam")
    assert sorted(os.listdir(story.repository)) == sorted((".git", "README", *EVIL_NAMES))
    assert _pwned(story) == []


def test_a_branch_with_an_odd_name_is_a_name(story: Story) -> None:
    story.begin()
    branch = "feature/$(touch${IFS}pwned)'\"`x`"
    story.git("checkout", "--quiet", "-b", branch)
    story.llmc("init", "--source", str(story.repository), "--target", f"{story.place}/second", "--branch", branch)
    assert _pwned(story) == []


def test_hooks_and_settings_of_the_repository_are_not_ours(story: Story) -> None:
    """A clone does not take hooks along, and a `config.toml` or `packs` in the repository is not read."""
    story.begin()
    hooks = story.repository / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("post-checkout", "reference-transaction", "post-commit", "post-rewrite"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {shlex.quote(str(story.place))}/pwned\n")
        (hooks / name).chmod(0o755)
    (story.repository / "config.toml").write_text('[repo]\nvalidate = ["touch ../pwned"]\n')
    subprocess.run(["git", "add", "config.toml"], cwd=story.repository, check=True)
    subprocess.run(
        ["git", "-c", "core.hooksPath=/dev/null", "commit", "-qm", "Settings"], cwd=story.repository, check=True
    )
    story.llmc("add", "adam", "--agent", "demo")
    story.up()
    story.work("adam", "write a.txt x", "commit Add a")
    assert story.llmc("config", "get", "repo.validate").out.strip() == "[]"
    assert _pwned(story) == []


def test_a_link_in_the_repository_takes_no_copied_file_out_of_the_worktree(story: Story, precious: Path) -> None:
    story.begin(repo__copy='["data/*.env"]')
    (story.repository / "data").mkdir()
    (story.repository / "data" / "kept.env").write_text("SECRET=1\n")
    (story.repository / ".gitignore").write_text("*.env\n")
    story.git("add", ".gitignore")
    story.git("commit", "--quiet", "-m", "Ignore secrets")
    tip = story.git("rev-parse", "HEAD")
    # The branch that workers start from has a link where the user's checkout has a directory.
    blob = subprocess.run(
        ["git", "hash-object", "-w", "--stdin"], cwd=story.repository, input=os.fsencode(precious), capture_output=True
    ).stdout.decode()
    story.git("update-index", "--add", "--cacheinfo", f"120000,{blob.strip()},data")
    story.git("commit", "--quiet", "-m", "A link")
    assert story.git("rev-parse", "HEAD") != tip
    story.llmc("add", "adam", "--agent", "demo")
    assert sorted(os.listdir(precious)) == ["below", "kept"]


@pytest.mark.lesson(32, "files of ours never show in a worktree's status or commits")
@pytest.mark.parametrize("directory", ["with space", "quote'd", "$(touch pwned)", 'dou"ble', "semi;colon"])
def test_reports_go_to_the_spool_wherever_the_root_is(tmp_path: Path, directory: str) -> None:
    place = tmp_path / directory
    spool = place / "spool"
    spool.mkdir(parents=True)
    order = LaunchOrder("adam", str(place), str(place), str(place), str(place), "", "", False, ())
    Path(script_path(order)).write_text(SCRIPT)
    env = {"PATH": os.environ["PATH"], "LLMC_SPOOL": str(spool)}
    subprocess.run(["sh", "-c", hook_command(order, "Stop")], input=b"{}", env=env, cwd=tmp_path, check=True)
    assert [path.read_text() for path in spool.glob("*.json")] == ['{"hook":"Stop","session":"","payload":{}}']
    assert not list(tmp_path.rglob("pwned"))
