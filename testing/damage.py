"""Real roots to damage, and what the doctor says of them."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from llmc.cli.main import main
from llmc.doctor.checks import KINDS
from llmc.git.runner import Git
from llmc.host.local import LocalHost
from llmc.model import Worker
from llmc.root import Root
from llmc.tmux.parsing import Pane
from llmc.tmux.server import Tmux
from testing.roots import add_worker, make_repository, make_root

OPTIONAL = {"lfs-missing", "difft-missing", "delta-missing"}
"""What a machine may lack."""


@dataclass
class Report:
    code: int
    data: dict[str, Any]

    def found(self, code: str) -> list[dict[str, Any]]:
        return [each for each in self.data["findings"] if each["code"] == code]

    def one(self, code: str) -> dict[str, Any]:
        (found,) = self.found(code)
        assert found["severity"] == KINDS[code].severity
        return found

    @property
    def codes(self) -> set[str]:
        """All but what this machine happens to lack."""
        return {each["code"] for each in self.data["findings"]} - OPTIONAL

    @property
    def not_done(self) -> list[str]:
        return [f"{each['words']}: {each['result']}" for each in self.data["repaired"] if not each["done"]]


Doctor = Callable[..., Report]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "source")


@pytest.fixture
def root(tmp_path: Path, source: Path) -> Root:
    root = make_root(tmp_path / "llmc", source)
    config = Path(root.config_file)
    config.write_text(config.read_text().replace('agent = "claude"', 'agent = "shell"', 1))
    return root


@pytest.fixture
def adam(root: Root) -> Worker:
    return add_worker(root, "adam")


@pytest.fixture
def git() -> Git:
    """As a person or an agent would use it, with everything that is configured."""
    return Git(LocalHost(), as_agents=True)


@pytest.fixture
def doctor(root: Root, capsys: pytest.CaptureFixture[str]) -> Doctor:
    """`llmc doctor WORDS --json`, which must answer whatever is wrong."""

    def run(*words: str) -> Report:
        capsys.readouterr()
        code = main(["--root", root.path, "doctor", *words, "--json"])
        captured = capsys.readouterr()
        if not words:
            assert captured.err == ""
        return Report(code, json.loads(captured.out))

    return run


def change_worker(root: Root, key: str = "adam", **fields: Any) -> None:  # noqa: ANN401 - whatever the file may hold
    """Changes the record as the file has it, past every check that LLMC itself would make."""
    path = Path(root.path, "state.json")
    state = json.loads(path.read_text())
    state["workers"][key].update(fields)
    path.write_text(json.dumps(state))
    path.chmod(0o600)


def commit(git: Git, worktree: str, name: str = "work.txt", text: str = "work\n") -> str:
    Path(worktree, name).write_text(text)
    git.run(worktree, "add", "--all")
    git.run(worktree, "commit", "--quiet", "-m", f"add {name}")
    return git.text(worktree, "rev-parse", "HEAD")


def start_conflict(git: Git, worktree: str) -> None:
    """Leaves a rebase in the worktree that has stopped for a conflict."""
    readme = Path(worktree, "README")
    git.run(worktree, "checkout", "--quiet", "-b", "other")
    readme.write_text("theirs\n")
    git.run(worktree, "commit", "--quiet", "-am", "theirs")
    git.run(worktree, "checkout", "--quiet", "llmc/adam")
    readme.write_text("ours\n")
    git.run(worktree, "commit", "--quiet", "-am", "ours")
    assert not git.run(worktree, "rebase", "other", check=False).ok


def start_agent(tmux: Tmux, root: Root, session: str, *argv: str) -> Pane:
    Path(root.tmux_configuration).write_text("set -g remain-on-exit on\nset -g exit-empty off\n")
    tmux.start(root.tmux_configuration)
    return tmux.new_session(session, root.path, argv, {}, (80, 24))


def write_report(root: Root, name: str, age: float) -> None:
    path = Path(root.spool("adam"), name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text('{"event": "turn_end"}')
    os.utime(path, (time.time() - age,) * 2)
