"""The last sentence of what an agent said, whatever it is written in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmc.core.screen.last_words import LONGEST, last_sentence


@pytest.mark.parametrize(
    ("said", "last"),
    [
        ("", ""),
        ("Done.", "Done."),
        ("I read the code. Which branch do you want?", "Which branch do you want?"),
        ("I read\nthe code, and\nthen stopped", "I read the code, and then stopped"),
        ("First.\n\nShould I go on? \n\n", "Should I go on?"),
        ("**Blocked:** I need the `API_KEY` first.", "Blocked: I need the API_KEY first."),
        ("## Question\n\nMay I [look](https://example.com)?", "May I look?"),
        ("Two ways:\n1. Reuse it. It is there.\n2. Write a new one", "Write a new one"),
        ("- one\n- two", "two"),
        ("> quoted words", "quoted words"),
        ("Run this:\n```sh\nmake all. Now\n```", "Run this:"),
        ("Look:\n```\ncode\n```\nShall I?", "Shall I?"),
        ("Fine.\n\n---\n", "Fine."),
        ("See:\n\n| a | b |\n|---|---|\n| 1 | 2 |", "See:"),
        ("I used tools, e.g. Make and git. OK?", "OK?"),
        ("It costs 3.5 seconds. Version 2.1 works", "Version 2.1 works"),
        ("我看了代码。你想要哪个分支？", "你想要哪个分支？"),
        ("テストを書きました。「続けますか？」", "「続けますか？」"),
        ("All green! 🎉", "All green! 🎉"),
        ("Ready 👩\u200d💻", "Ready 👩\u200d💻"),
        ("● I read it. What now?", "What now?"),
        ('He said "Stop." Then he left.', "Then he left."),
        ("```\nonly code\n```", ""),
        ("evil \x1b[31mred\x07 words", "evil \ufffd[31mred\ufffd words"),
    ],
)
def test_the_last_sentence(said: str, last: str) -> None:
    assert last_sentence(said) == last


def test_a_long_one_is_cut() -> None:
    assert len(last_sentence("word " * 1000)) <= LONGEST
    assert last_sentence("word " * 1000).endswith("…")


@given(st.text())
def test_it_is_one_safe_line(said: str) -> None:
    last = last_sentence(said)
    assert len(last) <= LONGEST
    assert "\n" not in last
    assert "\x1b" not in last
