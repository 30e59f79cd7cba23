from __future__ import annotations

import pytest

from llmc.core.delivery.texts import check_text
from llmc.core.prompts.task import DIFF_LIMIT, feedback_prompt, task_prompt


def test_a_task_says_where_to_work_and_how_to_finish():
    text = task_prompt("  Add a parser\nwith tests\n", "/w/adam", "llmc/adam", ["make test", "make lint"])
    assert text.startswith("You work in /w/adam, a git worktree of its own on branch llmc/adam.")
    assert "- Run `make test` and fix what it finds.\n- Run `make lint` and fix what it finds.\n- Commit" in text
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


@pytest.mark.parametrize(
    "text",
    [
        task_prompt("-x;", "/w", "b", ["a"]),
        feedback_prompt("x", "diff"),
    ],
)
def test_every_text_of_ours_can_be_delivered(text):
    assert check_text(text) is None
    assert text.endswith("\n")
