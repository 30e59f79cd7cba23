"""Questions about commits and what is between them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile

from llmc.core.landing.commit_message import without_controls
from llmc.git.parse import nul_fields
from llmc.git.repository import HEADS
from llmc.git.runner import LLMC_IDENTITY, Git
from llmc.values import Value

# Nothing that somebody configured may come between a change and whoever judges it: no driver, and every file whole.
PLAIN_DIFF = (
    *("--no-color", "--no-ext-diff", "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/", "--no-relative"),
    "--submodule=short",
)


_NEAR = 16
"""How many commits back it is worth looking before git itself is asked to search."""


def is_ancestor(git: Git, cwd: str, ancestor: str, descendant: str) -> bool:
    """Whether `descendant` contains `ancestor`, which is no name but the commit itself; a commit contains itself."""
    return ancestor == descendant or merge_base(git, cwd, ancestor, descendant) == ancestor


def _line_of(git: Git, cwd: str, commit: str) -> list[str]:
    """The commit and those before it, up to a merge. Where two such lines meet is all that they can share at best."""
    names = [f"{commit}~{back}{which}" for back in range(_NEAR) for which in ("^{commit}", "^2")]
    found = git.objects(cwd, *names)
    line = list(takewhile(bool, found[::2]))
    merge = next((at for at, second_parent in enumerate(found[1::2]) if second_parent), _NEAR)
    return [sha for sha in line[: merge + 1] if sha]


def is_on_branch(git: Git, repository: str, branch: str, sha: str) -> bool:
    """Whether the branch has the commit, which the repository need not even know."""
    tip, known = git.objects(repository, f"{HEADS}{branch}^{{commit}}", f"{sha}^{{commit}}")
    return tip is not None and known is not None and (tip == known or is_ancestor(git, repository, known, tip))


def merge_base(git: Git, cwd: str, one: str, other: str) -> str | None:
    """The best common ancestor; None for unrelated histories."""
    if git.operation.usable:  # then it costs no process to look at the last commits of both
        theirs = _line_of(git, cwd, other)
        near = next((sha for sha in _line_of(git, cwd, one) if sha in theirs), None)
        if near is not None:
            return near
    found = git.ask(cwd, "merge-base", one, other)
    return found.text.strip() if found else None


def commits_ahead(git: Git, cwd: str, base: str, head: str) -> list[str]:
    """What `head` has and `base` has not, oldest first."""
    return git.text(cwd, "rev-list", "--reverse", "--topo-order", f"{base}..{head}", "--").split()


class Commit(Value):
    sha: str
    parents: tuple[str, ...]
    author: Mapping[str, str]
    """The variables that make git write the same one again, without control characters."""
    message: str


_FORMAT = "--format=tformat:%H%x00%P%x00%an%x00%ae%x00%ad%x00%B"
_LOG = ("log", "-z", "--encoding=UTF-8", "--no-show-signature", "--date=raw", _FORMAT)


def own_commits(git: Git, cwd: str, head: str, *others: str) -> tuple[Commit, ...]:
    """What `head` has and none of the others has, oldest first."""
    without = [f"^{other}" for other in others]
    fields = iter(nul_fields(git.run(cwd, *_LOG, "--reverse", "--topo-order", head, *without, "--").out))
    return tuple(_commit(*each) for each in zip(*[fields] * 6, strict=True))


def subjects_of(git: Git, cwd: str, commits: Sequence[str]) -> dict[str, str]:
    """The first line of each; what the repository does not have is left out."""
    if not commits:
        return {}
    words = ("log", "--no-walk=unsorted", "--ignore-missing", "--no-show-signature", "-z", "--format=%H %s", "--stdin")
    said = git.run(cwd, *words, stdin="\n".join(dict.fromkeys(commits)).encode(), check=False)
    return dict(line.split(" ", 1) for line in nul_fields(said.out))


def messages_of(commits: Iterable[Commit]) -> tuple[str, ...]:
    """The whole message of each; merges have nothing to say."""
    return tuple(commit.message.rstrip("\n") for commit in commits if len(commit.parents) < 2)


def _commit(sha: str, parents: str, name: str, email: str, date: str, message: str) -> Commit:
    name, email = without_controls(name).strip(), without_controls(email).strip()
    named = {"GIT_AUTHOR_NAME": name, "GIT_AUTHOR_EMAIL": email} if name else {}
    return Commit(sha, tuple(parents.split()), named | {"GIT_AUTHOR_DATE": f"@{date}"}, message)


def changed_files(git: Git, cwd: str, base: str, head: str) -> tuple[str, ...]:
    return nul_fields(git.run(cwd, "diff-tree", "-r", "-z", "--name-only", "--no-renames", base, head, "--").out)


def diff_text(git: Git, cwd: str, base: str, head: str) -> str:
    raw = git.run(cwd, "diff", *PLAIN_DIFF, base, head, "--").out
    return raw.decode("utf-8", "replace")


def diff_summary(git: Git, cwd: str, base: str, head: str) -> str:
    """Files and lines, as git lists them for people."""
    return git.run(cwd, "diff", "--stat=100", *PLAIN_DIFF, base, head, "--").text.rstrip("\n")


def patch_id(git: Git, cwd: str, base: str, head: str) -> str | None:
    """A name for the change itself, the same wherever it is applied; None when nothing changed."""
    patch = git.run(cwd, "diff-tree", "-p", *PLAIN_DIFF, "--full-index", "--no-renames", base, head, "--").out
    said = git.run(cwd, "patch-id", "--stable", stdin=patch).text if patch else ""
    return said.split()[0] if said else None


def merged_elsewhere(git: Git, cwd: str, tip: str, upstream: str) -> bool:
    """Whether `upstream` already has all that `tip` brings: the commits, each of their patches, or all as one."""
    if _all_upstream(git, cwd, tip, upstream):
        return True
    base = merge_base(git, cwd, tip, upstream)
    if base is None:
        return False
    if not changed_files(git, cwd, base, tip):
        return True
    return _all_upstream(git, cwd, as_child_of(git, cwd, f"{tip}^{{tree}}", base), upstream)


def _all_upstream(git: Git, cwd: str, tip: str, upstream: str) -> bool:
    marks = git.text(cwd, "cherry", upstream, tip).splitlines()
    # Merges carry no mark, and what was resolved in one could be nowhere else.
    complete = len(marks) == len(commits_ahead(git, cwd, upstream, tip))
    return complete and all(mark.startswith("-") for mark in marks)


def as_child_of(git: Git, cwd: str, tree: str, parent: str | None) -> str:
    """A commit for comparison only. The fixed dates give the same commit every time."""
    dates = {"GIT_AUTHOR_DATE": "@0 +0000", "GIT_COMMITTER_DATE": "@0 +0000"}
    lineage = ("-p", parent) if parent else ()
    args = ("commit-tree", "--no-gpg-sign", *lineage, "-F", "-", tree)
    return git.text(cwd, *args, stdin=b"for comparison\n", env=LLMC_IDENTITY | dates)
