"""Gemini CLI: hooks by a system settings file of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from llmc.agents import hooks
from llmc.agents.base import Agent, Launch, LaunchOrder
from llmc.agents.packs import load_pack
from llmc.agents.reports import Report


def launch(order: LaunchOrder) -> Launch:
    settings = f"{order.settings_dir}/gemini.json"
    # A worktree asks for trust again; the person trusted the repository when it was given to LLMC.
    argv = ["gemini", "--skip-trust"]
    if order.model:
        argv += ["-m", order.model]
    if order.skip_permissions:
        argv.append("--yolo")
    files = {settings: _settings(order), hooks.script_path(order): hooks.SCRIPT}
    if order.role_prompt:
        files[f"{order.settings_dir}/GEMINI.md"] = order.role_prompt
        argv += ["--include-directories", order.settings_dir]
    return Launch(tuple(argv), {"GEMINI_CLI_SYSTEM_SETTINGS_PATH": settings}, files)


def _settings(order: LaunchOrder) -> str:
    wired = {
        name: [{"hooks": [{"type": "command", "name": f"llmc-{name}", "command": hooks.hook_command(order, name)}]}]
        for name in READERS
    }
    general = {"enableAutoUpdate": False, "enableAutoUpdateNotification": False}
    context = {"loadMemoryFromIncludeDirectories": True}
    return json.dumps(
        {"general": general, "context": context, "hooksConfig": {"notifications": False}, "hooks": wired}, indent=2
    )


def _notification(payload: Mapping[str, Any]) -> Report | None:
    if payload.get("notification_type") != "ToolPermission":
        return None
    details = payload.get("details")
    known = details if isinstance(details, dict) else {}
    asks = known.get("type") == "ask_user"
    said = known.get("command") or known.get("title") or payload.get("message", "")
    return Report("question" if asks else "permission", str(said))


READERS: dict[str, hooks.Reader] = {
    "SessionStart": hooks.session_start,
    "BeforeAgent": hooks.prompt,
    "BeforeTool": hooks.activity,
    "AfterTool": hooks.activity,
    "Notification": _notification,
    "AfterAgent": lambda payload: Report("turn_end", str(payload.get("prompt_response", ""))),
    "SessionEnd": hooks.session_end,
}


def agent() -> Agent:
    return Agent(
        "gemini",
        launch,
        load_pack("gemini"),
        translate=hooks.read_hooks(READERS),
        reports_events=True,
        reports_start=True,
        reports_clear=True,
        exit_keys=("C-c", "C-c"),
    )
