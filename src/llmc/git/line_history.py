"""Lines of files in commits, and where they are in another commit."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from llmc.core.diff_data import PatchData, patch_data
from llmc.core.tasks.line_moves import LineHunk, LineRange, follow, parse_hunks
from llmc.core.tasks.rounds import Became, Comment, Fate, quoted_lines
from llmc.git.both_sides import SUBMODULE
from llmc.git.history import PLAIN_DIFF, diff_text
from llmc.git.parse import nul_fields
from llmc.git.runner import Git
from llmc.git.since_review import expected_tree
from llmc.values import Value

_LOOKED_AT = 8000
"""Bytes in which a NUL makes git take a file for binary."""


class FileMove(Value):
    """What became of a file between two trees."""

    path: str | None
    """None when it is gone."""
    hunks: tuple[LineHunk, ...] = ()
    is_text: bool = True


def file_lines(git: Git, root: str, tree: str, path: str) -> tuple[str, ...] | None:
    """Without their newlines; none of a binary file. None when the tree has no such file."""
    found = git.run(root, "cat-file", "blob", f"{tree}:{path}", check=False)
    if not found.ok:
        return None
    if b"\0" in found.out[:_LOOKED_AT]:
        return ()
    # Only these end a line for git, and so for everybody who counts them.
    lines = found.out.decode("utf-8", "replace").split("\n")
    return tuple(lines if lines[-1] else lines[:-1])


def what_became(git: Git, root: str, comments: Sequence[Comment], span: tuple[str, str]) -> dict[int, Fate]:
    """Of the lines of each comment, in the work that this span is now."""
    fates: dict[int, Fate] = {}
    for commit, base in dict.fromkeys((each.commit_sha, each.base_sha) for each in comments):
        group = [each for each in comments if (each.commit_sha, each.base_sha) == (commit, base)]
        fates |= _of_commit(git, root, group, span)
    return fates


def _of_commit(git: Git, root: str, comments: Sequence[Comment], span: tuple[str, str]) -> dict[int, Fate]:
    onto, head = span
    commit, base = comments[0].commit_sha, comments[0].base_sha
    # What the branch has done to the lines comes first: only the rest was done by the agent.
    expected = commit if commit == head else expected_tree(git, root, base, onto, commit)
    if expected is None:
        return {each.number: Fate(Became.UNKNOWN) for each in comments}
    by_branch = file_moves(git, root, commit, expected, {each.path for each in comments})
    by_agent = file_moves(git, root, expected, head, {move.path for move in by_branch.values() if move.path})
    return {each.number: _fate(git, root, head, each, by_branch, by_agent) for each in comments}


def _fate(
    git: Git,
    root: str,
    head: str,
    comment: Comment,
    by_branch: Mapping[str, FileMove],
    by_agent: Mapping[str, FileMove],
) -> Fate:
    path, lines = comment.path, LineRange(comment.line, comment.end_line)
    for moves in (by_branch, by_agent):
        move = moves[path]
        if move.path is None:
            return Fate(Became.GONE)
        if not move.is_text:
            return Fate(Became.CHANGED, move.path)
        path, lines = move.path, follow(lines, move.hunks)
        if lines.last < lines.first:
            return Fate(Became.GONE, path)
    became = Became.CHANGED if lines.touched else Became.UNTOUCHED
    now = (file_lines(git, root, head, path) or ())[lines.first - 1 : lines.last]
    return Fate(became, path, lines.first, lines.last, quoted_lines(now))


def file_moves(git: Git, root: str, before: str, after: str, paths: Collection[str]) -> dict[str, FileMove]:
    moves = {path: FileMove(path) for path in paths}
    if not paths or before == after:
        return moves
    fields = iter(nul_fields(_raw(git, root, before, after)))
    for change in fields:
        path = next(fields)
        _, mode, old, new, status = change.split(" ")
        now = next(fields) if status[0] in "RC" else path
        if path in moves and status[0] in "DMTR":
            gone = status == "D" or mode == SUBMODULE
            moves[path] = FileMove(None) if gone else _move(git, root, now, old, new)
    return moves


def _raw(git: Git, root: str, before: str, after: str) -> bytes:
    args = ("diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--find-renames", before, after, "--")
    return git.run(root, *args).out


def _move(git: Git, root: str, path: str, old: str, new: str) -> FileMove:
    if old == new:
        return FileMove(path)
    diff = git.run(root, "diff", "-U0", "--inter-hunk-context=0", *PLAIN_DIFF, old, new, "--").out
    hunks = parse_hunks(diff.decode("utf-8", "replace"))
    return FileMove(path, hunks, is_text=bool(hunks))


def read_patch(git: Git, root: str, before: str, after: str) -> PatchData:
    """What `diff_text` shows, as data."""
    raw = git.run(root, "diff", "--raw", "-z", "--no-abbrev", *PLAIN_DIFF, before, after, "--").out
    return patch_data(diff_text(git, root, before, after), nul_fields(raw))
