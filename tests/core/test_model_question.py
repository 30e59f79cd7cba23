"""What is asked of a model, and which of its answers are taken."""

from __future__ import annotations

import json

import pytest

from llmc.core.screen.second_opinion import question, read_answer

GOOD = {"state": "READY", "summary": "the prompt is back", "actions_needed": ["go on"]}


def answer(content: object) -> bytes:
    return json.dumps({"choices": [{"message": {"content": content}}]}).encode()


def test_a_secret_on_the_screen_does_not_leave():
    secret = "sk-or-v1-" + "a1b2c3d4" * 6
    asked = json.dumps(question("some/model", f"$ export OPENAI_API_KEY={secret}\n$ ", "bash", f"title {secret}"))
    assert secret not in asked
    assert "export" in asked


def test_only_the_end_of_a_long_screen_is_asked_about():
    asked = json.dumps(question("m", "\n".join(f"line {n} " + "x" * 1000 for n in range(500)) + "\n\n", "bash", ""))
    assert "line 499" in asked
    assert "line 100 " not in asked
    assert len(asked) < 40_000


@pytest.mark.parametrize(
    "content", [json.dumps(GOOD), f"```json\n{json.dumps(GOOD)}\n```", f"Sure:\n{json.dumps(GOOD)}"]
)
def test_a_proper_answer_is_an_opinion(content):
    opinion = read_answer(answer(content))
    assert opinion is not None
    assert (opinion["state"], opinion["summary"], opinion["actions_needed"]) == (
        "READY",
        "the prompt is back",
        ("go on",),
    )
    assert opinion["source"] == "model"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xff\xfe",
        b"<html>",
        b"[]",
        b'{"choices": []}',
        b"[" * 100_000,
        answer(None),
        answer("no JSON"),
        answer(json.dumps({**GOOD, "state": "DONE"})),
        answer(json.dumps({**GOOD, "state": ["READY"]})),
        answer(json.dumps({**GOOD, "summary": 7})),
        answer(json.dumps({**GOOD, "actions_needed": "all"})),
        answer(json.dumps({"state": "READY"})),
    ],
)
def test_anything_else_is_none(body):
    assert read_answer(body) is None


def test_what_a_model_says_is_harmless_to_show():
    opinion = read_answer(
        answer(json.dumps({**GOOD, "summary": "\x1b[31mred\n" * 100, "actions_needed": ["\x07"] * 99}))
    )
    assert opinion is not None
    assert opinion["summary"].isprintable()
    assert len(opinion["summary"]) <= 200
    assert len(opinion["actions_needed"]) <= 5
