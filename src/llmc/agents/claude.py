"""Claude Code: hooks and the bypass warning by a settings file of its own, beside the user's."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from glob import escape
from typing import Any

from llmc.agents import hooks
from llmc.agents.base import Agent, Launch, LaunchOrder
from llmc.agents.packs import load_pack
from llmc.agents.transcripts import Line, Transcripts, Whereabouts, moment, texts


def launch(order: LaunchOrder) -> Launch:
    settings = f"{order.settings_dir}/settings.json"
    argv = ["claude", "--settings", settings]
    if order.resume:
        argv += ["--resume", order.resume]
    if order.model:
        argv += ["--model", order.model]
    if order.role_prompt:
        argv += ["--append-system-prompt", order.role_prompt]
    if order.skip_permissions:
        argv.append("--dangerously-skip-permissions")
    elif order.allowed_tools:
        argv += ["--allowedTools", *order.allowed_tools]
    files = {settings: _settings(order), hooks.script_path(order): hooks.SCRIPT}
    return Launch(tuple(argv), {"DISABLE_AUTOUPDATER": "1"}, files)


def _settings(order: LaunchOrder) -> str:
    wired = hooks.wired(order, READERS)
    return json.dumps({"skipDangerousModePermissionPrompt": order.skip_permissions, "hooks": wired}, indent=2)


READERS: Mapping[str, hooks.Reader] = {
    **hooks.USUAL,
    "PostToolUseFailure": hooks.activity,
    "StopFailure": hooks.failure,
}


LONGEST_PROJECT = 200
"""Claude Code cuts the name of a project's directory here, and adds something that makes it unique."""


def _pattern(where: Whereabouts) -> str:
    project = re.sub("[^a-zA-Z0-9]", "-", where.worktree)
    rest = "*" if len(project) > LONGEST_PROJECT else ""
    return f"{escape(where.home)}/.claude/projects/{project[:LONGEST_PROJECT]}{rest}/*.jsonl"


def _line(data: Mapping[str, Any]) -> Line | None:
    said = data.get("message")
    if data.get("type") != "user" or not isinstance(said, dict):
        return None
    return Line(moment(data.get("timestamp")), texts(said.get("content")))


TRANSCRIPTS = Transcripts(_pattern, _line, marks=(b'"user"',))


def agent() -> Agent:
    return Agent(
        "claude",
        launch,
        load_pack("claude"),
        translate=hooks.read_hooks(READERS),
        own_commands="/!",
        shielded="/!",
        reports_events=True,
        reports_start=True,
        clear_report=("session_start", "clear"),
        resumes=True,
        exit_keys=("C-c", "C-c"),
        transcripts=TRANSCRIPTS,
    )
