"""The git that dies on order: at the call and the moment that were named, and nowhere else."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest

from testing.killed_git import ANY, KilledGit, Moment

FILES = 200


@pytest.fixture
def git(tmp_path: Path) -> KilledGit:
    git = KilledGit(tmp_path / "bin")
    git.install()
    return git


@pytest.fixture
def repository(tmp_path: Path, git: KilledGit) -> Path:
    """Its files are gone, and can be checked out again."""
    place = tmp_path / "repository"
    place.mkdir()
    run(git, place, "init", "--quiet")
    for number in range(FILES):
        (place / f"{number}.txt").write_text(f"{number}\n")
    run(git, place, "add", "--all")
    run(git, place, "commit", "--quiet", "-m", "all")
    for file in place.glob("*.txt"):
        file.unlink()
    git.forget()
    return place


def run(git: KilledGit, place: Path, *words: str) -> int:
    return subprocess.run([git.program, *words], cwd=place, capture_output=True, check=False).returncode


def test_without_an_order_it_is_the_real_one(git: KilledGit, repository: Path) -> None:
    assert run(git, repository, "checkout", "--", ".") == 0
    assert len(list(repository.glob("*.txt"))) == FILES
    assert git.calls() == ["checkout -- . "]


def test_at_its_start_it_has_done_nothing(git: KilledGit, repository: Path) -> None:
    git.kill("checkout", Moment.START)
    assert run(git, repository, "status") == 0
    assert run(git, repository, "checkout", "--", ".") == -signal.SIGKILL
    assert list(repository.glob("*.txt")) == []
    assert git.outcome() == "killed"


def test_at_its_end_it_has_done_everything(git: KilledGit, repository: Path) -> None:
    git.kill(ANY, Moment.END)
    assert run(git, repository, "checkout", "--", ".") == -signal.SIGKILL
    assert len(list(repository.glob("*.txt"))) == FILES
    assert run(git, repository, "checkout", "--", ".") == 0, "an order is for one call"


def test_in_its_middle_it_has_done_a_part(git: KilledGit, repository: Path) -> None:
    git.kill(2, Moment.MIDDLE, changes=9)
    assert run(git, repository, "rev-parse", "HEAD") == 0
    assert run(git, repository, "checkout", "--", ".") == -signal.SIGKILL
    assert 0 < len(list(repository.glob("*.txt"))) < FILES
    assert (repository / ".git" / "index.lock").exists()


def test_what_changes_nothing_has_no_middle(git: KilledGit, repository: Path) -> None:
    git.kill(1, Moment.MIDDLE)
    assert run(git, repository, "rev-parse", "HEAD") == 0
    assert git.outcome() == "ended"


def test_an_order_can_be_called_off(git: KilledGit, repository: Path) -> None:
    git.kill(ANY, Moment.START)
    assert not git.called_off()
    assert run(git, repository, "status") == 0


def test_its_caller_can_die_with_it(git: KilledGit, repository: Path) -> None:
    git.kill(ANY, Moment.CUT)
    caller = ["sh", "-c", f"{git.program} checkout -- .; echo survived"]
    done = subprocess.run(caller, cwd=repository, capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL
    assert done.stdout == b""
