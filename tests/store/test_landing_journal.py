from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from llmc.core.landing.journal import Landing
from llmc.store.landing_journal import JournalBrokenError, LandingJournal

ONE = Landing(
    "1-a", "/s", None, "main", "o" * 40, "n" * 40, "refs/llmc/accept/adam/commit", ("adam",), "Add \udcff", 1.5, ("b",)
)
TWO = replace(ONE, id="2-b", checkout="/s", old=ONE.new, new="m" * 40)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "landings.json"


def test_several_landings_are_kept_in_order_until_each_is_over(path: Path) -> None:
    journal = LandingJournal(str(path))
    assert journal.read() == ()
    journal.add(ONE)
    journal.add(TWO)
    assert LandingJournal(str(path)).read() == (ONE, TWO)
    journal.remove(ONE)
    assert journal.read() == (TWO,)
    journal.remove(TWO)
    assert list(path.parent.iterdir()) == []
    journal.remove(TWO)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema": 2, "landings": []}', '{"schema": 1, "landings": [{}]}'])
def test_a_damaged_journal_is_told(path: Path, text: str) -> None:
    path.write_text(text)
    with pytest.raises(JournalBrokenError, match="is damaged") as caught:
        LandingJournal(str(path)).read()
    assert "doctor --repair" in caught.value.hint
