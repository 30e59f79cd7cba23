"""GitHub Copilot CLI: hooks by a plugin of ours, named by a flag; nothing is written into the user's own settings."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from glob import escape
from typing import Any

from llmc.agents import hooks
from llmc.agents.base import Agent, Launch, LaunchOrder
from llmc.agents.command_line import CommandOption, launch_of, option
from llmc.agents.packs import load_pack
from llmc.agents.reports import Report
from llmc.agents.transcripts import Transcripts, Whereabouts, moment, part_of, prompts
from llmc.agents.usage_files import Remembered, UsageFiles
from llmc.core.usage.answer import ModelAnswer, Tokens, count, without_cached


def launch(order: LaunchOrder) -> Launch:
    plugin = _plugin_dir(order)
    env = {}
    if order.skip_permissions is not None:
        # Of all that allows the same, only "true" trusts the directory, too; "false" in case the person has it set.
        env["COPILOT_ALLOW_ALL"] = "true" if order.skip_permissions else "false"
    files = {
        f"{plugin}/plugin.json": json.dumps({"name": "llmc", "version": "1.0.0", "hooks": "hooks.json"}, indent=2),
        f"{plugin}/hooks.json": json.dumps({"version": 1, "hooks": _wired(order)}, indent=2),
        hooks.script_path(order): hooks.SCRIPT,
    }
    if order.role_prompt:
        role = f"{order.settings_dir}/role"
        files[f"{role}/AGENTS.md"] = order.role_prompt
        env["COPILOT_CUSTOM_INSTRUCTIONS_DIRS"] = role
    return launch_of(order.program, ("copilot",), _options(order), env=env, files=files)


def _options(order: LaunchOrder) -> Iterator[CommandOption]:
    yield option("--no-auto-update", lost="it may replace itself while it runs")
    yield option("--plugin-dir", _plugin_dir(order), lost="its reports")
    if order.skip_permissions:
        yield option("--allow-all", lost="it asks before it acts")
    if order.resume:
        yield option(f"--resume={order.resume}", lost="the conversation from before")
    yield option("--model", order.model, lost="the model that the settings name")


def _plugin_dir(order: LaunchOrder) -> str:
    return f"{order.settings_dir}/plugin"


def _wired(order: LaunchOrder) -> dict[str, Any]:
    """Named as Claude Code does, the hooks are told the same, too, with few exceptions."""
    return {
        name: [{"type": "command", "bash": hooks.hook_command(order, name), "timeoutSec": hooks.TIMEOUT_SECS}]
        for name in READERS
    }


def _notification(payload: Mapping[str, Any]) -> Report | None:
    """A dialog is on the screen. The hook PermissionRequest comes before what is allowed is looked up."""
    asks = payload.get("notification_type") == "permission_prompt"
    return Report("permission", str(payload.get("message", ""))) if asks else None


READERS: Mapping[str, hooks.Reader] = {
    **{name: reader for name, reader in hooks.USUAL.items() if name != "PermissionRequest"},
    "PreToolUse": hooks.tool_start,
    "Notification": _notification,
}


def _events(where: Whereabouts) -> str:
    return f"{escape(where.kept_in('COPILOT_HOME', '.copilot'))}/session-state/*/events.jsonl"


def _is_of(first: Mapping[str, Any], where: Whereabouts) -> bool:
    return bool(part_of(first, ("data", "context", "cwd")) == where.worktree)


TRANSCRIPTS = Transcripts(_events, prompts("user.message", "data", "content"), marks=(b"user.message",), is_of=_is_of)


def _answers(_remembered: Remembered, data: Mapping[str, Any]) -> Iterator[ModelAnswer]:
    told = part_of(data, ("data", "usage"))
    if data.get("type") != "session.usage_record" or not isinstance(told, dict):
        return
    cached, written = count(told.get("cacheReadTokens")), count(told.get("cacheWriteTokens"))
    read, said = without_cached(told.get("inputTokens"), cached, written), count(told.get("outputTokens"))
    name, model = f"copilot:{told.get('apiCallId') or data.get('id')}", str(told.get("model") or "")
    yield ModelAnswer(name, model, moment(data.get("timestamp")), Tokens(read, said, cached, written))


USAGE = UsageFiles(lambda where: (_events(where),), _answers, marks=(b"session.usage_record",), is_of=_is_of)


def agent() -> Agent:
    return Agent(
        "copilot",
        launch,
        load_pack("copilot"),
        install="npm install -g @github/copilot",
        translate=hooks.read_hooks(READERS),
        own_commands="/!",
        shielded="/",
        reports_events=True,
        clear_report=("session_end", "user_exit"),
        resumes=True,
        steady_secs=3.0,
        interrupt_keys=("Escape", "Escape"),
        exit_keys=("C-c", "C-c"),
        transcripts=TRANSCRIPTS,
        usage=USAGE,
    )
