"""What accept tells of work that has landed, the push after it, and pull requests."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from llmc.model import Turn, Work
from testing.story import Story


@pytest.fixture
def place(story: Story) -> Story:
    story.begin("adam")
    give_work(story, "a.txt", "Add a")
    return story


def give_work(story: Story, path: str, subject: str) -> None:
    sha = story.commit_as("adam", path, "added\n", subject)
    story.rewrite("adam", work=Work.NEEDS_REVIEW, commit_sha=sha, current_prompt=subject, turn=Turn.OVER)


@pytest.fixture
def remote(place: Story) -> Path:
    """A bare repository that the user's repository knows as origin."""
    path = place.place / "remote.git"
    subprocess.run(["git", "init", "--quiet", "--bare", str(path)], check=True)
    place.git("remote", "add", "origin", str(path), cwd=str(place.repository))
    place.git("push", "--quiet", "origin", "main", cwd=str(place.repository))
    return path


def tip(remote: Path, branch: str) -> str:
    words = ["git", "-C", str(remote), "rev-parse", "--verify", "--quiet", f"refs/heads/{branch}"]
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip()


def test_accept_tells_checks_hooks_and_what_git_ignores(place: Story) -> None:
    hook = place.repository / ".git" / "hooks" / "pre-commit"
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    worktree = Path(place.worker("adam").worktree_path)
    place.commit_as("adam", ".gitignore", "built/\n", "Ignore what is built")
    (worktree / "built").mkdir()
    (worktree / "built" / "out").write_text("x")
    place.llmc("config", "set", "repo.validate", '["true"]')
    said = place.json("accept", "adam")
    assert said["checks"] == ["true"]
    assert said["skipped_hooks"] == ["pre-commit"]
    assert said["left_out"] == ["built/"]
    give_work(place, "b.txt", "Add b")
    told = place.llmc("accept", "adam").out
    assert "checked by `true`" in told
    assert "not run: the hooks pre-commit" in told


def test_what_lands_is_pushed(place: Story, remote: Path) -> None:
    place.llmc("config", "set", "repo.push", "origin")
    said = place.json("accept", "adam")
    assert said["pushed"] == "origin"
    assert tip(remote, "main") == said["commit"]


def test_a_push_never_forces(place: Story, remote: Path) -> None:
    other = place.place / "other"
    subprocess.run(["git", "clone", "--quiet", str(remote), str(other)], check=True)
    place.git("commit", "--quiet", "--allow-empty", "-m", "By somebody else", cwd=str(other))
    place.git("push", "--quiet", "origin", "HEAD:main", cwd=str(other))
    theirs = tip(remote, "main")
    place.llmc("config", "set", "repo.push", "origin")
    said = place.llmc("accept", "adam")
    assert "it is merged, but not pushed" in said.out
    assert tip(remote, "main") == theirs
    assert place.subjects()[-1] == "Add a"


def test_the_work_becomes_a_branch_of_the_remote(place: Story, remote: Path) -> None:
    before = place.git("rev-parse", "main", cwd=str(place.repository))
    said = place.json("pr", "adam")
    assert tip(remote, "llmc/adam") == said["commit"]
    assert place.git("rev-parse", "main", cwd=str(place.repository)) == before
    assert place.worker("adam").work is Work.NEEDS_REVIEW
    place.llmc("pr", "adam")
    assert not tip(remote, "llmc/adam-2"), "it was pushed before"
    place.commit_as("adam", "b.txt", "b\n", "Add b")
    place.llmc("pr", "adam")
    assert tip(remote, "llmc/adam") == said["commit"]
    assert tip(remote, "llmc/adam-2")


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("git@github.com:me/shop.git", "https://github.com/me/shop/compare/main...llmc/adam?expand=1"),
        ("https://gitlab.com/me/shop", "https://gitlab.com/me/shop/-/merge_requests/new?"),
    ],
)
def test_without_gh_the_address_is_told(place: Story, remote: Path, url: str, address: str) -> None:
    lead(place, remote, url)
    assert place.json("pr", "adam")["url"].startswith(address)
    assert tip(remote, "llmc/adam")


def lead(story: Story, remote: Path, url: str) -> None:
    """The address is one in the web, and git is told to find it in the directory."""
    source = str(story.repository)
    story.git("remote", "set-url", "origin", url, cwd=source)
    story.git("config", f"url.{remote}.insteadOf", url, cwd=source)


def test_gh_opens_the_pull_request(place: Story, remote: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = place.place / "programs"
    programs.mkdir()
    gh = programs / "gh"
    gh.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {place.place}/asked\necho https://github.com/me/shop/pull/7\n')
    gh.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    lead(place, remote, "https://github.com/me/shop")
    assert place.json("pr", "adam")["url"] == "https://github.com/me/shop/pull/7"
    asked = (place.place / "asked").read_text().splitlines()
    assert asked[:6] == ["pr", "create", "--head", "llmc/adam", "--base", "main"]


def test_pr_without_a_remote_says_so(place: Story) -> None:
    said = place.try_llmc("pr", "adam")
    assert said.code == 1
    assert "has no remote" in said.err
