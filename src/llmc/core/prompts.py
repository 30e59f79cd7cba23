"""The texts that LLMC itself writes to agents."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

DIFF_LIMIT = 60_000


@dataclass(frozen=True, slots=True)
class ConflictedFile:
    path: str
    kind: str
    """In words, seen from the worker: `both changed the same lines`."""
    regions: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


def task_prompt(task: str, worktree: str, branch: str, validate: Sequence[str]) -> str:
    checks = "".join(f"\n- Run `{command}` and mend what it finds." for command in validate)
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


def feedback_prompt(feedback: str, diff: str) -> str:
    if len(diff) > DIFF_LIMIT:
        diff = diff[:DIFF_LIMIT] + "\n[the rest of the diff is left out; `git show` has it]"
    return (
        "Your work was reviewed and is sent back. The feedback:\n"
        "\n"
        f"{feedback.strip()}\n"
        "\n"
        "Change the work accordingly and commit the result. It is about this diff:\n"
        "\n"
        f"{_fenced(diff, 'diff')}"
    )


def conflict_prompt(
    task: str, branch: str, upstream: str, files: Sequence[ConflictedFile], validate: Sequence[str]
) -> str:
    checks = "".join(f"\n{n}. Run `{command}` and mend what it finds." for n, command in enumerate(validate, 5))
    count = f"{len(files)} file{'s' if len(files) != 1 else ''}"
    return (
        f"Your branch {branch} is being rebased onto the newest {upstream}, and {count} conflict.\n"
        f"Incorporate your work into what {upstream} has now: keep the intent of both sides.\n"
        "\n"
        "The task that your work is for:\n"
        "\n"
        f"{_quoted(task.strip() or '(it was not given through LLMC)')}\n"
        "\n"
        "What conflicts:\n"
        + "".join(f"- {file.path}: {file.kind}\n" for file in files)
        + "\n"
        + "\n".join(_details(file) for file in files)
        + "\n"
        "What to do:\n"
        "1. Open each file and decide for every conflict how both sides live together.\n"
        "2. Remove all conflict markers, then `git add` the file (or `git rm` it when it is to be deleted).\n"
        "3. When `git status` shows no unmerged file, run `git -c core.editor=true rebase --continue`.\n"
        "4. Repeat until the rebase is over. Do not make the work smaller to get there."
        f"{checks}\n"
        "\n"
        f"During this rebase `git show :2:FILE` is the version of {upstream}, `git show :3:FILE` is yours.\n"
        "`git rebase --abort` puts everything back; use it only if the two sides cannot be joined, and say why.\n"
    )


def _details(file: ConflictedFile) -> str:
    regions = "".join(_fenced(region) for region in file.regions)
    options = "".join(f"- {option}\n" for option in file.options)
    return f"{file.path}:\n{regions}{options}" if regions or options else ""


def _fenced(text: str, language: str = "") -> str:
    """A block of code, fenced by more backticks than it has in a row itself."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}{language}\n{text.rstrip()}\n{fence}\n"


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())
