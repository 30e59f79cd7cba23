"""Reading screens, with small packs made for the purpose; the real packs are held against recorded screens."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmc.core.screen.classify import Pack, ScreenReading, look_at, read_screen
from llmc.core.screen.composer import ComposerShape
from llmc.core.screen.cues import (
    ComposerIs,
    Condition,
    Cue,
    CursorIs,
    HasTitle,
    InRegion,
    OnAlternateScreen,
    RunsCommand,
)
from llmc.core.screen.screen import Screen, screen_of

RULED = ComposerShape(prompt=re.compile(r"^❯[\s\u00a0]?"), rule=re.compile(r"^─{3,}"))


def seen(region: str, pattern: str, lines: int = 15) -> InRegion:
    return InRegion(region, re.compile(pattern), lines)


PACK = Pack(
    "test",
    RULED,
    cues=(
        Cue("trust", "NEEDS_CONFIRMATION", (seen("bottom", r"Do you trust this folder\?"),), detail="trust"),
        Cue("choice", "NEEDS_CONFIRMATION", (seen("bottom", r"^\s*❯ 1\. \S"),)),
        Cue("spinner", "BUSY", (seen("above", r"^\S (?P<what>\w+)… \("),), summary="is {what}", confidence=0.95),
        Cue("limit", "ERROR", (seen("said", r"^  ⎿ +usage limit"),), detail="rate_limit", actions=("wait",)),
        Cue("broken", "ERROR", (seen("whole", "it broke"),)),
    ),
    version="1.2",
    chrome=re.compile(r"^✻ Done"),
)
LINE = "─" * 20


def box(*typed: str, above: str = "", below: str = "  ? for help") -> str:
    return "\n".join([above, LINE, *(typed or ("❯\u00a0",)), LINE, below, ""])


def read(text: str, pack: Pack = PACK) -> ScreenReading:
    return read_screen(pack, Screen(text))


# --- what is going on ----------------------------------------------------------------------------


def test_an_empty_composer_is_ready_but_only_a_guess():
    reading = read(box())
    assert (reading.state, reading.detail, reading.cue, reading.composer) == ("READY", None, "composer", "")
    assert (reading.says["pack"], reading.confidence) == ("test@1.2", 0.6)


def test_a_draft_is_read():
    assert read(box("❯\u00a0half a thou")).composer == "half a thou"


@pytest.mark.lesson(18, "dialogs come before prompts, and only the live part of the screen counts")
@pytest.mark.parametrize("typed", [("1. Do this", "  2. Do that"), ("It asks:", "  ❯ 1. Yes", "    2. No")])
def test_a_list_that_is_typed_is_no_dialog(typed):
    reading = read(box(f"❯\u00a0{typed[0]}", *typed[1:]), Pack("test", RULED))
    assert (reading.state, reading.dialog) == ("READY", None)
    assert reading.composer == "\n".join(typed)


def test_busy_is_seen_although_the_composer_is_there():
    reading = read(box(above="✻ Working… (3s)"))
    assert (reading.state, reading.cue, reading.composer, reading.says["summary"]) == (
        "BUSY",
        "spinner",
        "",
        "is Working",
    )


@pytest.mark.lesson(18, "dialogs come before prompts, and only the live part of the screen counts")
@pytest.mark.parametrize(
    ("above", "detail", "cue"),
    [("Do you trust this folder?", "trust", "trust"), (" ❯ 1. Yes\n   2. No", None, "choice")],
)
def test_a_dialog_comes_before_the_prompt_and_the_spinner(above, detail, cue):
    reading = read(box(above=f"✻ Working… (3s)\n{above}"))
    assert (reading.state, reading.detail, reading.cue) == ("NEEDS_CONFIRMATION", detail, cue)
    assert reading.others == ("spinner",)
    assert reading.says["actions_needed"]
    assert reading.matched is not None
    assert reading.matched.name == cue


def test_an_error_has_its_detail_and_what_to_do():
    reading = read(box(above="  ⎿  usage limit reached, resets 3pm\n\n✻ Done in 3s"))
    assert (reading.state, reading.detail, reading.cue, reading.composer) == ("ERROR", "rate_limit", "limit", "")
    assert reading.says["actions_needed"] == ("wait",)
    assert read("it broke").detail is None


@pytest.mark.lesson(18, "dialogs come before prompts, and only the live part of the screen counts")
def test_an_error_that_something_was_said_after_is_over():
    assert read(box(above="  ⎿  usage limit reached\n\n● All is well again.")).state == "READY"


def test_work_that_goes_on_after_an_error_is_work():
    assert read(box(above="  ⎿  usage limit\n✻ Working… (1s)")).state == "BUSY"


@pytest.mark.parametrize("screen", ["", "\n\n\n", "Loading", f"{LINE}\n", f"{LINE}\nno prompt here\n{LINE}\n"])
def test_what_is_not_recognised_is_unknown(screen):
    reading = read(screen)
    assert (reading.state, reading.confidence, reading.cue, reading.composer) == ("UNKNOWN", 0.0, "", None)


def test_a_pack_without_anything_knows_nothing():
    assert read(box(), Pack("empty")).state == "UNKNOWN"


@given(st.text(max_size=300), st.tuples(st.integers(0, 500), st.integers(0, 500)) | st.none())
def test_any_screen_has_a_reading(text, cursor):
    reading = read_screen(PACK, screen_of(text, title=text[:9], command=text[9:12], cursor=cursor))
    assert reading.state in ("READY", "BUSY", "NEEDS_CONFIRMATION", "ERROR", "UNKNOWN")
    assert reading.state != "READY" or reading.composer is not None


def test_cues_that_agree_make_it_surer_and_others_less_sure():
    shown = (seen("whole", "x"),)
    sole, agreed, doubted = (
        read("x", Pack("p", cues=(Cue("one", "BUSY", shown), *more)))
        for more in ((), (Cue("two", "BUSY", shown),), (Cue("two", "ERROR", shown),))
    )
    assert doubted.confidence < sole.confidence == 0.9 < agreed.confidence < 1


# --- what cues can look at ------------------------------------------------------------------------


DIALOG = "an answer\n╭───\n│ Allow? y\n╰───"


def holds(condition: Condition, screen: Screen, *, unless: Condition | None = None) -> bool:
    cue = Cue("it", "BUSY", (condition,), (unless,) if unless else ())
    return read_screen(Pack("p", RULED, (cue,), frame=re.compile("^╭")), screen).state == "BUSY"


@pytest.mark.lesson(18, "dialogs come before prompts, and only the live part of the screen counts")
@pytest.mark.parametrize(
    ("region", "there", "elsewhere"),
    [
        ("composer", "typed", "above"),
        ("above", "above", "typed"),
        ("below", "help", "above"),
        ("last", "help", "above"),
        ("said", "said last", "above"),
        ("words", "^said last$", "above"),
        ("whole", "above", "nowhere"),
        ("bottom", "typed", "nowhere"),
    ],
)
def test_a_cue_looks_only_at_its_region(region, there, elsewhere):
    screen = Screen(box("❯ typed", above="above\n\nsaid last\n"))
    assert holds(seen(region, there), screen)
    assert not holds(seen(region, elsewhere), screen)


def test_a_dialog_begins_at_its_frame():
    assert holds(seen("dialog", "Allow"), Screen(DIALOG))
    assert not holds(seen("dialog", "an answer"), Screen(DIALOG))
    assert not holds(seen("dialog", "Allow"), Screen("Allow? y"))


@pytest.mark.lesson(18, "dialogs come before prompts, and only the live part of the screen counts")
def test_only_so_many_lines_are_looked_at():
    screen = Screen("one\n\ntwo\n\nthree\n\n")
    assert holds(seen("whole", "two", 2), screen)
    assert not holds(seen("whole", "one", 2), screen)


def test_what_stands_before_the_cursor():
    screen = Screen("$ sleep\n日本> half\nlater", cursor=(6, 1))
    assert holds(seen("cursor", r"^日本> $"), screen)
    assert holds(seen("cursor", "^later$"), Screen(screen.text))
    assert not holds(seen("cursor", "."), Screen(screen.text, cursor=(0, 99)))


@pytest.mark.parametrize(
    ("condition", "yes", "no"),
    [
        (HasTitle(re.compile("^⠋")), Screen("", title="⠋ work"), Screen("", title="work")),
        (HasTitle(re.compile("")), Screen("", title="work"), Screen("")),
        (RunsCommand(frozenset(["bash"])), Screen("", command="-bash"), Screen("", command="node")),
        (OnAlternateScreen(True), Screen("", alternate=True), Screen("")),
        (CursorIs("composer"), Screen(box(), cursor=(2, 2)), Screen(box(), cursor=(2, 9))),
        (CursorIs("end"), Screen("a\nb", cursor=(1, 1)), Screen("a\nb", cursor=(1, 0))),
        (CursorIs("end"), Screen("a\nb", cursor=(1, 1)), Screen("a\nb")),
        (ComposerIs("present"), Screen(box()), Screen("")),
        (ComposerIs("absent"), Screen(""), Screen(box())),
        (ComposerIs("empty"), Screen(box()), Screen(box("❯ x"))),
        (ComposerIs("filled"), Screen(box("❯ x")), Screen(box())),
    ],
)
def test_what_is_not_text_can_be_a_cue_too(condition, yes, no):
    assert holds(condition, yes)
    assert not holds(condition, no)
    assert not holds(condition, yes, unless=condition)


# --- odd screens ----------------------------------------------------------------------------------


def test_a_very_large_screen_is_read_in_its_lowest_lines():
    assert read("x" * 1_000_000 + "\n" + "it broke\n" * 100_000).state == "ERROR"
    assert read("it broke\n" + "y\n" * 1000).state == "UNKNOWN"


@pytest.mark.parametrize(
    ("styled", "style", "is_so"),
    [
        ("\x1b[31mit broke\x1b[0m", "red", True),
        ("\x1b[38;5;1mit broke\x1b[39m", "red", True),
        ("\x1b[38;2;255;0;0;7mit broke", "reverse", True),
        ("\x1b[1;2;31mit broke", "dim", True),
        ("\x1b[31mit\x1b[39m broke", "red", False),
        ("\x1b[31m\x1b[0mit broke", "red", False),
        ("\x1b[7m\x1b[27mit broke", "reverse", False),
        ("it broke", "red", False),
    ],
)
def test_how_something_looks_can_be_part_of_a_cue(styled, style, is_so):
    cue = Cue("it", "ERROR", (InRegion("whole", re.compile("it broke"), style=style),))
    pack = Pack("p", cues=(cue,))
    assert (read_screen(pack, Screen("it broke", styled=styled)).state == "ERROR") is is_so
    assert read_screen(pack, Screen("it broke")).state == "UNKNOWN"


def test_colours_are_taken_off():
    screen = screen_of("\x1b[31mit\x1b[0m \x1b]8;;http://x\x1b\\broke\x1b]8;;\x1b\\\x1b(B")
    assert (screen.text, read_screen(PACK, screen).state) == ("it broke", "ERROR")
    assert screen.styled is not None


def test_what_ends_every_line_is_cut_before_anything_is_read():
    """A scroll bar makes every line look filled, and every paragraph one with the next."""
    shown = "I am done.      █\n                █\nWhat next?      █\n─────\n> Go on │\n─────"
    pack = replace(PACK, composer=ComposerShape(re.compile("^> ?"), rule=re.compile("^─+$")), trim=re.compile("[│█]$"))
    view = look_at(pack, Screen(shown))
    assert (view.said, view.box and view.box.text) == (("What next?",), "Go on")
