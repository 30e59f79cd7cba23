"""Looking at a repository without changing it.

Every probe here knows three answers: yes, no, and a GitError when git could not tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum

from llmc.errors import LlmcError
from llmc.git.failure import GitError
from llmc.git.own_view import own_path, places, records_of
from llmc.git.parse import StatusEntry, Worktree, decode, encode, nul_fields, parse_status, parse_worktrees
from llmc.git.runner import Git, require_plain
from llmc.values import Value

HEADS = "refs/heads/"
_DEEP = 4000
"""Characters of a path with which the system opens no directory any more."""


class NoBranchError(LlmcError):
    """The repository has no branch that LLMC could work on."""


class TooDeepError(LlmcError):
    """Git cannot tell what is in a worktree."""


class Operation(StrEnum):
    """Something that git began in a worktree and has not finished."""

    REBASE = "rebase"
    AM = "am"
    MERGE = "merge"
    CHERRY_PICK = "cherry-pick"
    REVERT = "revert"


def toplevel(git: Git, path: str) -> str | None:
    """The checkout around `path`; None outside of any repository and in a bare one."""
    if common_dir(git, path) is None or git.text(path, "rev-parse", "--is-inside-work-tree") != "true":
        return None
    return git.text(path, "rev-parse", "--show-toplevel")


def common_dir(git: Git, path: str) -> str | None:
    """The repository itself, shared by all of its worktrees; None when there is none around `path`."""
    args = ("rev-parse", "--path-format=absolute", "--git-common-dir")
    done = git.run(path, *args, check=False)
    if done.ok:
        return decode(done.out).removesuffix("\n")
    # A worktree whose repository is gone is also "not a git repository", but names the place: that is damage.
    if "not a git repository (or any" in done.complaint:
        return None
    raise GitError(args, done.complaint, done.code)


def is_bare(git: Git, path: str) -> bool:
    return git.text(path, "rev-parse", "--is-bare-repository") == "true"


def default_branch(git: Git, source: str) -> str:
    """The branch that work should land on, found by asking the repository."""
    branches = heads(git, source)
    if not branches:
        raise NoBranchError(f"{source} has no commits yet", "make a first commit there and try again")
    usual = git.ask(source, "config", "--get", "init.defaultBranch")
    candidates = (
        _points_at(git, source, "refs/remotes/origin/HEAD", "refs/remotes/origin/"),
        _points_at(git, source, "HEAD", HEADS),
        next(iter(branches)) if len(branches) == 1 else None,
        decode(usual.out).strip() if usual else None,
        "main",
        "master",
    )
    for candidate in candidates:
        if candidate in branches:
            return candidate
    raise NoBranchError(
        f"{source} does not tell which of its branches is the main one ({', '.join(sorted(branches)[:5])})",
        "name it with --branch",
    )


def _points_at(git: Git, cwd: str, ref: str, prefix: str) -> str | None:
    """The name behind a symbolic ref, without `prefix`; None when it is not symbolic or points elsewhere."""
    found = git.ask(cwd, "symbolic-ref", "--quiet", ref)
    target = decode(found.out).strip() if found else ""
    return target.removeprefix(prefix) if target.startswith(prefix) else None


def resolve(git: Git, cwd: str, rev: str) -> str | None:
    """The commit that `rev` names; None when there is no such commit."""
    return git.objects(cwd, f"{rev}^{{commit}}")[0]


def require_commit(git: Git, cwd: str, rev: str) -> str:
    return require_object(git, cwd, rev, "commit")


def require_object(git: Git, cwd: str, rev: str, kind: str) -> str:
    """The commit or the tree of what `rev` names."""
    (sha,) = git.objects(cwd, f"{rev}^{{{kind}}}")
    if sha is None:
        raise GitError(("cat-file", rev), f"{cwd} has no {kind} named {rev}")
    return sha


def missing_commits(git: Git, repository: str, named: Iterable[str]) -> tuple[str, ...]:
    """Those of the commits that the repository does not have."""
    named = tuple(named)
    names = [name for name in named if re.fullmatch(r"[0-9a-f]{40,64}", name)]
    asked = "".join(f"{name}\n" for name in names).encode()
    answers = decode(git.run(repository, "cat-file", "--batch-check", stdin=asked).out).splitlines() if names else []
    there = {name for name, answer in zip(names, answers, strict=True) if " commit " in answer}
    return tuple(name for name in named if name not in there)


def branch_tip(git: Git, cwd: str, branch: str) -> str | None:
    return resolve(git, cwd, HEADS + branch)


def forget_refs(git: Git, root: str, *refs: str) -> None:
    """Those that there are."""
    git.run(root, "update-ref", "--stdin", stdin=encode("".join(f"option no-deref\ndelete {ref}\n" for ref in refs)))


def refs_below(git: Git, root: str, prefix: str) -> list[str]:
    return decode(git.run(root, "for-each-ref", "--format=%(refname)", prefix).out).split()


def heads(git: Git, root: str) -> dict[str, str]:
    """Every branch with its tip, in one question."""
    raw = git.run(root, "for-each-ref", "--format=%(refname)%00%(objectname)", HEADS).out
    pairs = (line.split("\0") for line in decode(raw).split("\n")[:-1])
    return {name.removeprefix(HEADS): sha for name, sha in pairs}


def current_branch(git: Git, worktree: str) -> str | None:
    """The branch that is checked out; None when HEAD is detached."""
    path = None if git.as_agents else own_path(git.host, worktree, "HEAD")
    # In LLMC's own clone it is a file. One without a length, such as a named pipe, is not read.
    line = decode(git.host.read(path) or b"").strip() if path and git.host.size(path) else ""
    branch = line.removeprefix(f"ref: {HEADS}")
    return branch if branch != line else _points_at(git, worktree, "HEAD", HEADS)


def status(git: Git, worktree: str) -> tuple[StatusEntry, ...]:
    """Everything that differs from HEAD, untracked files one by one, ignored files left out."""
    return parse_status(raw_status(git, worktree))


def raw_status(git: Git, worktree: str, env: Mapping[str, str] | None = None) -> bytes:
    args = ("--porcelain=v2", "-z", "--branch", "--no-ahead-behind", "--untracked-files=all", "--no-renames")
    done = git.run(worktree, "status", *args, "--no-show-stash", env=env)
    # Git leaves such a directory out with a mere warning, cut off before it says why: what is in there would be lost.
    if any(b"could not open directory" in line and len(line) > _DEEP for line in done.err.splitlines()):
        raise TooDeepError(
            f"{worktree} has directories that are too deep for git to look into", "remove them by hand, then try again"
        )
    return done.out


def list_worktrees(git: Git, repository: str) -> tuple[Worktree, ...]:
    """The main one first. A bare repository lists itself too. Git reads all of their records for that."""
    if places(git.host, repository):
        require_plain(git.host, records_of(repository), "a worker's")
    return parse_worktrees(git.run(repository, "worktree", "list", "--porcelain", "-z").out)


def git_paths(git: Git, worktree: str, *names: str) -> tuple[str, ...]:
    """Where git keeps these files for this worktree, whose `.git` may be a file."""
    own = [own_path(git.host, worktree, name) for name in names]
    if all(own) and not git.as_agents:
        return tuple(path for path in own if path)
    if all(git.host.exists(f"{worktree}/.git/{part}") for part in ("HEAD", "objects", "refs")):
        return tuple(f"{worktree}/.git/{name}" for name in names)  # a plain repository, with all of it in one place
    asked = [word for name in names for word in ("--git-path", name)]
    return tuple(git.text(worktree, "rev-parse", "--path-format=absolute", *asked).split("\n"))


class _Trace(Value):
    name: str
    operation: Operation


_TRACES = (
    _Trace("rebase-merge", Operation.REBASE),
    _Trace("rebase-apply/rebasing", Operation.REBASE),
    _Trace("rebase-apply/applying", Operation.AM),
    _Trace("MERGE_HEAD", Operation.MERGE),
    _Trace("CHERRY_PICK_HEAD", Operation.CHERRY_PICK),
    _Trace("REVERT_HEAD", Operation.REVERT),
    _Trace("sequencer", Operation.CHERRY_PICK),
)


def ignored_files(git: Git, worktree: str) -> tuple[str, ...]:
    """What is there and no commit can have; a directory that is ignored as a whole is named once."""
    args = ("ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "--no-empty-directory", "-z")
    return nul_fields(git.run(worktree, *args).out)


def operations(git: Git, worktree: str) -> tuple[Operation, ...]:
    """What git is in the middle of there; a stopped rebase comes before the cherry-pick that it uses."""
    paths = git_paths(git, worktree, *(trace.name for trace in _TRACES))
    found = [trace.operation for trace, path in zip(_TRACES, paths, strict=True) if git.host.exists(path)]
    return tuple(dict.fromkeys(found))


def uses_lfs(git: Git, repository: str, rev: str = "HEAD") -> bool:
    """Whether any .gitattributes of that commit sends files through git-lfs; needs no checkout."""
    pattern = r"^[^#]*[[:space:]]filter=lfs"
    everywhere = ":(top,glob)**/.gitattributes"
    args = ("grep", "--quiet", "--no-color", "--no-recurse-submodules", "-E", "-e", pattern, rev, "--", everywhere)
    return git.ask(repository, *args) is not None
