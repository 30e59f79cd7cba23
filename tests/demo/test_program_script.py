"""How the demo agent reads a prompt."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmc.demo.script import note_idea, parse, with_trailers
from llmc.demo.steps import ScriptStep

PREAMBLE = "You are working in a worktree.\nFollow the conventions:\n- run the checks\n\n"


@pytest.mark.parametrize(
    ("line", "step"),
    [
        ("demo:write a/b.txt two\\nlines", ScriptStep("write", "a/b.txt", "two\nlines\n")),
        ("demo:write a.txt   indented", ScriptStep("write", "a.txt", "  indented\n")),
        ('demo:write "my file.txt" x', ScriptStep("write", "my file.txt", "x\n")),
        ("demo:write empty.txt", ScriptStep("write", "empty.txt", "")),
        ("demo:append a.txt back\\\\slash \\t tab", ScriptStep("append", "a.txt", "back\\slash \t tab\n")),
        ("demo:replace a.txt old words => new", ScriptStep("replace", "a.txt", "old words", "new")),
        ("demo:replace a.txt old =>", ScriptStep("replace", "a.txt", "old", "")),
        ("demo:delete a.txt", ScriptStep("delete", "a.txt")),
        ("demo:commit Add it\\n\\nAt last", ScriptStep("commit", text="Add it\n\nAt last")),
        ("demo:amend", ScriptStep("amend")),
        ("demo:sleep 0.5", ScriptStep("sleep", number=0.5)),
        ("demo:say hello there", ScriptStep("say", text="hello there")),
        ("demo:ask Which one?", ScriptStep("ask", text="Which one?")),
        ("demo:permit rm -rf a\\nb", ScriptStep("permit", text="rm -rf a\\nb")),
        ("demo:fail rate_limit try later", ScriptStep("fail", kind="rate_limit", text="try later")),
        ("demo:crash", ScriptStep("crash", number=1)),
        ("demo:crash 42", ScriptStep("crash", number=42)),
        ("demo:signal 9", ScriptStep("signal", number=9)),
        ("  - demo:hang", ScriptStep("hang")),
        ("\t* demo:resolve  ", ScriptStep("resolve")),
        ("demo:abort-rebase", ScriptStep("abort-rebase")),
        ("demo:nothing", ScriptStep("nothing")),
    ],
)
def test_a_line_becomes_a_step(line: str, step: ScriptStep) -> None:
    assert parse(f"{PREAMBLE}{line}\n\nNotes behind it.").steps == (step,)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("demo:dance", "no such verb"),
        ("demo:write", "a path"),
        ("demo:replace a.txt old new", "OLD => NEW"),
        ("demo:commit", "some text"),
        ("demo:permit", "a command"),
        ("demo:sleep soon", "a number of seconds"),
        ("demo:sleep -1", "a number of seconds"),
        ("demo:fail oops x", "rate_limit, api, network, auth"),
        ("demo:crash 256", "from 0 to 255"),
        ("demo:signal", "a signal number"),
    ],
)
def test_a_line_that_makes_no_sense_says_why(line: str, why: str) -> None:
    (step,) = parse(line).steps
    assert step.verb == "misunderstood"
    assert line in step.text
    assert why in step.text


@pytest.mark.parametrize("text", ["", "please demo:write a b", "> demo:hang", "demo: hang", "+demo:hang", "Demo:hang"])
def test_other_lines_are_no_script(text: str) -> None:
    assert parse(text).steps == ()


def test_steps_keep_their_order_and_any_line_ending_will_do() -> None:
    script = parse("demo:say one\r\ndemo:say two\rdemo:say three\n")
    assert [step.text for step in script.steps] == ["one", "two", "three"]


def test_plain_messages_hold_for_the_whole_prompt() -> None:
    script = parse("demo:commit one\ndemo:plain-messages\ndemo:amend two")
    assert [(step.text, step.trailers) for step in script.steps] == [("one", False), ("two", False)]
    assert not script.trailers
    assert parse("demo:commit one").trailers


@given(st.text())
def test_any_prompt_can_be_read(prompt: str) -> None:
    assert isinstance(parse(prompt).steps, tuple)
    assert note_idea(prompt).path.startswith("notes/")
    assert "\n" not in note_idea(prompt).line


@pytest.mark.parametrize(
    ("prompt", "path", "line"),
    [
        ("Fix the parser, please\nIt is slow.", "notes/fix-the-parser-please.md", "Fix the parser, please"),
        (f"{PREAMBLE}Task: Sort the list", "notes/sort-the-list.md", "Sort the list"),
        (f"{PREAMBLE}## Your task\n\nSort the list\nquickly", "notes/sort-the-list.md", "Sort the list"),
        ("# Sort it", "notes/sort-it.md", "Sort it"),
        ("Sort/../it", "notes/sort-it.md", "Sort/../it"),
        ("整理 列表", "notes/整理-列表.md", "整理 列表"),
        ("!!!", "notes/note.md", ""),
    ],
)
def test_a_prompt_without_a_script_gives_an_idea_for_a_note(prompt: str, path: str, line: str) -> None:
    idea = note_idea(prompt)
    assert (idea.path, idea.line) == (path, line)
    assert idea.message.startswith("Add a note on ")


def test_trailers_stand_below_the_message() -> None:
    assert with_trailers("Add it\n").splitlines() == [
        "Add it",
        "",
        "🤖 Generated with LLMC demo agent",
        "",
        "Co-Authored-By: Demo Agent <demo@localhost>",
    ]
