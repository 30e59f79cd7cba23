"""Git about the worktree of a fenced worker works behind a wall of its own: the clone, that worktree, and nothing else.

Whoever is in the fence writes the worktree's index, its record in the clone and its files, also while git is at work:
an index can name a file outside, a file can become a link between two looks at it, and what is left of a rebase can
name programs. Behind the wall none of that leads anywhere.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence

from llmc.core.fence.environment import kept_variables
from llmc.errors import LlmcError
from llmc.git.own_view import SCRATCH, WORKTREES
from llmc.git.parse import decode, encode
from llmc.host.base import Completed, Host
from llmc.values import Value

_WORDS, _TEMPORARY = "wall", "temporary"
_LAST = "--remount-ro"
_ELSEWHERE = ("GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY")
"""Name what git is to write in another place."""


class WallError(LlmcError):
    """The wall cannot be made; git was not run."""


class Wall(Value):
    words: tuple[str, ...]
    """What makes it."""
    root: str

    def around(
        self, cwd: str, argv: Sequence[str], environ: Mapping[str, str]
    ) -> tuple[tuple[str, ...], Mapping[str, str]]:
        """The command to run instead, and its environment."""
        named = {posixpath.dirname(environ[name]) for name in _ELSEWHERE if name in environ}
        shown = [word for place in sorted(named) if self._is_hidden(place) for word in ("--bind", place, place)]
        kept = kept_variables(environ, "", proxies=False)
        kept |= {
            name: value for name, value in environ.items() if name.startswith("GIT_") or name in ("HOME", "LC_ALL")
        }
        last = self.words.index(_LAST)  # from there on no place can be made any more
        return (*self.words[:last], *shown, *self.words[last:], "--chdir", cwd, "--", *argv), kept

    def _is_hidden(self, place: str) -> bool:
        return place.startswith(f"{self.root}/") and not place.startswith(f"{self.root}/.git/")


def wall_of(host: Host, cwd: str) -> Wall | None:
    """None outside of the worktrees of fenced workers, and of those in which fenced checks run."""
    found = _worktree_around(cwd)
    if found is None:
        return None
    root, name = found
    words = host.read(f"{_fence(root, name)}/{_WORDS}")
    return Wall(tuple(decode(words).split("\0")), root) if words else None


def write_wall(host: Host, root: str, name: str, words: Sequence[str]) -> None:
    host.write(f"{_fence(root, name)}/{_WORDS}", encode("\0".join(words)))


def temporary_of(host: Host, worktree: str) -> str | None:
    """Where LLMC keeps what it needs for a moment and nobody inside may touch; None where there is no wall."""
    found = _worktree_around(worktree)
    return f"{_fence(*found)}/{_TEMPORARY}" if found is not None and wall_of(host, worktree) is not None else None


def require_made(done: Completed) -> None:
    """That bubblewrap refused is no answer of git's."""
    if not done.ok and done.err.startswith(b"bwrap: "):
        raise WallError(f"git cannot be run behind a fence: {done.complaint[-300:]}", "see `llmc doctor`")


def _worktree_around(cwd: str) -> tuple[str, str] | None:
    for directory in (WORKTREES, SCRATCH):
        root, found, below = cwd.partition(f"/{directory}/")
        if found:
            return root, below.partition("/")[0]
    return None


def _fence(root: str, name: str) -> str:
    return f"{root}/run/fence/{name}"
