"""Anything may stand in a report: what makes no sense says nothing, and what is too long or no name is left out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmc.agents.registry import BUILT_IN
from llmc.agents.reports import LONGEST_NAME, LONGEST_TEXT, Report, understood

KEYS = [
    "event",
    "hook",
    "payload",
    "session",
    "text",
    "message",
    "reason",
    "kind",
    "command",
    "tool",
    "sha256",
    "conversation",
    "background",
    "prompt",
    "tool_name",
    "tool_input",
    "questions",
    "question",
    "session_id",
    "source",
    "last_assistant_message",
    "background_tasks",
    "status",
    "error",
    "error_message",
    "llm_request",
    "details",
    "type",
    "properties",
    "info",
    "role",
    "parts",
    "content",
    "notification_type",
    "transcript_path",
    "hook_event_name",
]
WORDS = [
    "prompt",
    "activity",
    "turn_end",
    "interrupted",
    "permission",
    "question",
    "failure",
    "session_start",
    "session_end",
    "UserPromptSubmit",
    "Stop",
    "PreToolUse",
    "PostToolUse",
    "PermissionRequest",
    "SessionStart",
    "SessionEnd",
    "StopFailure",
    "Notification",
    "AfterAgent",
    "BeforeAgent",
    "AskUserQuestion",
    "running",
    "429",
    "user",
]
VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=9), st.sampled_from(WORDS), st.just("\ud800")
)
JSON = st.recursive(
    VALUES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6),
    max_leaves=12,
)


@pytest.mark.parametrize("name", sorted(BUILT_IN))
@given(data=st.dictionaries(st.sampled_from(KEYS), JSON, max_size=8))
def test_no_agent_stumbles_over_a_report(name: str, data: dict[str, Any]) -> None:
    report = understood(BUILT_IN[name]().translate, data)
    if report is not None:
        json.dumps((report.text, report.failure, report.conversation), ensure_ascii=False).encode()


def test_what_is_too_long_is_cut() -> None:
    report = understood(lambda _: Report("failure", "x" * (4 << 20), failure="y" * 4000), {})
    assert report is not None
    assert (len(report.text), len(report.failure)) == (LONGEST_TEXT, LONGEST_NAME)


@pytest.mark.parametrize("name", ["--dangerously-skip-permissions", "a\0b", "a b", "x" * 500, "../\n", "-"])
def test_a_conversation_that_could_be_something_else_on_a_command_line_has_no_name(name: str) -> None:
    report = understood(lambda _: Report("prompt", "x", "a" * 64, conversation=name), {})
    assert report is not None
    assert (report.conversation, report.sha256) == ("", "a" * 64)


@pytest.mark.parametrize("name", ["0b1c-22", "ses_7Fa", "session-2026-11-16T19:23.jsonl"])
def test_the_names_that_agents_give_are_kept(name: str) -> None:
    report = understood(lambda _: Report("prompt", "x", "no digest", conversation=name), {})
    assert report is not None
    assert (report.conversation, report.sha256) == (name, "")
