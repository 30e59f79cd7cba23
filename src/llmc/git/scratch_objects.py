"""Objects that nobody will miss: git writes them beside the repository, which itself stays as it is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from os import urandom

from llmc.git.repository import git_paths
from llmc.git.runner import Git
from llmc.values import Value


class ThrowAwayStore(Value):
    """A directory that takes all new objects. What the repository has is found there too."""

    path: str
    repository_objects: str

    def env(self, index: str = "") -> dict[str, str]:
        """For `Git.run`; `index` names an index of its own in the store."""
        found = {
            "GIT_OBJECT_DIRECTORY": f"{self.path}/objects",
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": _quoted(self.repository_objects),
        }
        return found | ({"GIT_INDEX_FILE": self.index(index)} if index else {})

    def index(self, name: str) -> str:
        return f"{self.path}/{name}.index"


def open_store(git: Git, repository: str, path: str) -> ThrowAwayStore:
    """Empty, whatever was at `path` before."""
    (objects,) = git_paths(git, repository, "objects")
    git.host.remove_tree(path)
    git.host.make_dir(f"{path}/objects")
    return ThrowAwayStore(path, objects)


@contextmanager
def throw_away_store(git: Git, repository: str) -> Iterator[ThrowAwayStore]:
    """For one question: gone when it is answered."""
    (path,) = git_paths(git, repository, f"llmc-{urandom(8).hex()}")
    try:
        yield open_store(git, repository, path)
    finally:
        git.host.remove_tree(path)


def _quoted(path: str) -> str:
    """Git takes a list here, with `:` between its parts."""
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
