"""Hooks that drop what the CLI tells them into the spool, and reading that back.

The hook is a few words of shell: no Python starts on the agent's path, and it works while no daemon
runs. Each file appears whole, under its final name, or not at all.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from typing import Any

from llmc.agents.base import LaunchOrder
from llmc.agents.reports import Report, prompt_report

SCRIPT = """\
#!/bin/sh
# Drops one report of an agent into LLMC's spool: the hook's name, the session, and what the CLI says on standard input.
[ -d "$LLMC_SPOOL" ] || exit 0
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
    return prompt_report(str(payload.get("prompt", "")), conversation=str(payload.get("session_id") or ""))


def activity(payload: Mapping[str, Any]) -> Report:
    return Report("activity", str(payload.get("tool_name", "")))


def tool_words(payload: Mapping[str, Any]) -> str:
    """What a tool is about to do, in a line."""
    tool, arguments = str(payload.get("tool_name", "")), payload.get("tool_input")
    if isinstance(arguments, dict):
        said = arguments.get("command") or arguments.get("cmd") or arguments.get("file_path") or arguments.get("plan")
        questions = arguments.get("questions")
        if isinstance(questions, list) and questions and isinstance(questions[0], dict):
            said = questions[0].get("question")
        return f"{tool}: {said}" if said else tool
    return tool
