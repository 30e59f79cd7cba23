"""Plans of many tasks: what they say, and what is wrong with them."""

from __future__ import annotations

import pytest

from llmc.core.tasks.plan_file import PlanError, after_ids, read_plan

MARKDOWN = """\
# The shop

What this plan is about.

## Add a login page
priority: 5
touches: src/login.py, tests/login

With a form.

```
## no heading
```

## Test it ##
after: Add a login page, t3
worker: adam

## Issue #7: support C#
"""
TOML = """
[[task]]
title = "Add a login page"
text = "With a form."
priority = 5
touches = ["src/login.py", "tests/login"]

[[task]]
text = "Test it\\n\\nall of it"
after = "Add a login page"
hold = true
"""


def test_markdown():
    login, tests, sharp = read_plan(MARKDOWN, "plan.md")
    assert (login.title, login.priority, login.touches) == ("Add a login page", 5, ("src/login.py", "tests/login"))
    assert login.text == "With a form.\n\n```\n## no heading\n```"
    assert (tests.title, tests.after, tests.worker, tests.text) == (
        *("Test it", ("Add a login page", "t3"), "adam", "Test it"),
    )
    assert sharp.title == "Issue #7: support C#"
    assert after_ids([login, tests, sharp], {"t3"}, 8) == [(), ("t8", "t3"), ()]


def test_toml():
    login, tests = read_plan(TOML, "Plan.TOML")
    assert (login.text, login.touches) == ("With a form.", ("src/login.py", "tests/login"))
    assert (tests.title, tests.text, tests.hold) == ("Test it", "Test it\n\nall of it", True)
    assert after_ids([login, tests], (), 1) == [(), ("t1",)]


def test_a_title_may_have_commas():
    text = "## Parse, then check\n\n## Print,all\n\n## Test\nafter: Parse, then check, Print,all, t7\n"
    plan = read_plan(text, "plan.md")
    assert after_ids(plan, ("t7",), 8) == [(), (), ("t8", "t9", "t7")]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("plan.md", "no headings\n", "plan.md has no tasks"),
        ("plan.md", "## A\n\n## B\n\n## A\n", "the title 'A' is there twice in plan.md"),
        ("plan.md", "## A\npriority: high\n", "task 'A' of plan.md: priority must be"),
        ("plan.md", "## A\nafer: B\n\n## B\n", "task 'A' has no field 'afer'"),
        ("plan.md", "## A\nworker: adam\nauto-accept: yes\n", "task 'A' has no field 'auto-accept'"),
        ("plan.md", "## A\nPrio: 3\n", "task 'A' has no field 'Prio'"),
        ("plan.md", "## A\nafter: C\n\n## B\n", "task 'A' comes after 'C', but there is no such task"),
        ("plan.md", "## A\nafter: t9\n", "task 'A' comes after 't9', but there is no such task"),
        (
            "plan.md",
            "## A\nafter: B\n## B\nafter: C\n## C\nafter: A\n",
            "wait for each other: 'A' -> 'B' -> 'C' -> 'A'",
        ),
        ("plan.md", "## A\nafter: A\n", "wait for each other: 'A' -> 'A'"),
        ("plan.md", "## A\ntouches: src, /etc/passwd\n", "task 'A' of plan.md: it cannot touch '/etc/passwd'"),
        ("plan.md", "## A\ntouches: ../x\n", "task 'A' of plan.md: it cannot touch '../x'"),
        ("plan.md", "## A\n```\ncode\n\n## B\n", "task 'A' has a code block that does not end"),
        ("plan.toml", "[[task]]\ntitle = 'A'\n\n[[task]]\ntitel = 'B'\n", "task 2 of plan.toml: titel is not known"),
        ("plan.toml", "[[task]\n", "plan.toml is not valid TOML"),
        ("plan.toml", "title = 'A'\n", "plan.toml has 'title' where only [[task]] tables may be"),
        ("plan.toml", "[task]\ntitle = 'A'\n", "plan.toml has 'task' where only [[task]] tables may be"),
        ("plan.toml", "[[task]]\npriority = 1\n", "has neither a title nor a text"),
        ("plan.toml", "[[task]]\ntitle = 'A'\nwrkr = 'x'\n", "task 'A' of plan.toml: wrkr is not known"),
        ("plan.toml", "[[task]]\ntitle = 'A'\nafter = [1]\n", "task 'A' of plan.toml: after"),
        ("plan.toml", "", "plan.toml has no tasks"),
    ],
)
def test_what_is_wrong_is_named(name, text, words):
    with pytest.raises(PlanError) as wrong:
        after_ids(read_plan(text, name), (), 1)
    assert words in wrong.value.what
    assert wrong.value.hint


@pytest.mark.parametrize(
    ("name", "text", "hint"),
    [
        ("plan.md", "## A\nwroker: adam\n", "write `worker: ...`, or begin its text with another word"),
        ("plan.md", "## A\ndepends: B\n", "write `after: ...`"),
        ("plan.md", "## A\npriority: high\n", "`llmc task import --help` shows a plan"),
        ("plan.toml", "[[task]]\ntitle = 'A'\nwroker = 'x'\n", "did you mean `worker`?"),
    ],
)
def test_the_hint_fits_what_is_wrong(name, text, hint):
    with pytest.raises(PlanError) as wrong:
        read_plan(text, name)
    assert hint in wrong.value.hint


@pytest.mark.parametrize("text", ["Note: it is old.", "old: red", "Goal: after all, a page", "Steps:\nprio: 3"])
def test_other_words_with_a_colon_are_text(text):
    (task,) = read_plan(f"## A\npriority: -3\n{text}\n", "plan.md")
    assert (task.text, task.priority) == (text, -3)


def test_code_within_a_line_begins_no_block():
    first, second = read_plan("## A\n```make test``` must pass\n\n## B\n", "plan.md")
    assert (first.text, second.title) == ("```make test``` must pass", "B")
