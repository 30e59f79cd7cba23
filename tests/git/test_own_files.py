"""Files that agents write for themselves, with the real git."""

from __future__ import annotations

from pathlib import Path

from llmc.git.own_files import exclude_own_files
from llmc.git.repository import status
from llmc.git.runner import Git
from llmc.host.local import LocalHost
from testing.roots import make_repository

HOST = LocalHost()


def test_they_are_ignored_in_every_worktree_and_the_rest_of_the_file_stays(tmp_path: Path) -> None:
    repository, git = make_repository(tmp_path / "repository"), Git(HOST)
    exclude = repository / ".git" / "info" / "exclude"
    exclude.parent.mkdir(exist_ok=True)
    exclude.write_text("# mine\n*.tmp")
    worktree = tmp_path / "worktree"
    git.run(str(repository), "worktree", "add", "--quiet", "-b", "other", str(worktree))
    for name in (".aider.chat.md", "x.tmp", "work.txt"):
        (worktree / name).write_text("x")

    def dirty() -> list[str]:
        return [each.path for each in status(git, str(worktree))]

    assert dirty() == [".aider.chat.md", "work.txt"]
    for _ in range(2):
        exclude_own_files(HOST, [str(repository / ".git")], [".aider*", ".mytool/"])
        assert dirty() == ["work.txt"]
    assert exclude.read_text().startswith("# mine\n*.tmp\n")
    assert exclude.read_text().count(".aider*") == 1
    exclude_own_files(HOST, [str(repository / ".git")], [])
    assert exclude.read_text() == "# mine\n*.tmp\n"
    assert dirty() == [".aider.chat.md", "work.txt"]


def test_without_a_repository_nothing_is_written(tmp_path: Path) -> None:
    exclude_own_files(HOST, str(tmp_path / "none"), [".aider*"])
    assert not (tmp_path / "none").exists()
