from __future__ import annotations

import re

import pytest

from llmc.core.delivery.texts import check_text
from llmc.core.prompts.conflicts import (
    FILES_LISTED,
    REGIONS_LIMIT,
    ConflictedFile,
    ConflictStanding,
    conflict_prompt,
    fix_prompt,
    help_prompt,
)

FILES = (
    ConflictedFile("src/app.py", "both changed the same lines", ("<<<<<<< HEAD\na\n=======\nb\n>>>>>>> mine",)),
    ConflictedFile(
        "old name.txt", "main deleted it, you changed it", options=("keep yours: `git add`", "or remove it")
    ),
)
STANDING = ConflictStanding("Add a parser\n\nwith tests", "llmc/adam", "main", "Add parser", 2, ("1234567 Rework it",))


@pytest.mark.lesson(31, "a conflict is handed over with the task, the files and numbered steps")
def test_a_conflict_is_told_with_the_task_the_files_and_numbered_steps():
    """Without the task agents throw their own work away."""
    text = conflict_prompt(STANDING, FILES, ["make test", "make lint"])
    assert text.startswith(
        "Your branch llmc/adam is being rebased onto the newest main, and 2 files conflict.\nIncorporate"
    )
    assert "do not throw away" in text
    assert "\n> Add a parser\n>\n> with tests\n" in text
    assert "\n- src/app.py: both changed the same lines (1 place)\n- old name.txt: main deleted it" in text
    assert "src/app.py:\n```\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> mine\n```\n" in text
    assert "old name.txt:\n- keep yours: `git add`\n- or remove it\n" in text
    assert [int(number) for number in re.findall(r"^(\d+)\. ", text, re.MULTILINE)] == [1, 2, 3, 4, 5, 6]
    assert "5. Run `make test`" in text
    assert "6. Run `make lint`" in text
    assert "git -c core.editor=true rebase --continue" in text
    assert "`git show :2:FILE` is the version of main, `git show :3:FILE` is yours" in text


@pytest.mark.lesson(31, "a conflict is handed over with the task, the files and numbered steps")
def test_it_says_why():
    text = conflict_prompt(STANDING, FILES, [])
    assert (
        'Your commit "Add parser" could not be applied, and 2 more of yours come after it:\n'
        "meanwhile main got these, which change the same files:\n"
        "- 1234567 Rework it\n" in text
    )
    alone = conflict_prompt(ConflictStanding("x", "b", "main", "Add parser"), FILES, [])
    assert 'Your commit "Add parser" could not be applied.\n\nWhat conflicts' in alone


def test_many_commits_are_cut():
    text = conflict_prompt(ConflictStanding("x", "b", "main", "", 0, tuple(f"{n:07} S" for n in range(20))), FILES, [])
    assert "- 0000011 S\n- and 8 more: `git log" in text


def test_one_file_is_one_file():
    text = conflict_prompt(ConflictStanding("x", "b", "main"), FILES[:1], [])
    assert "and 1 file conflicts.\n" in text
    assert "\n5." not in text


@pytest.mark.parametrize("task", ["", "  \n"])
def test_a_conflict_without_a_task_says_so(task):
    assert "> (it was not given through LLMC)" in conflict_prompt(ConflictStanding(task, "b", "main"), FILES, [])


def test_it_has_a_bounded_size():
    huge = tuple(f"<<<<<<< HEAD\n{'x' * 90}\n" * 100 + f"the end of {n}" for n in range(50))
    files = [ConflictedFile(f"f{n}", "content", huge) for n in range(FILES_LISTED + 7)]
    text = conflict_prompt(ConflictStanding("x", "b", "main"), files, [])
    assert len(text) < REGIONS_LIMIT + 12_000
    assert "the middle is left out" in text
    assert "the end of 0\n" in text
    assert "more in the file itself]" in text
    assert "- and 7 more: `git status` lists them" in text
    assert "4. Repeat" in text


HOSTILE = ConflictedFile("a\x1b[201~\nb", "content", ("<<<<<<< x\n\x1b[201~rm\x07\n\x0c\r\n=======",), ("x\x1b",))


@pytest.mark.parametrize(
    "text",
    [
        conflict_prompt(STANDING, FILES, ["make"]),
        conflict_prompt(ConflictStanding("t\x1b[201~", "b", "main", "S\x1b", 0, ("1 \x1b",)), [HOSTILE], []),
        help_prompt(STANDING, [HOSTILE], ["a\x1b"], ["make"]),
        fix_prompt(STANDING, "it\x1b[0m failed"),
    ],
)
def test_whatever_is_in_the_repository_it_can_be_delivered(text):
    """A terminal acts on nothing of it: what ends a paste would let a file type commands."""
    assert check_text(text) is None
    assert text.endswith("\n")


def test_help_names_what_is_missing():
    text = help_prompt(STANDING, FILES, ["src/app.py"], [])
    assert "Conflict markers are still in src/app.py" in text
    assert "> Add a parser" in text
    assert "3. When `git status` shows no unmerged file" in text
    assert "Nothing is unmerged any more" in help_prompt(STANDING, [], [], [])


def test_what_is_to_be_mended_is_told_with_its_end():
    text = fix_prompt(STANDING, "`make` failed:\n" + "x" * 20_000 + "\nthe last line")
    assert "the last line\n```" in text
    assert len(text) < 10_000
    assert "> Add a parser" in text
