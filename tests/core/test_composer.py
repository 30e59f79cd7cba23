"""The input box of a CLI: found, read, and compared with what was sent."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmc.agents.packs import load_pack
from llmc.core.screen.composer import (
    ComposerShape,
    composer_holds,
    composer_keeps,
    composer_mixes,
    find_box,
    is_prompt_again,
)

RULED = ComposerShape(
    prompt=re.compile(r"^❯[\s\u00a0]?"),
    rule=re.compile(r"^─{3,}"),
    placeholder=re.compile(r"\[Pasted text #\d+"),
    hint=re.compile(r'Try ".*"'),
    history=re.compile(r"^● "),
)
BARE = ComposerShape(prompt=re.compile(r"^› ?"))
BOXED = ComposerShape(prompt=re.compile(r"^\s*┃ {0,2}"), bottom=re.compile(r"^\s*╹▀{3,}"))
BELOW = ComposerShape(prompt=re.compile(r"^>(?: |$)"), top=re.compile(r"^─{3,}"), history=re.compile(r"^\S|█"))
UNSIGNED = ComposerShape(prompt=re.compile("^(?=)"), rule=re.compile(r"^─{3,}"))
LINE = "─" * 20


def box(*typed: str, above: str = "", below: str = "  ? for help") -> str:
    return "\n".join([above, LINE, *(typed or ("❯\u00a0",)), LINE, below, ""])


# --- the composer between two rules --------------------------------------------------------------


def composer(shape: ComposerShape, screen: str) -> str | None:
    box = find_box(shape, [line.rstrip() for line in screen.splitlines()])
    return None if box is None else box.text


def test_several_lines_are_read():
    typed = composer(RULED, box("❯ one", "  two", "    three", "", "  four"))
    assert typed is not None
    assert [line.strip() for line in typed.splitlines()] == ["one", "two", "three", "", "four"]


def test_the_lowest_box_is_the_composer():
    assert composer(RULED, box("❯ an old one") + box("❯ the newest")) == "the newest"


def test_rules_in_the_conversation_do_not_matter():
    assert composer(RULED, f"{LINE}\na table\n{LINE}\n" + box("❯ typed") + f"\n{LINE}\n") == "typed"


@pytest.mark.lesson(18, "dialogs come before prompts, and only the live part of the screen counts")
def test_a_prompt_in_the_conversation_is_no_composer():
    assert composer(RULED, "❯ what was asked before\n\n● an answer\n") is None


@pytest.mark.lesson(18, "dialogs come before prompts, and only the live part of the screen counts")
def test_a_box_with_something_below_it_that_was_said_later_is_history():
    assert composer(RULED, box("❯ asked before") + "\n● an answer\n") is None


def test_words_of_an_empty_composer_are_no_draft():
    assert composer(RULED, box('❯ Try "fix the tests"')) == ""
    assert composer(RULED, box('❯ Try "fix the tests" please')) == 'Try "fix the tests" please'


# --- the composer without rules ------------------------------------------------------------------


def test_the_last_prompt_is_the_composer():
    assert composer(BARE, "› asked before\n\n• an answer\n\n› typed now\n\n  model · ~/dir\n") == "typed now"


def test_lines_below_the_prompt_belong_to_it_while_they_are_indented():
    screen = "› one\n  two\n  three\n\n  model · ~/dir\n"
    assert [line.strip() for line in (composer(BARE, screen) or "").splitlines()] == ["one", "two", "three"]


def test_an_empty_prompt_is_an_empty_composer():
    assert composer(BARE, "• an answer\n\n›\n\n  model · ~/dir\n") == ""


def test_no_prompt_is_no_composer():
    assert composer(BARE, "$ something else") is None


@pytest.mark.parametrize(
    ("line", "typed", "again"),
    [
        ("> > >", ">", True),
        ("you> you>", "you>", True),
        ("> > draft", "draft", False),
        ("> go go", "go go", False),
        (">", "", False),
    ],
)
def test_prompts_one_after_the_other_are_no_draft(line, typed, again):
    assert is_prompt_again(typed, f"> one\ntwo\n{line}\n\n") is again


# --- the composer above a bottom line ------------------------------------------------------------


BOX = f"   ┃\n   ┃  {{}}\n   ┃\n   ┃  Build · Model\n   ╹{'▀' * 30}\n   tab agents\n"


def test_the_box_is_read_without_its_own_words():
    assert composer(BOXED, BOX.format("typed")) == "typed"
    assert composer(BOXED, BOX.format("")) == ""


def test_a_message_in_the_conversation_is_not_part_of_the_box():
    assert composer(BOXED, "   ┃  asked before\n\n   an answer\n\n" + BOX.format("typed")) == "typed"


@pytest.mark.parametrize("typed", ["typed", "日本語"])
def test_what_stands_beside_the_box_is_not_in_it(typed):
    width = len("   ╹" + "▀" * 30) - len("   ┃  ") - (3 if typed == "日本語" else 0)
    assert composer(BOXED, BOX.format(f"{typed:<{width}}  a side bar")) == typed


def test_without_the_bottom_line_there_is_no_box():
    assert composer(BOXED, "   ┃  asked before\n") is None


# --- does it hold the text? ----------------------------------------------------------------------


TEXT = "Rename parse to parse_line everywhere,\n\tand update the callers and the tests;"


@pytest.mark.parametrize(
    "typed",
    [
        TEXT,
        " ".join(TEXT.split()),
        "Rename parse to parse_line\neverywhere, and update the\ncallers and the tests;",
        "update the callers and the tests;",  # the end of a text that is longer than the box
        "[Pasted text #1 +70 lines]",
    ],
)
def test_a_text_that_is_shown_is_recognised(typed):
    assert composer_holds(RULED, typed, TEXT)


@pytest.mark.parametrize(
    "typed",
    ["", "  \n ", "Rename", "R", TEXT + " And more by a person", "my own draft before it. " + TEXT, "[Image #1]"],
)
def test_a_text_that_is_not_there_is_not_recognised(typed):
    assert not composer_holds(RULED, typed, TEXT)


@pytest.mark.parametrize(
    ("typed", "mixes"),
    [
        *((TEXT + " And more by a person", True), ("my own draft before it. " + TEXT, True)),
        *(("before [Pasted text #1 +70 lines]", True), ("[Pasted text #2] after", True)),
        *((TEXT, False), ("", False), ("a draft without it", False), ("update the callers and the tests;", False)),
        *(("[Pasted text #1 +70 lines]", False), ("[Pasted text #10 +7\n lines] ", False), ("[Pasted text #1", False)),
    ],
)
def test_a_text_among_somebodys_words_is_not_ours_to_submit(typed, mixes):
    assert composer_mixes(RULED, typed, TEXT) is mixes
    assert not (mixes and composer_holds(RULED, typed, TEXT))


@pytest.mark.parametrize("text", ["y", "/clear", "go on"])
def test_a_short_text_must_be_there_whole(text):
    assert composer_holds(BARE, text, text)
    assert composer_holds(None, f" {text}\n", text)
    assert not composer_holds(BARE, text[:-1], text)


def test_a_placeholder_means_nothing_to_a_cli_that_has_none():
    assert not composer_holds(BARE, "[Pasted text #1 +70 lines]", TEXT)


def test_a_tab_that_is_shown_by_its_sign_is_recognised():
    text = "Fix it:\n\n\tthe parser,\n\tits tests"
    shown = "Fix it:\n\n^Ithe parser,\n^Iits tests"
    assert composer_holds(BARE, shown, text)
    assert composer_keeps(BARE, shown, text)
    assert not composer_mixes(BARE, shown, text)
    assert not composer_holds(BARE, shown, text.replace("\t", ""))


@pytest.mark.parametrize(
    "typed", ["Fix the parser ’s tests!", "Fix\nthe    parser  s tests", "Fix  the parser's te\nsts"]
)
def test_what_terminals_show_each_in_their_own_way_does_not_matter(typed):
    assert composer_holds(BARE, typed, "Fix 🤖 the\tparser's tests")


@pytest.mark.lesson(10, "a person's draft is waited for, never cleared or added to")
@given(st.text(min_size=1).filter(lambda text: text.strip()), st.text("abcXYZ019", min_size=1))
def test_somebodys_words_around_the_text_are_noticed(text, words):
    assert composer_holds(None, text, text)
    assert not composer_holds(None, text + words, text)


# --- the composer below a rule, each line with the prompt, and the one without any -------------------


def below(*typed: str) -> list[str]:
    return ["an answer", "Tokens: 12", LINE, "notes.txt", *typed]


def test_all_lines_with_the_prompt_are_typed():
    assert composer(BELOW, "\n".join(below("> one", "> two", ">", ">   four"))) == "one\ntwo\n\n  four"


def test_what_stands_between_the_rule_and_the_prompt_belongs_to_the_box():
    found = find_box(BELOW, below(">"))
    assert found is not None
    assert (found.first, found.end, found.text) == (2, 5, "")


def test_a_long_text_has_pushed_the_rule_out_of_sight():
    found = find_box(BELOW, ["> line 3", "> line 4"])
    assert found is not None
    assert (found.first, found.text) == (0, "line 3\nline 4")


@pytest.mark.lesson(18, "dialogs come before prompts, and only the live part of the screen counts")
@pytest.mark.parametrize("after", ["an answer", "  ░█  Waiting for the model"])
def test_what_was_sent_is_no_draft(after: str) -> None:
    assert composer(BELOW, "\n".join(below("> sent", "", after))) is None


def test_a_box_without_any_prompt_sign():
    assert composer(UNSIGNED, f"said\n{LINE}\n\n{LINE}\nfooter") == ""
    assert composer(UNSIGNED, f"said\n{LINE}\none\n\ntwo\n{LINE}\nfooter") == "one\n\ntwo"
    assert composer(UNSIGNED, "said\nfooter") is None


@pytest.mark.lesson(10, "a person's draft is waited for, never cleared or added to")
@pytest.mark.parametrize(
    ("cli", "typed", "kept"),
    [
        ("claude", "[Pasted text #1 +49 lines]", True),
        ("claude", "[Pasted text #2 +12 lines]", False),
        ("claude", "[Pasted text #1 +49 lines] and mine", False),
        ("claude", "[Pasted text #10]", False),
        ("codex", "[Pasted Content 499 chars]", True),
        ("codex", "[Pasted Content 4842 chars]", False),
        ("gemini", "[Pasted Text: 50 lines]", True),
        ("gemini", "[Pasted Text: 7 lines]", False),
    ],
)
def test_a_paste_of_another_size_is_somebody_elses(cli: str, typed: str, kept: bool) -> None:
    ours = "\n".join(["one word."] * 50)
    assert composer_keeps(load_pack(cli).composer, typed, ours) is kept
