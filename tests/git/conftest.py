"""Real repositories in temporary directories, with no way to the user's own configuration."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from llmc.git.clone import clone_source
from llmc.git.runner import Git
from llmc.git.worktree import add_worktree
from llmc.host.local import LocalHost

GLOBAL_CONFIG = """\
[user]
    name = Tess Ter
    email = tess@example.com
[init]
    defaultBranch = main
[gc]
    auto = 0
[protocol "file"]
    allow = always
"""


@dataclass(frozen=True)
class Repo:
    """A checkout (or a bare repository) with the few verbs that tests need."""

    path: str
    git: Git

    def run(self, *args, **options):
        """As a person or an agent would there: with everything that is configured."""
        return replace(self.git, as_agents=True).text(self.path, *args, **options)

    def file(self, name):
        return Path(self.path, name)

    def write(self, name, content="x\n"):
        path = self.file(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def commit(self, message="change", **options):
        self.run("add", "--all")
        self.run("commit", "--quiet", "--allow-empty", "-m", message, **options)
        return self.sha()

    def commit_file(self, name, content, message="change"):
        self.write(name, content)
        return self.commit(message)

    def sha(self, rev="HEAD"):
        return self.run("rev-parse", rev)

    def go_on_rebasing(self):
        """What an agent does when it has resolved all conflicts."""
        self.run("-c", "core.editor=true", "rebase", "--continue")

    def status(self):
        return self.run("status", "--porcelain=v2", "--untracked-files=all")


@dataclass(frozen=True)
class Root(Repo):
    """An LLMC root: a bare clone with worktrees."""

    def worker(self, name="adam"):
        path = add_worktree(self.git, self.path, name, f"llmc/{name}", self.sha("origin/main"))
        return Repo(path, self.git)


@pytest.fixture(autouse=True)
def _own_configuration(tmp_path, monkeypatch):
    for name in list(os.environ):
        if name.startswith("GIT_"):
            monkeypatch.delenv(name)
    home = tmp_path / "home"
    home.mkdir()
    config = home / "gitconfig"
    config.write_text(GLOBAL_CONFIG)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def git():
    return Git(LocalHost())


@pytest.fixture
def make_repo(git, tmp_path):
    def make(name="repo", *options):
        git.run(str(tmp_path), "init", "--quiet", *options, name)
        return Repo(str(tmp_path / name), git)

    return make


@pytest.fixture
def source(make_repo):
    """The user's repository, with one commit on main, checked out."""
    repo = make_repo("source")
    repo.write("README", "one\ntwo\nthree\n")
    repo.commit("first")
    return repo


@pytest.fixture
def root(git, source, tmp_path):
    """An LLMC root that was cloned from `source`."""
    path = str(tmp_path / "llmc")
    clone_source(git, source.path, path, "main")
    return Root(path, git)


@pytest.fixture
def worker(root):
    return root.worker("adam")
