"""Every lesson is held by tests that name it."""

from __future__ import annotations

from pathlib import Path

import pytest

from testing.lessons import LESSONS, holdings, page

ONE_TEST = """
import pytest

@pytest.mark.lesson(2, "look first")
@pytest.mark.parametrize("x", [1])
def test_looking(x): ...

def test_nothing_of_the_kind(): ...
"""


def test_every_lesson_has_a_test() -> None:
    assert {holding.number for holding in holdings()} == set(LESSONS)


def test_a_lesson_has_the_same_words_everywhere() -> None:
    words: dict[int, set[str]] = {}
    for holding in holdings():
        words.setdefault(holding.number, set()).add(holding.words)
    assert {number: each for number, each in words.items() if len(each) > 1} == {}
    assert len(set.union(*words.values())) == len(words), "two lessons have the same words"


def test_the_page_has_every_lesson_and_its_tests() -> None:
    written = page()
    for holding in holdings():
        assert f"**{holding.number}. " in written
        assert holding.test.removeprefix("test_").replace("_", " ") in written


def test_tests_are_found_by_their_marker(tmp_path: Path) -> None:
    (tmp_path / "tests" / "room").mkdir(parents=True)
    (tmp_path / "tests" / "room" / "test_it.py").write_text(ONE_TEST)
    (found,) = holdings(tmp_path)
    assert (found.number, found.words) == (2, "look first")
    assert (found.file, found.test) == ("tests/room/test_it.py", "test_looking")


@pytest.mark.parametrize("arguments", ["7", '"seven"', "number, words"])
def test_a_marker_that_says_too_little_is_noticed(tmp_path: Path, arguments: str) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_it.py").write_text(ONE_TEST.replace('2, "look first"', arguments))
    with pytest.raises(ValueError):
        holdings(tmp_path)
