"""What has become of work since somebody reviewed it."""

from __future__ import annotations

from llmc.git.history import diff_summary, diff_text
from llmc.git.replay import merge_from
from llmc.git.repository import resolve
from llmc.git.runner import Git

SHOWN_LINES = 200
SHOWN_CHARACTERS = 20_000


def changed_since(git: Git, root: str, base: str, reviewed: str, tip: str, tree: str) -> str | None:
    """How `tree` differs from what the reviewed work would be on `tip`; None when it does not.

    Both stand on the same branch, so that a mere rebase is no difference, and what others did is none either.
    """
    if resolve(git, root, reviewed) is None or resolve(git, root, base) is None:
        return "  (the commit that was reviewed is gone)"
    # Conflicts are in that tree between markers: what differs then is how they were resolved.
    expected = merge_from(git, root, base, tip, reviewed).tree
    if expected == tree:
        return None
    return f"{diff_summary(git, root, expected, tree)}\n\n{_bounded(diff_text(git, root, expected, tree))}".rstrip()


def _bounded(diff: str) -> str:
    lines = diff[:SHOWN_CHARACTERS].splitlines()[:SHOWN_LINES]
    left = len(diff.splitlines()) - len(lines)
    return "\n".join([*lines, f"... and {left} more lines"] if left > 0 else lines)


def keep_reviewed(git: Git, root: str, worker: str, commit: str) -> None:
    """What was reviewed can be compared with for as long as the worker is there, whatever becomes of its branch."""
    git.run(root, "update-ref", "--no-deref", reviewed_ref(worker), commit)


def reviewed_ref(worker: str) -> str:
    return f"refs/llmc/reviewed/{worker}"
