"""Files that agents write into their worktrees for themselves: git ignores them, and nobody's `.gitignore` is touched.

Git reads `info/exclude` from the repository that all worktrees share; a file of one worktree alone it would only read
by `core.excludesFile`, which is the person's own. The repository is LLMC's clone, so theirs stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable

from llmc.git.parse import decode, encode
from llmc.host.base import Host

BEGIN = "# files of agents, kept up to date by LLMC"
END = "# end of the files of agents"


def exclude_own_files(host: Host, repositories: Iterable[str], patterns: Iterable[str]) -> None:
    """Makes git ignore these, in every worktree of the repositories, instead of those that it was given before."""
    lines = sorted(set(patterns))
    for path in (f"{repository}/info/exclude" for repository in repositories if host.is_dir(repository)):
        before = decode(host.read(path) or b"")
        after = _with_block(before, lines)
        if after != before:
            host.write(path, encode(after))


def _with_block(text: str, patterns: list[str]) -> str:
    lines = text.splitlines()
    if BEGIN in lines and END in lines[lines.index(BEGIN) :]:
        begin = lines.index(BEGIN)
        del lines[begin : lines.index(END, begin) + 1]
    block = [BEGIN, *patterns, END] if patterns else []
    return "".join(f"{line}\n" for line in (*lines, *block))
