"""What has become of work since somebody reviewed it."""

from __future__ import annotations

from collections.abc import Collection

from llmc.git.history import diff_summary, diff_text
from llmc.git.parse import encode
from llmc.git.replay import merge_from
from llmc.git.repository import refs_below, resolve
from llmc.git.runner import Git

SHOWN_LINES = 200
SHOWN_CHARACTERS = 20_000


def changed_since(git: Git, root: str, base: str, reviewed: str, tip: str, tree: str) -> str | None:
    """How `tree` differs from what the reviewed work would be on `tip`; None when it does not.

    Both stand on the same branch, so that a mere rebase is no difference, and what others did is none either.
    """
    expected = expected_tree(git, root, base, tip, reviewed)
    if expected is None:
        return "  (the commit that was reviewed is gone)"
    if expected == tree:
        return None
    return f"{diff_summary(git, root, expected, tree)}\n\n{_bounded(diff_text(git, root, expected, tree))}".rstrip()


def expected_tree(git: Git, root: str, base: str, onto: str, commit: str) -> str | None:
    """What the work of `base..commit` would be on `onto`. None when one of these is not there any more.

    Conflicts are in that tree between markers: what differs then is how they were resolved.
    """
    if resolve(git, root, commit) is None or resolve(git, root, base) is None:
        return None
    return merge_from(git, root, base, onto, commit).tree


def _bounded(diff: str) -> str:
    lines = diff[:SHOWN_CHARACTERS].splitlines()[:SHOWN_LINES]
    left = len(diff.splitlines()) - len(lines)
    return "\n".join([*lines, f"... and {left} more lines"] if left > 0 else lines)


def keep_reviewed(git: Git, root: str, worker: str, commit: str) -> None:
    """What was reviewed can be compared with for as long as the worker is there, whatever becomes of its branch."""
    git.run(root, "update-ref", "--no-deref", reviewed_ref(worker), commit)


def reviewed_ref(worker: str) -> str:
    return f"refs/llmc/reviewed/{worker}"


def keep_commented(git: Git, root: str, worker: str, commits: Collection[str]) -> None:
    """The same for what comments and rounds were made on: these and no others are kept."""
    prefix = commented_refs(worker)
    listed = refs_below(git, root, prefix)
    wanted = {f"{prefix}{commit}": commit for commit in commits}
    orders = [f"delete {ref}\n" for ref in listed if ref not in wanted]
    orders += [f"update {ref} {commit}\n" for ref, commit in wanted.items()]
    git.run(root, "update-ref", "--stdin", stdin=encode("".join(f"option no-deref\n{order}" for order in orders)))


def commented_refs(worker: str) -> str:
    return f"refs/llmc/commented/{worker}/"
