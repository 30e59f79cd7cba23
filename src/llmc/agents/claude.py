"""Claude Code: hooks and the bypass warning by a settings file of its own, beside the user's."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from glob import escape

from llmc.agents import hooks
from llmc.agents.base import Agent, Launch, LaunchOrder
from llmc.agents.command_line import CommandOption, launch_of, option
from llmc.agents.delegation_tools import SERVER, bridge_command, bridge_files
from llmc.agents.packs import load_pack
from llmc.agents.transcripts import Transcripts, Whereabouts, prompts


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
    return {_tools_path(order): json.dumps({"mcpServers": servers}, indent=2), **bridge_files(order)}


def _settings_path(order: LaunchOrder) -> str:
    return f"{order.settings_dir}/settings.json"


def _settings(order: LaunchOrder) -> str:
    wired = hooks.wired(order, READERS)
    return json.dumps({"skipDangerousModePermissionPrompt": bool(order.skip_permissions), "hooks": wired}, indent=2)


READERS = hooks.WITH_FAILURES


LONGEST_PROJECT = 200
"""Claude Code cuts the name of a project's directory here, and adds something that makes it unique."""


def _pattern(where: Whereabouts) -> str:
    project = re.sub("[^a-zA-Z0-9]", "-", where.worktree)
    rest = "*" if len(project) > LONGEST_PROJECT else ""
    return f"{escape(where.home)}/.claude/projects/{project[:LONGEST_PROJECT]}{rest}/*.jsonl"


TRANSCRIPTS = Transcripts(_pattern, prompts("user", "message", "content"), marks=(b'"user"',))


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
        takes_tools=True,
    )
