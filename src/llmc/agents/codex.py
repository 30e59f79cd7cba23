"""Codex: hooks, trust and instructions by `-c`; nothing is written into the user's own settings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from glob import escape
from typing import Any

from llmc.agents import hooks
from llmc.agents.base import Agent, Launch, LaunchOrder
from llmc.agents.packs import load_pack
from llmc.agents.transcripts import Line, Transcripts, Whereabouts, moment, texts


def launch(order: LaunchOrder) -> Launch:
    # Without --no-daemon a background process outlives the terminal.
    argv = ["codex", *(["resume"] if order.resume else []), "--no-daemon", "-c", "check_for_update_on_startup=false"]
    # Hooks that are new to Codex are skipped silently unless they are trusted; these are our own.
    argv.append("--dangerously-bypass-hook-trust")
    for directory in (order.repository, order.worktree):
        argv += ["-c", f'projects.{_text(directory)}.trust_level="trusted"']
    for name in READERS:
        wired = f'[{{hooks=[{{type="command",command={_text(hooks.hook_command(order, name))},timeout=10}}]}}]'
        argv += ["-c", f"hooks.{name}={wired}"]
    if order.model:
        argv += ["-m", order.model]
    if order.role_prompt:
        argv += ["-c", f"developer_instructions={_text(order.role_prompt)}"]
    if order.skip_permissions:
        argv.append("--dangerously-bypass-approvals-and-sandbox")
    if order.resume:
        # A conversation that was begun with these off would go on without them.
        argv += [] if order.skip_permissions else ["-a", "on-request", "-s", "workspace-write"]
        argv.append(order.resume)
    return Launch(tuple(argv), {}, {hooks.script_path(order): hooks.SCRIPT})


def _text(value: str) -> str:
    """A TOML string: JSON's escapes are among TOML's."""
    return json.dumps(value, ensure_ascii=False)


READERS: Mapping[str, hooks.Reader] = {
    **hooks.USUAL,
    "PreToolUse": hooks.tool_start,
    "Interrupt": hooks.interrupted,
}


STATES = {"task_started": "BUSY", "task_complete": "READY", "turn_aborted": "READY"}


def _line(data: Mapping[str, Any]) -> Line | None:
    at, said = moment(data.get("timestamp")), data.get("payload")
    if not isinstance(said, dict):
        return None
    kind = str(said.get("type"))
    if data.get("type") == "event_msg" and kind in STATES:
        return Line(at, state=STATES[kind])
    return Line(at, texts(said.get("content"))) if (kind, said.get("role")) == ("message", "user") else None


def _is_of(first: Mapping[str, Any], where: Whereabouts) -> bool:
    about = first.get("payload")
    return isinstance(about, dict) and about.get("cwd") == where.worktree


TRANSCRIPTS = Transcripts(
    lambda where: f"{escape(where.home)}/.codex/sessions/*/*/*/rollout-*.jsonl",
    _line,
    marks=(*(name.encode() for name in STATES), b'"user"'),
    is_of=_is_of,
    kept_open="/sessions/",
)


def agent() -> Agent:
    return Agent(
        "codex",
        launch,
        load_pack("codex"),
        translate=hooks.read_hooks(READERS),
        own_commands="/!",
        shielded="/",
        reports_events=True,
        resumes=True,
        steady_secs=3.0,
        transcripts=TRANSCRIPTS,
    )
