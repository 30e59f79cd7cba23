"""What the demo agent draws, at any size."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmc.demo.dialog import Asking, DemoDialog
from llmc.demo.keys import Typed
from llmc.demo.requests import Tell, Tone
from llmc.demo.screen import HEADER, DemoView, picture
from llmc.demo.text import cells, cut, harmless, wrap

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


def texts_of(view: DemoView, width: int = 80, height: int = 24) -> list[str]:
    return [row.text for row in picture(view, width, height).rows]


def opened(asking: Asking, *typed: str) -> DemoDialog:
    dialog = DemoDialog(asking)
    for text in typed:
        dialog.take(Typed(text))
    return dialog


@given(
    st.builds(
        DemoView,
        transcript=st.lists(st.builds(Tell, texts)),
        draft=texts,
        queued=st.lists(texts, max_size=5),
        busy_secs=st.none() | st.floats(0, 1e6),
        dialog=st.none() | st.builds(Asking, texts, st.tuples(texts), free_text=st.booleans()).map(DemoDialog),
        leaving=st.booleans(),
    ),
    st.integers(1, 120),
    st.integers(1, 60),
)
def test_a_picture_fits_its_terminal(view: DemoView, width: int, height: int) -> None:
    drawn = picture(view, width, height)
    assert len(drawn.rows) == height
    assert all(cells(row.text) <= width for row in drawn.rows)
    assert not any(unicodedata.category(character) == "Cc" for row in drawn.rows for character in row.text)
    assert 0 <= drawn.cursor[0] < height
    assert 0 <= drawn.cursor[1] < width


def test_an_idle_screen() -> None:
    drawn = picture(DemoView(transcript=[Tell("hello")], draft="one\ntwo"), 80, 24)
    rows = [row.text for row in drawn.rows]
    assert rows[:2] == [HEADER, "hello"]
    assert rows[-5:] == ["─" * 80, "❯ one", "  two", "─" * 80, "demo agent · /clear · /exit"]
    assert drawn.cursor == (21, 5)
    assert drawn.title == "demo: ready"


def test_a_busy_screen() -> None:
    view = DemoView(busy_secs=3.1, queued=["next one"])
    assert texts_of(view)[-6:-3] == ["⠙ Working… (3s)", "  queued: next one", "─" * 80]
    assert picture(view, 80, 24).title == "⠋ demo: working"


def test_a_permission_dialog_takes_the_place_of_the_composer() -> None:
    view = DemoView(draft="mine", busy_secs=1.0, dialog=opened(Asking("Run it?", ("Bash command", "  ls"))))
    assert texts_of(view)[-8:-1] == ["─" * 80, "Bash command", "  ls", "Run it?", "❯ 1. Yes", "  2. No", "─" * 80]
    assert picture(view, 80, 24).title == "demo: asks"


def test_a_typed_answer_is_seen() -> None:
    dialog = opened(Asking("Which?", free_text=True), "3", "blue")
    assert "❯ 3. Type an answer: blue" in texts_of(DemoView(busy_secs=1.0, dialog=dialog))


def test_the_newest_of_the_transcript_and_the_end_of_the_draft_are_seen() -> None:
    rows = texts_of(DemoView([Tell(str(number)) for number in range(100)], "\n".join(map(str, range(200, 300)))))
    assert "99" in rows
    assert "❯ 282" in rows
    assert "  299" in rows


def test_tones_reach_the_rows() -> None:
    drawn = picture(DemoView([Tell("bad\nnews", Tone.ERROR)]), 80, 24)
    assert [row.tone for row in drawn.rows if row.text in ("bad", "news")] == [Tone.ERROR, Tone.ERROR]


@pytest.mark.parametrize(
    ("text", "width", "rows"),
    [
        ("", 3, [""]),
        ("abcd", 3, ["abc", "d"]),
        ("世界x", 3, ["世", "界x"]),
        ("世", 1, ["?"]),
        ("e\u0301e\u0301", 1, ["e\u0301", "e\u0301"]),
    ],
)
def test_lines_are_cut_by_cells(text: str, width: int, rows: list[str]) -> None:
    assert wrap(text, width) == rows
    assert cut(text, width) == rows[0]


def test_nothing_that_a_terminal_would_act_on_is_drawn() -> None:
    assert harmless("a\x1b[31m\tb\x9b\u2028") == "a·[31m    b··"
