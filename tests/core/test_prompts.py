from __future__ import annotations

import re

import pytest

from llmc.core.delivery import check_text
from llmc.core.prompts import DIFF_LIMIT, ConflictedFile, conflict_prompt, feedback_prompt, task_prompt

FILES = (
    ConflictedFile("src/app.py", "both changed the same lines", ("<<<<<<< HEAD\na\n=======\nb\n>>>>>>> mine",)),
    ConflictedFile(
        "old name.txt", "main deleted it, you changed it", options=("keep yours: `git add`", "or remove it")
    ),
)


def test_a_task_says_where_to_work_and_how_to_finish():
    text = task_prompt("  Add a parser\nwith tests\n", "/w/adam", "llmc/adam", ["make test", "make lint"])
    assert text.startswith("You work in /w/adam, a git worktree of its own on branch llmc/adam.")
    assert "- Run `make test` and mend what it finds.\n- Run `make lint` and mend what it finds.\n- Commit" in text
    assert "single commit" in text
    assert "Do not push" in text
    assert text.endswith("\nThe task:\n\nAdd a parser\nwith tests\n")


def test_a_task_without_checks_names_none():
    assert "Run `" not in task_prompt("x", "/w", "b", [])


def test_feedback_comes_with_the_diff():
    text = feedback_prompt(" More tests, please.\n", "--- a\n+++ b\n+x\n")
    assert "\n\nMore tests, please.\n\n" in text
    assert text.endswith("```diff\n--- a\n+++ b\n+x\n```\n")


def test_a_diff_that_is_too_long_says_so():
    text = feedback_prompt("x", "+" * (DIFF_LIMIT + 1))
    assert len(text) < DIFF_LIMIT + 500
    assert "[the rest of the diff is left out; `git show` has it]\n```\n" in text


@pytest.mark.parametrize(
    ("inside", "fence"), [("no ticks", "```"), ("+```python\n+x\n+```", "````"), ("`````", "``````")]
)
def test_a_diff_of_a_text_with_fences_stays_in_its_own(inside, fence):
    text = feedback_prompt("x", inside)
    assert f"\n{fence}diff\n{inside}\n{fence}\n" in text


def test_a_conflict_is_told_with_the_task_the_files_and_numbered_steps():
    """Without the task agents throw their own work away."""
    text = conflict_prompt("Add a parser\n\nwith tests", "llmc/adam", "main", FILES, ["make test", "make lint"])
    assert text.startswith(
        "Your branch llmc/adam is being rebased onto the newest main, and 2 files conflict.\nIncorporate"
    )
    assert "\n> Add a parser\n>\n> with tests\n" in text
    assert "\n- src/app.py: both changed the same lines\n- old name.txt: main deleted it, you changed it\n" in text
    assert "src/app.py:\n```\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> mine\n```\n" in text
    assert "old name.txt:\n- keep yours: `git add`\n- or remove it\n" in text
    assert [int(number) for number in re.findall(r"^(\d+)\. ", text, re.MULTILINE)] == [1, 2, 3, 4, 5, 6]
    assert "5. Run `make test`" in text
    assert "6. Run `make lint`" in text
    assert "git -c core.editor=true rebase --continue" in text
    assert "`git show :2:FILE` is the version of main, `git show :3:FILE` is yours" in text


def test_one_file_is_one_file():
    text = conflict_prompt("x", "b", "main", FILES[:1], [])
    assert "and 1 file conflict" in text
    assert "\n5." not in text


@pytest.mark.parametrize("task", ["", "  \n"])
def test_a_conflict_without_a_task_says_so(task):
    assert "> (it was not given through LLMC)" in conflict_prompt(task, "b", "main", FILES, [])


@pytest.mark.parametrize(
    "text",
    [
        task_prompt("-x;", "/w", "b", ["a"]),
        feedback_prompt("x", "diff"),
        conflict_prompt("task", "b", "main", FILES, ["make"]),
    ],
)
def test_every_text_of_ours_can_be_delivered(text):
    assert check_text(text) is None
    assert text.endswith("\n")
