"""Merging two commits in memory: whether it works, and where and why it does not. No worktree is touched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum

from llmc.git.failure import GitError
from llmc.git.parse import nul_fields
from llmc.git.runner import Git
from llmc.values import Value


class MergeKind(StrEnum):
    """Why git could not merge a path by itself, the same from both sides."""

    CONTENT = "content"
    BINARY = "binary"
    ADDED_BY_BOTH = "added by both"
    CHANGED_AND_DELETED = "changed by one, deleted by the other"
    RENAMED_BY_BOTH = "renamed differently by both"
    RENAMED_AND_DELETED = "renamed by one, deleted by the other"
    RENAME_COLLISION = "renamed to a name that the other uses"
    DIRECTORY_RENAMED = "in a directory that the other renamed"
    FILE_OR_DIRECTORY = "a file for one, a directory for the other"
    TYPE = "file type"
    SUBMODULE = "submodule"
    OTHER = "conflict"


# Git's own names for these, which it keeps stable for programs. The first that is said of a path tells most about it.
_BY_NAME = (
    ("(rename/rename)", MergeKind.RENAMED_BY_BOTH),
    ("(rename/delete)", MergeKind.RENAMED_AND_DELETED),
    ("(rename involved in collision)", MergeKind.RENAME_COLLISION),
    ("(directory rename", MergeKind.DIRECTORY_RENAMED),
    ("(file in way of directory rename)", MergeKind.DIRECTORY_RENAMED),
    ("(file/directory)", MergeKind.FILE_OR_DIRECTORY),
    ("(distinct modes)", MergeKind.TYPE),
    ("(submodule", MergeKind.SUBMODULE),
    ("(binary)", MergeKind.BINARY),
    ("(modify/delete)", MergeKind.CHANGED_AND_DELETED),
    ("(add/add)", MergeKind.ADDED_BY_BOTH),
    ("(contents)", MergeKind.CONTENT),
)
_RANKS = {kind: rank for rank, (_, kind) in enumerate(_BY_NAME)}


class Clash(Value):
    """One path that does not merge."""

    path: str
    kind: MergeKind


class Merge(Value):
    """The result; where there are clashes the tree holds both sides between markers."""

    tree: str
    clashes: tuple[Clash, ...]


def merge_in_memory(git: Git, cwd: str, ours: str, theirs: str, env: Mapping[str, str] | None = None) -> Merge:
    args = ("merge-tree", "--write-tree", "--name-only", "-z", ours, theirs)
    done = git.run(cwd, *args, check=False, env=env)
    fields = nul_fields(done.out)
    # Exit code 1 is both "conflicts" and "no such commit": only the first comes with a tree.
    if done.code not in (0, 1) or not fields:
        raise GitError(args, done.complaint, done.code)
    return Merge(fields[0], () if done.ok else parse_clashes(fields[1:]))


def parse_clashes(fields: tuple[str, ...]) -> tuple[Clash, ...]:
    """What follows the tree: the paths, an empty field, then what there is to say, each with the paths it is about."""
    end = fields.index("") if "" in fields else len(fields)
    kinds: dict[str, MergeKind] = {}
    for paths, kind in _said(fields[end + 1 :]):
        for path in paths:
            kinds[path] = min(kind, kinds.get(path, MergeKind.OTHER), key=lambda one: _RANKS.get(one, len(_RANKS)))
    # A directory that was split up in a rename conflicts without a path that would be listed.
    listed = dict.fromkeys(fields[:end]) or kinds
    return tuple(Clash(path, kinds.get(path, MergeKind.OTHER)) for path in listed)


def _said(fields: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], MergeKind]]:
    at = 0
    while at < len(fields) and fields[at].isdecimal():
        count = int(fields[at])
        paths, kind, words = fields[at + 1 : at + 1 + count], *fields[at + 1 + count : at + 3 + count]
        at += count + 3
        if kind.startswith("CONFLICT"):
            yield paths, _kind(kind, words)


def _kind(name: str, words: str) -> MergeKind:
    """Git has one name for all that is about contents; only its words tell that both have added the file."""
    said = "(add/add)" if name == "CONFLICT (contents)" and "(add/add)" in words else name.replace("CONFLICT(", "(")
    return next((kind for part, kind in _BY_NAME if part in said), MergeKind.OTHER)
