"""Keys, composer and dialogs of the demo agent: the same result however the bytes are cut."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmc.demo.composer import Composer, Submission
from llmc.demo.dialog import NO, YES, Answer, Asking, DemoDialog
from llmc.demo.keys import Key, KeyReader, Pasted, Press, Typed

PASTE = b"\x1b[200~%b\x1b[201~"


def keys_of(*chunks: bytes) -> list[Key]:
    reader = KeyReader()
    keys = [key for chunk in chunks for key in reader.feed(chunk)]
    return keys + reader.time_passed()


def composed(*chunks: bytes) -> tuple[str, str, list[Submission]]:
    composer = Composer()
    submissions = [taken for key in keys_of(*chunks) if (taken := composer.take(key))]
    return composer.text, composer.shown, submissions


def shown_after(data: bytes) -> str:
    return composed(data)[1]


def cut_at(data: bytes, places: list[int]) -> list[bytes]:
    edges = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    return [data[start:end] for start, end in pairwise(edges)]


fragments = st.one_of(
    st.text(max_size=8).map(lambda text: text.encode("utf-8", "ignore")),
    st.binary(max_size=6),
    st.sampled_from(
        [b"\r", b"\n", b"\x1b", b"\x1b\r", b"\x1b[A", b"\x1bOB", b"\x1b[3~", b"\x7f", b"\x15", b"\x03", b"\x1b[200~"]
    ),
    st.text(max_size=30).map(lambda text: PASTE % text.encode("utf-8", "ignore")),
    st.integers(8, 14).map(lambda count: PASTE % (b"line\n" * count)),
)


@given(st.lists(fragments, max_size=12).map(b"".join), st.lists(st.integers(0, 400), max_size=20))
def test_any_cutting_of_the_bytes_gives_the_same_result(data: bytes, places: list[int]) -> None:
    assert composed(*cut_at(data, places)) == composed(data)


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(lambda text: text.strip() != ""))
def test_a_paste_is_submitted_exactly(text: str) -> None:
    _, _, submissions = composed(PASTE % text.encode(), b"\r")
    assert [submission.text for submission in submissions] == [text]


@pytest.mark.parametrize(
    ("data", "keys"),
    [
        (b"\r", [Press.ENTER]),
        (b"\n", [Press.NEWLINE]),
        (b"\x1b\r", [Press.NEWLINE]),
        (b"\x1b", [Press.ESCAPE]),
        (b"\x1b\x1b", [Press.ESCAPE, Press.ESCAPE]),
        (b"\x1b\x03", [Press.ESCAPE, Press.INTERRUPT]),
        (b"\x1b[A\x1bOB", [Press.UP, Press.DOWN]),
        (b"\x7f\x08", [Press.BACKSPACE, Press.BACKSPACE]),
        (b"\x1b[1;5C\x1b[3~\x04\x00", []),
        (b"\x1bx", []),
        (b"\x1b[12\x03", [Press.INTERRUPT]),
        ("aé世🤖\t".encode(), [Typed("aé世🤖\t")]),
        (b"\xff", [Typed("�")]),
        (PASTE % b"a\nb\r\x03", [Pasted("a\nb\r\x03")]),
    ],
)
def test_bytes_become_keys(data: bytes, keys: list[Key]) -> None:
    found = keys_of(data)
    assert found == keys
    assert [type(key) for key in found] == [type(key) for key in keys]


def test_the_reader_waits_only_for_the_rest_of_a_sequence() -> None:
    reader = KeyReader()
    assert reader.feed("世".encode()[:2]) == []
    assert not reader.waiting
    assert reader.feed("世".encode()[2:] + b"\x1b") == [Typed("世")]
    assert reader.waiting
    assert reader.feed(b"[A") == [Press.UP]
    assert not reader.waiting


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (PASTE % b"a\nb", "a\nb"),
        (PASTE % (b"x\n" * 9 + b"x"), "x\n" * 9 + "x"),
        (PASTE % (b"x\n" * 70), "[Pasted text #1 +70 lines]"),
        (PASTE % (b"x" * 1000), "x" * 1000),
        (PASTE % (b"x" * 1001), "[Pasted text #1]"),
        (
            b"see " + PASTE % (b"x\n" * 70) + b" and " + PASTE % (b"y" * 1001),
            "see [Pasted text #1 +70 lines] and [Pasted text #2]",
        ),
    ],
)
def test_a_long_paste_is_shown_folded(data: bytes, shown: str) -> None:
    assert shown_after(data) == shown


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b"one\x15", ""),
        (b"one\ntwo\x15", "one\n"),
        (b"one\ntwo\x15\x15", "one"),
        (PASTE % (b"x\n" * 70) + b"\x15", ""),
        (b"a\nb " + PASTE % (b"x\n" * 70) + b" c\x15", "a\n"),
        (PASTE % b"a\nb" + b"c\x15", "a\n"),
        (b"\x15\x7f", ""),
        (b"ab\x7f", "a"),
        (b"ab" + PASTE % (b"x\n" * 70) + b"\x7f", "ab"),
        (PASTE % b"\xe4\xb8\x96x" + b"\x7f\x7f", ""),
    ],
)
def test_clearing(data: bytes, shown: str) -> None:
    assert shown_after(data) == shown


def test_a_submission_says_whether_it_was_typed() -> None:
    assert composed(b"/clear\r")[2] == [Submission("/clear", "/clear", typed=True)]
    assert composed(PASTE % b"/clear", b"\r")[2] == [Submission("/clear", "/clear", typed=False)]


def test_nothing_to_say_is_not_submitted() -> None:
    assert composed(b"\r \n\r") == (" \n", " \n", [])


def test_several_prompts_can_arrive_at_once() -> None:
    assert [submission.text for submission in composed(b"one\rtwo\rthree")[2]] == ["one", "two"]


def answered(asking: Asking, *keys: Key) -> tuple[Answer | None, DemoDialog]:
    dialog = DemoDialog(asking)
    answer = None
    for key in keys:
        answer = answer or dialog.take(key)
    return answer, dialog


PERMISSION = Asking("Run it?", letters=True)
QUESTION = Asking("Which colour?", free_text=True)


@pytest.mark.parametrize(
    ("asking", "keys", "answer"),
    [
        (PERMISSION, [Typed("1")], Answer(YES)),
        (PERMISSION, [Typed("y")], Answer(YES)),
        (PERMISSION, [Press.ENTER], Answer(YES)),
        (PERMISSION, [Typed("2")], Answer(NO)),
        (PERMISSION, [Typed("N")], Answer(NO)),
        (PERMISSION, [Press.DOWN, Press.DOWN, Press.ENTER], Answer(NO)),
        (PERMISSION, [Press.DOWN, Press.UP, Press.UP, Press.ENTER], Answer(YES)),
        (PERMISSION, [Typed("3")], None),
        (PERMISSION, [Pasted("1")], None),
        (QUESTION, [Typed("y")], None),
        (QUESTION, [Typed("2")], Answer(NO)),
        (QUESTION, [Typed("3"), Typed("2"), Pasted(" blue\nones"), Press.ENTER], Answer("2 blue\nones", typed=True)),
        (QUESTION, [Press.DOWN, Press.DOWN, Press.ENTER, Typed("no"), Press.ENTER], Answer("no", typed=True)),
        (QUESTION, [Typed("3"), Press.ENTER], None),
        (QUESTION, [Typed("3"), Press.UP, Press.ENTER], Answer(NO)),
    ],
)
def test_a_dialog_is_answered(asking: Asking, keys: list[Key], answer: Answer | None) -> None:
    assert answered(asking, *keys)[0] == answer
