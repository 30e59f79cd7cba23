"""Kimi Code: hooks by the settings in a home of its own, where everything else leads to the person's."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from glob import escape
from pathlib import Path
from typing import Any

from llmc.agents import hooks
from llmc.agents.base import Agent, Launch, LaunchOrder
from llmc.agents.command_line import CommandOption, launch_of, option
from llmc.agents.own_home import links_to
from llmc.agents.packs import load_pack
from llmc.agents.transcripts import Line, Transcripts, Whereabouts, texts
from llmc.agents.usage_files import Remembered, UsageFiles
from llmc.core.usage.answer import ModelAnswer, Tokens, count

OWN = ("config.toml", "workspace-trust", "AGENTS.md")


def launch(order: LaunchOrder) -> Launch:
    home, person = f"{order.settings_dir}/kimi", Path(order.home, ".kimi-code")
    trusted, record = trust_record(order.worktree)
    files = {
        f"{home}/config.toml": _settings(order, person / "config.toml"),
        f"{home}/workspace-trust/{trusted}": record,
        hooks.script_path(order): hooks.SCRIPT,
    }
    instructions = [_text(person / "AGENTS.md"), order.role_prompt]
    if any(instructions):
        files[f"{home}/AGENTS.md"] = "\n\n".join(filter(None, instructions))
    env = {"KIMI_CODE_HOME": home, "KIMI_CODE_NO_AUTO_UPDATE": "1"}
    links = links_to(person, home, own=OWN)
    return launch_of(order.program, ("kimi",), _options(order), env=env, files=files, links=links)


def _options(order: LaunchOrder) -> Iterator[CommandOption]:
    if order.skip_permissions:
        # --yolo still asks before what it takes for risky.
        yield option("--auto", lost="it asks before it acts")
    yield option("--session", order.resume, lost="the conversation from before")
    yield option("--model", order.model, lost="the model that the settings name")


def _settings(order: LaunchOrder, person: Path) -> str:
    """The person's own settings with ours added."""
    import tomlkit  # slow to load, and nobody else needs it
    from tomlkit.exceptions import ParseError

    try:
        settings = tomlkit.parse(_text(person))
    except ParseError:
        settings = tomlkit.document()  # the CLI would refuse it as well
    wired = [
        {"event": name, "command": hooks.hook_command(order, name), "timeout": hooks.TIMEOUT_SECS} for name in READERS
    ]
    had = settings.unwrap().get("hooks", [])
    settings["hooks"] = [*had, *wired]
    if order.skip_permissions is False:
        settings["default_permission_mode"] = "manual"
    return tomlkit.dumps(settings)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""


LONGEST_SLUG = 40


def trust_record(directory: str) -> tuple[str, str]:
    """The file in `workspace-trust` by which Kimi Code knows that a directory can be trusted, and what it says."""
    slug = re.sub("[^a-z0-9._-]+", "-", directory.rsplit("/", 1)[-1].lower()).strip("-")[:LONGEST_SLUG].strip("-")
    name = "workspace" if slug in ("", ".", "..") else slug
    digest = hashlib.sha256(directory.encode()).hexdigest()[:12]
    return f"wd_{name}_{digest}", json.dumps({"root": directory, "trustedAt": 0})


def _wires(where: Whereabouts, agent: str) -> str:
    project, _ = trust_record(where.worktree)
    return f"{escape(where.settings_dir)}/kimi/sessions/{project}/*/agents/{agent}/wire.jsonl"


def _line(data: Mapping[str, Any]) -> Line | None:
    at = data.get("time")
    if data.get("type") != "turn.prompt" or not isinstance(at, int):
        return None
    return Line(at / 1000, texts(data.get("input")))


TRANSCRIPTS = Transcripts(lambda where: _wires(where, "main"), _line, marks=(b"turn.prompt",))
COUNTED = ("inputOther", "output", "inputCacheRead", "inputCacheCreation")


def _answers(_remembered: Remembered, data: Mapping[str, Any]) -> Iterator[ModelAnswer]:
    """It has no name of its own, and a copied conversation keeps the times."""
    told, at = data.get("usage"), data.get("time")
    if data.get("type") == "usage.record" and isinstance(told, dict) and isinstance(at, int):
        counts = [count(told.get(name)) for name in COUNTED]
        name = ":".join(map(str, ("kimi", data.get("agentId"), at, *counts)))
        yield ModelAnswer(name, str(data.get("model") or ""), at / 1000, Tokens(*counts))


USAGE = UsageFiles(lambda where: (_wires(where, "*"),), _answers, marks=(b"usage.record",))


READERS: Mapping[str, hooks.Reader] = {
    **hooks.WITH_FAILURES,
    "PreToolUse": hooks.tool_start,
    "PermissionResult": hooks.activity,
    "Interrupt": hooks.interrupted,
}


def agent() -> Agent:
    return Agent(
        "kimi",
        launch,
        load_pack("kimi"),
        install="npm install -g @moonshot-ai/kimi-code",
        translate=hooks.read_hooks(READERS),
        own_commands="/!",
        shielded="/",
        clear="/new",
        reports_events=True,
        # It tells of the new session before it goes over to it, and of the end of the old one after that.
        clear_report=("session_end", "exit"),
        resumes=True,
        steady_secs=3.0,
        exit_keys=("C-c", "C-c"),
        transcripts=TRANSCRIPTS,
        usage=USAGE,
    )
