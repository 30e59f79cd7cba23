"""Gemini CLI: hooks by the settings in a home of its own, where everything else leads to the person's."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from glob import escape
from pathlib import Path
from typing import Any

from llmc.agents import hooks
from llmc.agents.base import Agent, Launch, LaunchOrder
from llmc.agents.command_line import CommandOption, launch_of, option
from llmc.agents.delegation_tools import SERVER, bridge_command
from llmc.agents.json_file import object_in
from llmc.agents.own_home import links_to
from llmc.agents.packs import load_pack
from llmc.agents.reports import Report
from llmc.agents.transcripts import Transcripts, Whereabouts, moment, part_of, prompts
from llmc.agents.usage_files import Remembered, UsageFiles
from llmc.core.usage.answer import ModelAnswer, Tokens, count, without_cached

ROLE_FILE = "LLMC-ROLE.md"
"""Read from the home as GEMINI.md is; for a directory of its own it would ask whether that is trusted."""
TOOL_MILLISECONDS = 3_700_000
"""It gives up a tool after ten minutes otherwise."""


def launch(order: LaunchOrder) -> Launch:
    home = f"{order.settings_dir}/home"
    files = {f"{home}/.gemini/settings.json": _settings(order), hooks.script_path(order): hooks.SCRIPT}
    if order.role_prompt:
        files[f"{home}/.gemini/{ROLE_FILE}"] = order.role_prompt
    # With true colour its input box has edges; without, nothing on the screen tells where it begins.
    env = {"GEMINI_CLI_HOME": home, "COLORTERM": "truecolor", "GEMINI_CLI_TRUST_WORKSPACE": "true"}
    # Login, history, trust. Settings files elsewhere are read only if they belong to root: hence a home of its own.
    links = links_to(Path(order.home, ".gemini"), f"{home}/.gemini", own=("settings.json", ROLE_FILE))
    return launch_of(order.program, ("gemini",), _options(order), env=env, files=files, links=links)


def _options(order: LaunchOrder) -> Iterator[CommandOption]:
    # A worktree asks for trust again; the person trusted the repository when it was given to LLMC.
    yield option("--skip-trust", lost="nothing where the environment does the same, else it asks for trust")
    yield option("-m", order.model, lost="the model that the settings name")
    if order.skip_permissions:
        yield option("--yolo", lost="it asks before it acts")
    elif order.skip_permissions is False:
        yield option("--approval-mode", "default", lost="it may act without asking, if its settings say so")
    yield option("--resume", order.resume, lost="the conversation from before")


def _settings(order: LaunchOrder) -> str:
    """The person's own settings with ours added."""
    settings = object_in(Path(order.home, ".gemini", "settings.json"))
    wired = settings.setdefault("hooks", {})
    for name in READERS:
        hook = {"type": "command", "name": f"llmc-{name}", "command": hooks.hook_command(order, name)}
        wired[name] = [*wired.get(name, []), {"hooks": [hook]}]
    settings.setdefault("general", {}).update({"enableAutoUpdate": False, "enableAutoUpdateNotification": False})
    if order.role_prompt:
        context = settings.setdefault("context", {})
        context["fileName"] = [*_file_names(context.get("fileName")), ROLE_FILE]
    settings.setdefault("hooksConfig", {})["notifications"] = False
    if order.delegates:
        program, *args = bridge_command(order)
        wired = {"command": program, "args": args, "timeout": TOOL_MILLISECONDS, "trust": bool(order.skip_permissions)}
        settings.setdefault("mcpServers", {})[SERVER] = wired
    return json.dumps(settings, indent=2)


def _file_names(known: object) -> list[str]:
    """What the person has its memory files called; the first is the one that it writes to."""
    names = [known] if isinstance(known, str) else known if isinstance(known, list) else []
    return [str(name) for name in names] or ["GEMINI.md"]


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
    "AfterAgent": lambda payload: Report("turn_end", str(payload.get("prompt_response") or "")),
    "SessionEnd": hooks.session_end,
}


def project_hash(directory: str) -> str:
    """What Gemini CLI calls a directory."""
    return hashlib.sha256(directory.encode()).hexdigest()


def _chats(where: Whereabouts) -> str:
    return f"{escape(where.settings_dir)}/home/.gemini/tmp/*/chats"


def _is_of(first: Mapping[str, Any], where: Whereabouts) -> bool:
    return first.get("projectHash") == project_hash(where.worktree)


TRANSCRIPTS = Transcripts(
    lambda where: f"{_chats(where)}/session-*.jsonl", prompts("user", "content"), marks=(b'"user"',), is_of=_is_of
)


def _answers(_remembered: Remembered, data: Mapping[str, Any]) -> Iterator[ModelAnswer]:
    """A message is told again when its tools have run, and all of them when a conversation is taken up or rewound."""
    several = part_of(data, ("$set", "messages"))
    for message in several if isinstance(several, list) else (data,):
        told = message.get("tokens") if isinstance(message, dict) else None
        if isinstance(told, dict) and message.get("type") == "gemini":
            read = count(told.get("input")) + count(told.get("tool"))
            said, cached = count(told.get("output")) + count(told.get("thoughts")), count(told.get("cached"))
            tokens = Tokens(without_cached(read, cached), said, cached)
            at, model = moment(message.get("timestamp")), str(message.get("model") or "")
            yield ModelAnswer(f"gemini:{message.get('id')}", model, at, tokens)


USAGE = UsageFiles(lambda where: (f"{_chats(where)}/**/*.jsonl",), _answers, marks=(b'"tokens"',), is_of=_is_of)


def agent() -> Agent:
    return Agent(
        "gemini",
        launch,
        load_pack("gemini"),
        install="npm install -g @google/gemini-cli",
        translate=hooks.read_hooks(READERS),
        reports_events=True,
        reports_start=True,
        clear_report=("session_start", "clear"),
        resumes=True,
        exit_keys=("C-c", "C-c"),
        transcripts=TRANSCRIPTS,
        usage=USAGE,
        takes_tools=True,
    )
