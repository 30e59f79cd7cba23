"""Carries files that git ignores (secrets, data, build caches) from the user's checkout into a worktree."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from llmc.errors import LlmcError
from llmc.git.failure import GitError
from llmc.git.parse import encode, nul_fields
from llmc.git.repository import toplevel
from llmc.git.runner import Git
from llmc.values import Value

INCLUDE_FILE = ".worktreeinclude"
"""In the top directory of the repository, with patterns as in `.gitignore`; other tools know it, too."""


class WrongPatternError(LlmcError):
    """A pattern of `[repo] copy` reaches out of the repository."""


class Skipped(Value):
    """A file that matched and stayed behind, with the reason."""

    path: str
    why: str


class Carried(Value):
    """What went over, relative to the checkout."""

    copied: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()


def copy_ignored(git: Git, source: str, patterns: Sequence[str], worktree: str) -> Carried:
    """Copies the ignored files of `source` that match, over what is there, unless that could do harm.

    Those that `.worktreeinclude` names match, too.

    Harm is: overwriting a tracked file, making the worktree dirty, or reaching through a symlink out of either side.
    """
    checkout = toplevel(git, source)
    if checkout is None:
        return Carried()
    found = tuple(dict.fromkeys((*_matching(git, checkout, patterns), *_included(git, checkout))))
    reasons = {path: _harm_at_source(git, checkout, path) or _harm_at_target(git, worktree, path) for path in found}
    ignored = _ignored(git, worktree, [path for path, why in reasons.items() if not why])
    for path, why in reasons.items():
        if not why:
            reasons[path] = _copy(git, checkout, worktree, path) if path in ignored else "git does not ignore it there"
    return Carried(
        tuple(path for path, why in reasons.items() if not why),
        tuple(Skipped(path, why) for path, why in reasons.items() if why),
    )


def _included(git: Git, checkout: str) -> Sequence[str]:
    """What the repository's own list names and git ignores."""
    if git.host.read(f"{checkout}/{INCLUDE_FILE}") is None:
        return ()
    named = git.run(checkout, "ls-files", "--others", "--ignored", f"--exclude-from={INCLUDE_FILE}", "-z").out
    paths = nul_fields(named)
    ignored = _ignored(git, checkout, paths)
    return [path for path in paths if path in ignored]


def _matching(git: Git, checkout: str, patterns: Sequence[str]) -> tuple[str, ...]:
    if not patterns:
        return ()
    for pattern in patterns:
        if pattern.startswith("/") or ".." in pattern.split("/"):
            raise WrongPatternError(
                f"[repo] copy: {pattern!r} is not inside the repository", "give patterns relative to its top"
            )
    asked = ("ls-files", "--others", "--ignored", "--exclude-standard", "-z", "--")
    return nul_fields(git.run(checkout, *asked, *(f":(top,glob){pattern}" for pattern in patterns)).out)


def _harm_at_source(git: Git, checkout: str, path: str) -> str:
    if path.endswith("/"):
        return "it is a repository of its own"
    link = git.host.read_link(f"{checkout}/{path}")
    if link is None:
        return ""
    # An absolute link would lead from the worktree back into the user's checkout.
    target = posixpath.normpath(posixpath.join(posixpath.dirname(path), link))
    real = git.host.real_path(f"{checkout}/{path}")
    inside = not target.startswith(("/", "../")) and target != ".." and _within(real, git.host.real_path(checkout))
    return "" if inside else "it is a link that leads out of the repository"


def _harm_at_target(git: Git, worktree: str, path: str) -> str:
    parent = posixpath.dirname(path)
    straight = posixpath.normpath(f"{git.host.real_path(worktree)}/{parent}")
    if git.host.real_path(f"{worktree}/{parent}") != straight:
        return "its directory is a link in the worktree"
    return ""


def _within(path: str, directory: str) -> bool:
    return path == directory or path.startswith(directory + "/")


def _ignored(git: Git, worktree: str, paths: Sequence[str]) -> frozenset[str]:
    """Those that git ignores in the worktree; tracked files never are."""
    args = ("check-ignore", "-z", "--stdin")
    if not paths:
        return frozenset()
    done = git.run(worktree, *args, stdin=b"".join(encode(path) + b"\0" for path in paths), check=False)
    if done.code not in (0, 1):
        raise GitError(args, done.complaint, done.code)
    return frozenset(nul_fields(done.out))


def _copy(git: Git, checkout: str, worktree: str, path: str) -> str:
    """Copies one file; the reason when that fails, because one file must not keep the others behind."""
    try:
        git.host.copy_file(f"{checkout}/{path}", f"{worktree}/{path}", below=worktree)
    except OSError as refused:
        return refused.strerror or str(refused)
    return ""
