"""The texts that LLMC itself writes to agents."""

from __future__ import annotations

import re
from collections.abc import Sequence

DIFF_LIMIT = 60_000
OUTPUT_LIMIT = 8_000
"""Characters of what a failed check said, from its end."""


def task_prompt(task: str, worktree: str, branch: str, validate: Sequence[str]) -> str:
    checks = "".join(f"\n- Run `{command}` and fix what it finds." for command in validate)
    return (
        f"You work in {worktree}, a git worktree of its own on branch {branch}. Stay inside it.\n"
        "Follow the conventions of the repository (AGENTS.md, CLAUDE.md or CONTRIBUTING.md where they exist).\n"
        "When the task below is done:"
        f"{checks}\n"
        "- Commit everything as a single commit with a message that says what was changed and why.\n"
        "- Do not push and do not switch branches.\n"
        "\n"
        "The task:\n"
        "\n"
        f"{task.strip()}\n"
    )


def feedback_prompt(feedback: str, diff: str, number: int = 1) -> str:
    """`number` is that of the round of review."""
    if len(diff) > DIFF_LIMIT:
        diff = diff[:DIFF_LIMIT] + "\n[the rest of the diff is left out; `git show` has it]"
    return (
        f"Your work was reviewed and is sent back: round {number} of review. The feedback:\n"
        "\n"
        f"{feedback.strip()}\n"
        "\n"
        "Change the work accordingly and commit the result. It is about this diff:\n"
        "\n"
        f"{fenced(diff, 'diff')}"
    )


def failed_check_prompt(what: str, output: str) -> str:
    """`what`: which check, how it failed, and with whose work."""
    return (
        f"The repository's own check does not pass on your work as it would land: {what}. Its output:\n"
        "\n"
        f"{fenced(output.strip()[-OUTPUT_LIMIT:] or '(nothing)')}"
        "\n"
        "Find the cause, fix it and commit the result.\n"
    )


def fenced(text: str, language: str = "") -> str:
    """A block of code, fenced by more backticks than it has in a row itself."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}{language}\n{text.rstrip()}\n{fence}\n"
