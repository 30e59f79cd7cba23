"""Claude Code: hooks and the bypass warning by a settings file of its own, beside the user's."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from glob import escape
from typing import Any

from llmc.agents import hooks
from llmc.agents.base import Agent, Launch, LaunchOrder
from llmc.agents.command_line import CommandOption, launch_of, option
from llmc.agents.delegation_tools import SERVER, bridge_command
from llmc.agents.packs import load_pack
from llmc.agents.transcripts import Transcripts, Whereabouts, moment, part_of, prompts
from llmc.agents.usage_files import Remembered, UsageFiles
from llmc.core.usage.answer import ModelAnswer, Tokens, count


def launch(order: LaunchOrder) -> Launch:
    files = {_settings_path(order): _settings(order), hooks.script_path(order): hooks.SCRIPT, **_tools(order)}
    return launch_of(order.program, ("claude",), _options(order), env=_environment(order), files=files)


def _options(order: LaunchOrder) -> Iterator[CommandOption]:
    yield option("--settings", _settings_path(order), lost="its reports")
    yield option("--mcp-config", _tools_path(order), lost="the tools by which it delegates")
    yield option("--resume", order.resume, lost="the conversation from before")
    yield option("--model", order.model, lost="the model that the settings name")
    yield option("--append-system-prompt", order.role_prompt, lost="its role prompt")
    if order.skip_permissions:
        yield option("--dangerously-skip-permissions", lost="it asks before it acts")
    if order.skip_permissions is False:
        yield option("--permission-mode", _asking_mode(order), lost="it may act without asking, if its settings say so")
        if order.allowed_tools:
            yield option("--allowedTools", *order.allowed_tools, lost="it asks before it uses any tool")


def _asking_mode(order: LaunchOrder) -> str:
    """In newer versions a session begins in the mode `auto`, which asks nobody, and what was `default` is `manual`."""
    return "manual" if order.program.offers("--permission-mode", "manual") else "default"


def _environment(order: LaunchOrder) -> dict[str, str]:
    """Where it acts unasked anyway, it takes the worktree for trusted: nothing is written into the person's settings.

    That variable means "something else keeps it in bounds", so one that is to ask does not get it.
    """
    trust = {"CLAUDE_CODE_SANDBOXED": "1"} if order.skip_permissions else {}
    return {"DISABLE_AUTOUPDATER": "1", **trust}


def _tools_path(order: LaunchOrder) -> str:
    return f"{order.settings_dir}/mcp.json" if order.delegates else ""


def _tools(order: LaunchOrder) -> dict[str, str]:
    if not order.delegates:
        return {}
    program, *args = bridge_command(order)
    servers = {SERVER: {"command": program, "args": args}}
    return {_tools_path(order): json.dumps({"mcpServers": servers}, indent=2)}


def _settings_path(order: LaunchOrder) -> str:
    return f"{order.settings_dir}/settings.json"


def _settings(order: LaunchOrder) -> str:
    wired = hooks.wired(order, READERS)
    return json.dumps({"skipDangerousModePermissionPrompt": bool(order.skip_permissions), "hooks": wired}, indent=2)


READERS = hooks.WITH_FAILURES


LONGEST_PROJECT = 200
"""Claude Code cuts the name of a project's directory here, and adds something that makes it unique."""


def _project(where: Whereabouts) -> str:
    project = re.sub("[^a-zA-Z0-9]", "-", where.worktree)
    rest = "*" if len(project) > LONGEST_PROJECT else ""
    directory = where.kept_in("CLAUDE_CONFIG_DIR", ".claude")
    return f"{escape(directory)}/projects/{project[:LONGEST_PROJECT]}{rest}"


TRANSCRIPTS = Transcripts(
    lambda where: f"{_project(where)}/*.jsonl", prompts("user", "message", "content"), marks=(b'"user"',)
)


def _answers(_remembered: Remembered, data: Mapping[str, Any]) -> Iterator[ModelAnswer]:
    """Each block of an answer has a line of its own, with the id and the cost of the whole."""
    if data.get("type") == "progress":  # what a sub-agent says, as older versions have it
        data = part_of(data, ("data", "message")) or {}
    message, at = data.get("message"), moment(data.get("timestamp"))
    usage = message.get("usage") if isinstance(message, dict) else None
    if data.get("type") != "assistant" or not isinstance(usage, dict) or not isinstance(message, dict):
        return
    for_an_hour = count(part_of(usage, ("cache_creation", "ephemeral_1h_input_tokens")))
    tokens = Tokens(
        count(usage.get("input_tokens")),
        count(usage.get("output_tokens")),
        count(usage.get("cache_read_input_tokens")),
        count(usage.get("cache_creation_input_tokens")),
        for_an_hour,
    )
    # What is said faster costs several times as much.
    model = f"{message.get('model')}" + (" (fast)" if usage.get("speed") == "fast" else "")
    yield ModelAnswer(f"claude:{message.get('id') or data.get('uuid')}", model, at, tokens)


USAGE = UsageFiles(lambda where: (f"{_project(where)}/**/*.jsonl",), _answers, marks=(b'"usage"',))


def agent() -> Agent:
    return Agent(
        "claude",
        launch,
        load_pack("claude"),
        install="npm install -g @anthropic-ai/claude-code",
        translate=hooks.read_hooks(READERS),
        own_commands="/!",
        shielded="/!",
        reports_events=True,
        reports_start=True,
        clear_report=("session_start", "clear"),
        resumes=True,
        exit_keys=("C-c", "C-c"),
        transcripts=TRANSCRIPTS,
        usage=USAGE,
        takes_tools=True,
    )
