"""The repository's own checks: all of them, in order, in the worktree, within their time."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from llmc.host.processes import is_running
from llmc.model import Turn, Work
from llmc.perform.validation import ValidationFailedError, validate
from testing.story import Story
from testing.waiting import wait_until


def checks_of(story: Story) -> None:
    repo = story.site.config.repo
    validate(story.site, story.worker("adam"), repo.validate, repo.validate_timeout_secs)


def test_the_checks_run_in_order_where_the_work_is(story: Story, tmp_path: Path) -> None:
    log = tmp_path / "log"
    story.begin("adam", repo__validate=f'["pwd > {log}", "echo second >> {log}"]')
    worktree = story.worker("adam").worktree_path
    checks_of(story)
    assert log.read_text().splitlines() == [worktree, "second"]


def test_without_checks_everything_is_fine(story: Story) -> None:
    story.begin("adam")
    assert story.site.config.repo.validate == ()
    checks_of(story)


def test_the_first_that_fails_tells_why(story: Story, tmp_path: Path) -> None:
    checks = f'["echo line one; echo 2 wrong >&2; exit 3", "touch {tmp_path}/never"]'
    story.begin("adam", repo__validate=checks)
    with pytest.raises(ValidationFailedError) as failed:
        checks_of(story)
    assert "failed with exit code 3" in failed.value.what
    assert "line one" in failed.value.what
    assert "2 wrong" in failed.value.what
    assert "llmc reject" in failed.value.hint
    assert not (tmp_path / "never").exists()


def test_only_the_end_of_a_long_complaint_is_shown(story: Story) -> None:
    story.begin("adam", repo__validate='["seq 1 1000; exit 1"]')
    with pytest.raises(ValidationFailedError) as failed:
        checks_of(story)
    assert "1000" in failed.value.what
    assert len(failed.value.what.splitlines()) < 20


def test_a_check_that_hangs_is_ended_with_its_children(story: Story, tmp_path: Path) -> None:
    checks = f'["sleep 1000 & echo $! > {tmp_path}/pid; wait"]'
    story.begin("adam", repo__validate=checks, repo__validate_timeout_secs="0.5")
    with pytest.raises(ValidationFailedError, match=r"did not end within") as hung:
        checks_of(story)
    assert "validate_timeout_secs" in hung.value.hint
    child = int((tmp_path / "pid").read_text())
    wait_until(lambda: not is_running(child))


def test_a_hanging_check_keeps_the_work_from_being_accepted(story: Story) -> None:
    story.begin("adam", repo__validate='["sleep 1000"]', repo__validate_timeout_secs="0.2")
    sha = story.commit_as("adam", "a.txt", "x\n", "Add a")
    story.rewrite("adam", work=Work.NEEDS_REVIEW, commit_sha=sha, turn=Turn.OVER)
    said = story.llmc("accept", "adam", code=1)
    assert "`sleep 1000` did not end" in said.err
    assert story.subjects() == ["first"]
    worker = story.worker("adam")
    assert (worker.work, worker.commit_sha, worker.pending) == (Work.NEEDS_REVIEW, sha, ())


def test_checks_do_not_run_on_the_repository_of_whoever_called(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    story.begin("adam", repo__validate='["git rev-parse --show-toplevel > where; git status --porcelain"]')
    worktree = story.worker("adam").worktree_path
    monkeypatch.setenv("GIT_DIR", str(story.repository / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(story.repository))
    checks_of(story)
    assert Path(worktree, "where").read_text().strip() == os.path.realpath(worktree)


def test_a_check_is_over_when_its_own_process_is(story: Story, tmp_path: Path) -> None:
    """What it left in the background holds its output open for minutes."""
    started = f"sleep 300 & echo $! > {tmp_path}/pid; echo checked"
    story.begin("adam", repo__validate=f'["{started}; exit 4"]', repo__validate_timeout_secs="200")
    with pytest.raises(ValidationFailedError, match=r"failed with exit code 4:\n  checked"):
        checks_of(story)
    assert not is_running(int((tmp_path / "pid").read_text()))


def test_a_check_that_left_a_server_behind_lets_the_work_be_accepted(story: Story, tmp_path: Path) -> None:
    # It ignores the polite signal, too.
    server = f"(trap '' TERM; echo up; exec sleep 300) & echo $! > {tmp_path}/pid"
    story.begin("adam", repo__validate=f'["{server}"]', repo__validate_timeout_secs="200")
    sha = story.commit_as("adam", "a.txt", "x\n", "Add a")
    story.rewrite("adam", work=Work.NEEDS_REVIEW, commit_sha=sha, turn=Turn.OVER)
    story.llmc("accept", "adam")
    assert story.subjects() == ["first", "Add a"]
    assert not is_running(int((tmp_path / "pid").read_text()))
