"""One root with two workers, prepared once; each test finds it as it was made."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from llmc.git.runner import Git
from llmc.host.local import LocalHost
from llmc.model import Turn, Work
from llmc.root import Root
from llmc.store.state_file import StateFile
from testing.commands import Llmc, listing, wrong_about
from testing.roots import add_worker, make_repository, own_environment

TASK = "Write the first note"
NEEDED = {"git", "tmux", "sh", "env", "cat", "mkdir", "mv", "sleep"}


@dataclass(frozen=True)
class Place:
    """`adam` has work that waits for review, `baker` is idle; neither runs."""

    base: Path
    llmc: Llmc
    source: Path

    @property
    def root(self) -> Path:
        return self.llmc.root

    @property
    def good(self) -> Path:
        return self.base / "good"

    def restore(self) -> None:
        if self.root.is_symlink() or self.root.is_file():
            self.root.unlink()
        elif self.root.exists():
            shutil.rmtree(self.root)
        shutil.copytree(self.good, self.root, symlinks=True)

    def refuses(self, lines, *codes, env=None):
        """Every one of these commands is refused properly and leaves everything as it is."""
        before = listing(self.root)
        said = self.llmc.run_all(lines, env or {})
        wrong = {words: problems for words, each in said.items() if (problems := wrong_about(each, *codes))}
        assert wrong == {}
        assert listing(self.root) == before
        return said

    def answers(self, lines, env=None):
        """These still work."""
        said = self.llmc.run_all(lines, env or {})
        assert {words: each.words for words, each in said.items() if each.code != 0 or each.err} == {}
        return said


@pytest.fixture(scope="session")
def prepared(tmp_path_factory):
    base = tmp_path_factory.mktemp("place")
    with Llmc(base / "home", base / "root") as llmc:
        with own_environment(base / "home"):
            source = make_repository(base / "source")
            llmc.run("init", "--source", str(source))
            make_workers(Root(str(llmc.root)))
        place = Place(base, llmc, source)
        shutil.copytree(place.root, place.good, symlinks=True)
        yield place


def make_workers(root):
    adam = add_worker(root, "adam")
    add_worker(root, "baker")
    Path(adam.worktree_path, "note.md").write_text("a note\n")
    git = Git(LocalHost())
    git.run(adam.worktree_path, "add", "--all")
    git.run(adam.worktree_path, "commit", "--quiet", "-m", "Add a note")
    made = git.text(adam.worktree_path, "rev-parse", "HEAD")
    reviewable = replace(adam, work=Work.NEEDS_REVIEW, turn=Turn.OVER, commit_sha=made, current_prompt=TASK)
    StateFile(root.path).transact(lambda state: replace(state, workers={**state.workers, "adam": reviewable}))


@pytest.fixture
def place(prepared):
    yield prepared
    if not prepared.root.is_dir() or listing(prepared.root) != listing(prepared.good):
        prepared.restore()


@pytest.fixture
def path_of(tmp_path):
    """A PATH with the programs that LLMC needs but for some, and with these scripts in their place."""

    def make(*without, **scripts):
        directory = tmp_path / "bin"
        directory.mkdir()
        for name in NEEDED - set(without):
            (directory / name).symlink_to(shutil.which(name))
        for name, content in scripts.items():
            (directory / name).write_text(content)
            (directory / name).chmod(0o755)
        return str(directory)

    return make
