"""Hooks that drop what the CLI tells them into the spool, and reading that back.

The hook is a few words of shell: no Python starts on the agent's path, and it works while no daemon
runs. Each file appears whole, under its final name, or not at all.

Many CLIs have taken over the hooks of Claude Code, with small differences: `USUAL` is what they share.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from llmc.agents.base import LaunchOrder
from llmc.agents.reports import Report, prompt_report
from llmc.agents.transcripts import texts

SCRIPT = """\
#!/bin/sh
# Drops one report of an agent into LLMC's spool: the hook's name, the session, and what the CLI says on standard input.
[ -d "$LLMC_SPOOL" ] && [ ! -L "$LLMC_SPOOL" ] || exit 0
new=$(mktemp "$LLMC_SPOOL/.XXXXXXXXXX") || exit 0
{ printf '{"hook":"%s","session":"%s","payload":' "$1" "$LLMC_SESSION"; cat; printf '}'; } > "$new" || exit 0
mv "$new" "$LLMC_SPOOL/$(date +%s%N)-$$.json"
exit 0
"""
TIMEOUT_SECS = 10

Reader = Callable[[Mapping[str, Any]], Report | None]
"""From the payload of one hook to a report."""


def script_path(order: LaunchOrder) -> str:
    return f"{order.settings_dir}/report.sh"


def hook_command(order: LaunchOrder, hook: str) -> str:
    return f"sh {shlex.quote(script_path(order))} {hook}"


def wired(order: LaunchOrder, names: Iterable[str]) -> dict[str, list[dict[str, Any]]]:
    """What a settings file says under `hooks`."""
    commands = {
        name: {"type": "command", "command": hook_command(order, name), "timeout": TIMEOUT_SECS} for name in names
    }
    return {name: [{"hooks": [command]}] for name, command in commands.items()}


def read_hooks(readers: Mapping[str, Reader]) -> Callable[[Mapping[str, object]], Report | None]:
    """A translator of spooled hook payloads."""

    def translate(data: Mapping[str, object]) -> Report | None:
        payload = data.get("payload")
        reader = readers.get(str(data.get("hook", "")))
        return reader(payload) if reader is not None and isinstance(payload, dict) else None

    return translate


def session_start(payload: Mapping[str, Any]) -> Report:
    return Report("session_start", str(payload.get("source", "")))


def session_end(payload: Mapping[str, Any]) -> Report:
    return Report("session_end", str(payload.get("reason", "")))


def prompt(payload: Mapping[str, Any]) -> Report:
    """Kimi Code tells its parts. Qwen Code tells of an empty one whenever the results of tools go to the model."""
    text = texts(payload.get("prompt"))
    if not text:
        return Report("activity")
    return prompt_report(text, conversation=str(payload.get("session_id") or ""))


def activity(payload: Mapping[str, Any]) -> Report:
    return Report("activity", str(payload.get("tool_name", "")))


QUESTION_TOOLS = frozenset(("AskUserQuestion", "ask_user_question", "request_user_input"))


def tool_start(payload: Mapping[str, Any]) -> Report:
    """Of a CLI that tells of a question by nothing but the tool that asks it."""
    asks = payload.get("tool_name") in QUESTION_TOOLS
    return Report("question", tool_words(payload)) if asks else activity(payload)


def permission(payload: Mapping[str, Any]) -> Report:
    asks = payload.get("tool_name") in QUESTION_TOOLS
    return Report("question" if asks else "permission", tool_words(payload))


SAID_OF_TOOL = ("command", "cmd", "file_path", "path", "plan", "message")


def tool_words(payload: Mapping[str, Any]) -> str:
    """What a tool is about to do, in a line."""
    tool, arguments = str(payload.get("tool_name", "")), payload.get("tool_input")
    if isinstance(arguments, dict):
        said = next((arguments[key] for key in SAID_OF_TOOL if arguments.get(key)), "")
        questions = arguments.get("questions")
        if isinstance(questions, list) and questions and isinstance(questions[0], dict):
            said = questions[0].get("question")
        return f"{tool}: {said}" if said else tool
    return tool


def turn_end(payload: Mapping[str, Any]) -> Report:
    return Report("turn_end", str(payload.get("last_assistant_message") or ""), background=_goes_on(payload))


def _goes_on(payload: Mapping[str, Any]) -> bool:
    tasks = payload.get("background_tasks")
    return isinstance(tasks, list) and any(not isinstance(t, dict) or t.get("status") == "running" for t in tasks)


def interrupted(_payload: Mapping[str, Any]) -> Report:
    return Report("interrupted")


FAILURES = {
    "rate_limit": "rate_limit",
    "authentication_failed": "auth",
    "billing_error": "rate_limit",
    "server_error": "api",
    "overloaded": "api",
}
STATUSES = {"401": "auth", "403": "auth", "429": "rate_limit"}


def failure(payload: Mapping[str, Any]) -> Report:
    """By the kind that the CLI tells, or by the HTTP status that its message begins with."""
    message = str(payload.get("last_assistant_message") or payload.get("error_message") or payload.get("error", ""))
    status = re.match(r"\d{3}\b", message)
    by_status = STATUSES.get(status[0], "api") if status else "api"
    return Report("failure", message, failure=FAILURES.get(str(payload.get("error", "")), by_status))


USUAL: Mapping[str, Reader] = {
    "SessionStart": session_start,
    "UserPromptSubmit": prompt,
    "PreToolUse": activity,
    "PostToolUse": activity,
    "PermissionRequest": permission,
    "Stop": turn_end,
    "SessionEnd": session_end,
}
WITH_FAILURES: Mapping[str, Reader] = {**USUAL, "PostToolUseFailure": activity, "StopFailure": failure}
