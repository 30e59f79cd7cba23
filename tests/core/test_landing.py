from __future__ import annotations

import pytest

from llmc.core.landing.journal import Entry, Kind, Landing, Whose, whose

OLD, NEW = Entry(Kind.FILE, b"old content\n"), Entry(Kind.FILE, b"new content\n")
LINK, OTHER_LINK = Entry(Kind.LINK, b"here"), Entry(Kind.LINK, b"there")
DIRECTORY = Entry(Kind.OTHER)


@pytest.mark.lesson(50, "a landing that is cut short is finished or taken back by whoever comes next")
@pytest.mark.parametrize(
    ("found", "old", "new", "expected"),
    [
        (OLD, OLD, NEW, Whose.AS_BEFORE),
        (NEW, OLD, NEW, Whose.LANDING),
        (None, OLD, NEW, Whose.LANDING),
        (None, OLD, None, Whose.LANDING),
        (OLD, OLD, None, Whose.AS_BEFORE),
        (NEW, None, NEW, Whose.LANDING),
        (None, None, NEW, Whose.AS_BEFORE),
        (Entry(Kind.FILE, b"new con"), OLD, NEW, Whose.LANDING),
        (Entry(Kind.FILE, b"old con"), OLD, NEW, Whose.LANDING),
        (Entry(Kind.FILE), None, NEW, Whose.LANDING),
        (Entry(Kind.FILE, b"new content\nand mine\n"), OLD, NEW, Whose.USER),
        (Entry(Kind.FILE, b"mine\n"), OLD, NEW, Whose.USER),
        (Entry(Kind.FILE, b"mine\n"), None, NEW, Whose.USER),
        (Entry(Kind.PROGRAM, OLD.content), OLD, NEW, Whose.USER),
        (Entry(Kind.PROGRAM, OLD.content), OLD, Entry(Kind.PROGRAM, OLD.content), Whose.LANDING),
        (LINK, OLD, LINK, Whose.LANDING),
        (LINK, LINK, OTHER_LINK, Whose.AS_BEFORE),
        (Entry(Kind.LINK, b"the"), LINK, OTHER_LINK, Whose.USER),
        (Entry(Kind.FILE, b"the"), LINK, OTHER_LINK, Whose.USER),
        (DIRECTORY, OLD, NEW, Whose.USER),
        (DIRECTORY, None, NEW, Whose.AS_BEFORE),
    ],
)
def test_whose_a_file_is(found: Entry | None, old: Entry | None, new: Entry | None, expected: Whose) -> None:
    assert whose(found, old, new) is expected


def test_where_modes_do_not_count_content_decides() -> None:
    found = Entry(Kind.PROGRAM, OLD.content)
    assert whose(found, OLD, NEW, modes_count=False) is Whose.AS_BEFORE
    assert whose(LINK, Entry(Kind.FILE, LINK.content), NEW, modes_count=False) is Whose.USER


def test_a_landing_is_told_in_words() -> None:
    landing = Landing("1", "/s", "/s/linked", "main", "o" * 40, "n" * 40, "refs/x", ("adam", "baker"), "Add a", 1.0)
    assert landing.words == "the work of adam, baker (Add a) onto main of /s/linked"
