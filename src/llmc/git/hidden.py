"""Changes that the index hides: git does not look at files that are marked `assume-unchanged` or `skip-worktree`.

Anybody can mark a file. Before work is judged clean, kept, or dropped, the marks are taken off: in a copy of the index
where something is only looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os import urandom

from llmc.git.parse import WorktreeStatus, encode, nul_fields, parse_worktree_status
from llmc.git.repository import git_paths, raw_status
from llmc.git.runner import LONG, Git
from llmc.git.wall import temporary_of

_SKIPPED = "S"


def index_lines(git: Git, worktree: str) -> tuple[str, ...]:
    """What the index has: a tag, mode, blob and stage, a tab, and the path. One question for all that ask for these."""
    return nul_fields(git.run(worktree, "ls-files", "-v", "--stage", "-z").out)


def hidden_files(git: Git, worktree: str, lines: tuple[str, ...]) -> tuple[str, ...]:
    """Marked files that are there. One that is not was left out of the checkout, which is no change."""
    marked = (line.partition("\t")[2] for line in lines if line[0] == _SKIPPED or line[0].islower())
    return tuple(path for path in marked if git.host.exists(f"{worktree}/{path}"))


def reveal(git: Git, worktree: str, paths: tuple[str, ...], env: Mapping[str, str] | None = None) -> None:
    """Takes the marks off, in the index that `env` names or in the worktree's own."""
    names = b"".join(encode(path) + b"\0" for path in paths)
    for option in ("--no-assume-unchanged", "--no-skip-worktree"):
        git.run(worktree, "update-index", option, "-z", "--stdin", stdin=names, env=env, timeout=LONG)


def whole_status(git: Git, worktree: str) -> WorktreeStatus:
    """Where the worktree stands and what in it is not committed; nothing is hidden."""
    lines = index_lines(git, worktree)
    hidden = hidden_files(git, worktree, lines)
    if not hidden:
        return parse_worktree_status(raw_status(git, worktree), lines)
    with _copied_index(git, worktree) as env:
        reveal(git, worktree, hidden, env)
        return parse_worktree_status(raw_status(git, worktree, env), lines)


@contextmanager
def _copied_index(git: Git, worktree: str) -> Iterator[Mapping[str, str]]:
    name = f"llmc-{urandom(8).hex()}.index"
    index, beside = git_paths(git, worktree, "index", name)
    away = temporary_of(git.host, worktree)
    copy = beside if away is None else f"{away}/{name}"
    git.host.copy_file(index, copy)
    try:
        yield {"GIT_INDEX_FILE": copy}
    finally:
        git.host.remove_tree(copy)
