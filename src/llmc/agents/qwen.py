"""Qwen Code: hooks by a file in the place of the machine's own settings, which it adds to those of the person."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from glob import escape
from pathlib import Path
from typing import Any

from llmc.agents import hooks
from llmc.agents.base import Agent, Launch, LaunchOrder
from llmc.agents.command_line import CommandOption, launch_of, option
from llmc.agents.json_file import object_in
from llmc.agents.packs import load_pack
from llmc.agents.transcripts import Transcripts, Whereabouts, moment, part_of, prompts
from llmc.agents.usage_files import Remembered, UsageFiles
from llmc.core.usage.answer import ModelAnswer, Tokens, count, without_cached

MACHINE_SETTINGS = Path("/etc/qwen-code/settings.json")


def launch(order: LaunchOrder) -> Launch:
    settings = f"{order.settings_dir}/qwen.json"
    files = {settings: _settings(order), hooks.script_path(order): hooks.SCRIPT}
    env = {"QWEN_CODE_SYSTEM_SETTINGS_PATH": settings}
    return launch_of(order.program, ("qwen",), _options(order), env=env, files=files)


def _options(order: LaunchOrder) -> Iterator[CommandOption]:
    if order.skip_permissions:
        yield option("--approval-mode", "yolo", lost="it asks before it acts")
    elif order.skip_permissions is False:
        yield option("--approval-mode", "default", lost="it may act without asking, if its settings say so")
    yield option("--resume", order.resume, lost="the conversation from before")
    yield option("--model", order.model, lost="the model that the settings name")
    yield option("--append-system-prompt", order.role_prompt, lost="its role prompt")


def _settings(order: LaunchOrder) -> str:
    """Those of the machine with ours added. Hooks are joined with the person's own, all else comes before theirs."""
    settings = object_in(MACHINE_SETTINGS)
    machine = settings.get("hooks", {})
    ours = hooks.wired(order, READERS)
    settings["hooks"] = {**machine, **{name: [*machine.get(name, []), *wired] for name, wired in ours.items()}}
    settings.setdefault("general", {})["enableAutoUpdate"] = False
    # A suggested prompt stands in the input line like something that is typed; a dialog would welcome the person back.
    settings.setdefault("ui", {}).update({"enableFollowupSuggestions": False, "enableWelcomeBack": False})
    return json.dumps(settings, indent=2)


READERS = hooks.WITH_FAILURES


def _pattern(where: Whereabouts) -> str:
    project = re.sub("[^a-zA-Z0-9]", "-", where.worktree)
    return f"{escape(where.home)}/.qwen/projects/{project}/chats/*.jsonl"


TRANSCRIPTS = Transcripts(_pattern, prompts("user", "message", "parts"), marks=(b'"user"',))


def _answers(_remembered: Remembered, data: Mapping[str, Any]) -> Iterator[ModelAnswer]:
    """What it thought is a part of what it said for some providers and not for others: the sum of all tells."""
    told = part_of(data, ("systemPayload", "uiEvent"))
    if not isinstance(told, dict) or told.get("event.name") != "qwen-code.api_response":
        return
    read, cached = count(told.get("input_token_count")), count(told.get("cached_content_token_count"))
    said = max(count(told.get("total_token_count")) - read, count(told.get("output_token_count")))
    tokens = Tokens(without_cached(read, cached), said, cached)
    name = f"qwen:{told.get('response_id') or data.get('uuid')}"
    yield ModelAnswer(name, str(told.get("model") or ""), moment(data.get("timestamp")), tokens)


USAGE = UsageFiles(lambda where: (_pattern(where),), _answers, marks=(b"qwen-code.api_response",))


def agent() -> Agent:
    return Agent(
        "qwen",
        launch,
        load_pack("qwen"),
        install="npm install -g @qwen-code/qwen-code",
        translate=hooks.read_hooks(READERS),
        own_commands="/",
        reports_events=True,
        reports_start=True,
        clear_report=("session_start", "clear"),
        resumes=True,
        exit_keys=("C-c", "C-c"),
        transcripts=TRANSCRIPTS,
        usage=USAGE,
    )
