"""The hooks that many CLIs share: what each of them says, as it was recorded, and what LLMC makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from llmc.agents.registry import BUILT_IN
from llmc.agents.reports import Report, prompt_report

Payload = Mapping[str, Any]
QUESTION = {"questions": [{"question": "Which approach should we use?", "header": "Approach", "options": []}]}


def told(cli: str, hook: str, payload: Payload) -> Report | None:
    return BUILT_IN[cli]().translate({"hook": hook, "payload": payload})


@pytest.mark.parametrize(
    ("cli", "payload"),
    [
        ("claude", {"prompt": "Add it", "session_id": "a"}),
        ("codex", {"prompt": "Add it", "session_id": "a"}),
        ("qwen", {"prompt": "Add it", "submitted_prompt": "Add it", "session_id": "a"}),
        ("copilot", {"prompt": "Add it", "session_id": "a"}),
        ("kimi", {"prompt": [{"type": "text", "text": "Add it"}], "is_steer": False, "session_id": "a"}),
    ],
)
def test_a_prompt_is_told_with_its_conversation(cli: str, payload: Payload) -> None:
    assert told(cli, "UserPromptSubmit", payload) == prompt_report("Add it", conversation="a")


def test_results_of_tools_that_qwen_tells_as_an_empty_prompt_are_none() -> None:
    assert told("qwen", "UserPromptSubmit", {"prompt": "", "session_id": "a"}) == Report("activity")


@pytest.mark.parametrize(
    ("cli", "hook", "payload", "words"),
    [
        ("claude", "PermissionRequest", {"tool_name": "Bash", "tool_input": {"command": "make"}}, "Bash: make"),
        (
            "qwen",
            "PermissionRequest",
            {"tool_name": "write_file", "tool_input": {"file_path": "/w/a.py", "content": "x"}},
            "write_file: /w/a.py",
        ),
        (
            "copilot",
            "Notification",
            {"notification_type": "permission_prompt", "message": "Run command: make"},
            "Run command: make",
        ),
        ("kimi", "PermissionRequest", {"tool_name": "Bash", "tool_input": {"command": "make"}}, "Bash: make"),
    ],
)
def test_a_dialog_for_a_permission(cli: str, hook: str, payload: Payload, words: str) -> None:
    assert told(cli, hook, payload) == Report("permission", words)


@pytest.mark.parametrize(
    ("cli", "hook", "tool", "tool_input"),
    [
        ("claude", "PermissionRequest", "AskUserQuestion", QUESTION),
        ("codex", "PreToolUse", "request_user_input", QUESTION),
        ("qwen", "PermissionRequest", "ask_user_question", QUESTION),
        ("copilot", "PreToolUse", "AskUserQuestion", {"message": "Which approach should we use?"}),
        ("kimi", "PreToolUse", "AskUserQuestion", QUESTION),
    ],
)
def test_a_question(cli: str, hook: str, tool: str, tool_input: Payload) -> None:
    report = told(cli, hook, {"tool_name": tool, "tool_input": tool_input})
    assert report == Report("question", f"{tool}: Which approach should we use?")


def test_the_tool_that_qwen_tells_of_once_its_question_is_answered() -> None:
    payload = {"tool_name": "ask_user_question", "tool_input": QUESTION}
    assert told("qwen", "PreToolUse", payload) == Report("activity", "ask_user_question")


@pytest.mark.parametrize("kind", ["elicitation_dialog", "shell_completed", ""])
def test_other_notices_of_copilot_say_nothing(kind: str) -> None:
    assert told("copilot", "Notification", {"notification_type": kind, "message": "Done"}) is None


def test_copilot_asks_its_hook_for_a_permission_that_nobody_may_be_asked_for() -> None:
    assert told("copilot", "PermissionRequest", {"toolName": "bash", "toolInput": {"command": "make"}}) is None


@pytest.mark.parametrize(
    ("cli", "payload", "kind"),
    [
        ("claude", {"error": "rate_limit", "last_assistant_message": "API Error: 429"}, "rate_limit"),
        ("qwen", {"error": "authentication_failed", "last_assistant_message": "[API Error: 401 Invalid]"}, "auth"),
        ("qwen", {"error": "invalid_request", "last_assistant_message": "[API Error: 400 Bad request]"}, "api"),
        ("kimi", {"error_type": "APIStatusError", "error_message": "401 Invalid credentials"}, "auth"),
        ("kimi", {"error_type": "APIProviderRateLimitError", "error_message": "429 Rate limit reached"}, "rate_limit"),
        ("kimi", {"error_type": "APIStatusError", "error_message": "400 Bad request"}, "api"),
    ],
)
def test_what_kind_of_failure_ended_a_turn(cli: str, payload: Payload, kind: str) -> None:
    report = told(cli, "StopFailure", payload)
    assert report is not None
    assert (report.kind, report.failure) == ("failure", kind)
    assert report.text


@pytest.mark.parametrize(
    ("tasks", "goes_on"), [([], False), ([{"status": "running"}], True), ([{"status": "x"}], False)]
)
def test_the_end_of_a_turn(tasks: list[dict[str, str]], goes_on: bool) -> None:
    payload = {"last_assistant_message": "Done.", "background_tasks": tasks}
    assert told("qwen", "Stop", payload) == Report("turn_end", "Done.", background=goes_on)


@pytest.mark.parametrize("cli", ["copilot", "kimi"])
def test_the_end_of_a_turn_without_its_last_words(cli: str) -> None:
    assert told(cli, "Stop", {"stop_hook_active": False}) == Report("turn_end")
