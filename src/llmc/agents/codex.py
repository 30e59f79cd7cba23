"""Codex: hooks, trust and instructions by `-c`; nothing is written into the user's own settings."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from glob import escape
from typing import Any

from llmc.agents import hooks
from llmc.agents.base import Agent, Launch, LaunchOrder
from llmc.agents.command_line import CommandOption, launch_of, option
from llmc.agents.delegation_tools import SERVER, bridge_command
from llmc.agents.packs import load_pack
from llmc.agents.transcripts import Line, Transcripts, Whereabouts, moment, part_of, texts
from llmc.agents.usage_files import Remembered, UsageFiles
from llmc.core.usage.answer import ModelAnswer, Tokens, count, without_cached

TOOL_SECS = 3700
"""It gives up a tool after a minute otherwise, and a task may take longer."""


def launch(order: LaunchOrder) -> Launch:
    command = "resume" if order.resume else ""
    begin, end = (("codex", "resume"), (order.resume,)) if order.resume else (("codex",), ())
    files = {hooks.script_path(order): hooks.SCRIPT}
    return launch_of(order.program, begin, _options(order), end, command=command, files=files)


def _options(order: LaunchOrder) -> Iterator[CommandOption]:
    yield option("--no-daemon", lost="a background process of Codex may outlive its terminal")
    yield option("-c", "check_for_update_on_startup=false", lost="its settings")
    # Hooks that are new to Codex are skipped silently unless they are trusted; these are our own.
    yield option("--dangerously-bypass-hook-trust", lost="its reports, until you have reviewed the hooks")
    # As one table: 0.150 takes the dots of a path in the key for the dots between keys.
    trusted = ",".join(f'{_text(path)}={{trust_level="trusted"}}' for path in (order.repository, order.worktree))
    yield option("-c", f"projects={{{trusted}}}", lost="its settings")
    for name in READERS:
        wired = f'[{{hooks=[{{type="command",command={_text(hooks.hook_command(order, name))},timeout=10}}]}}]'
        yield option("-c", f"hooks.{name}={wired}", lost="its settings")
    if order.delegates:
        program, *args = bridge_command(order)
        words = ",".join(map(_text, args))
        wired = f"{{command={_text(program)},args=[{words}],tool_timeout_sec={TOOL_SECS}}}"
        yield option("-c", f"mcp_servers.{SERVER}={wired}", lost="its settings")
    yield option("-m", order.model, lost="the model that the settings name")
    if order.role_prompt:
        yield option("-c", f"developer_instructions={_text(order.role_prompt)}", lost="its settings")
    if order.skip_permissions:
        yield option("--dangerously-bypass-approvals-and-sandbox", lost="it asks before it acts")
    elif order.skip_permissions is False:
        # By `-c`, which every version knows: a conversation that was begun without these would go on without them.
        yield option("-c", f"approval_policy={_text(_asking_policy(order))}", lost="its settings")
        yield option("-c", 'sandbox_mode="read-only"', lost="its settings")


def _asking_policy(order: LaunchOrder) -> str:
    """`untrusted` asked before every command; newer versions have only `on-request`.

    With that, what is not asked for runs where nothing can be written.
    """
    return "untrusted" if order.program.offers("--ask-for-approval", "untrusted") else "on-request"


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


def _rollouts(where: Whereabouts) -> str:
    return f"{escape(where.kept_in('CODEX_HOME', '.codex'))}/sessions/*/*/*/rollout-*.jsonl"


def _is_of(first: Mapping[str, Any], where: Whereabouts) -> bool:
    return bool(part_of(first, ("payload", "cwd")) == where.worktree)


TRANSCRIPTS = Transcripts(
    _rollouts,
    _line,
    marks=(*(name.encode() for name in STATES), b'"user"'),
    is_of=_is_of,
    kept_open="/sessions/",
)
COUNTED = ("input_tokens", "output_tokens", "cached_input_tokens", "cache_write_input_tokens")


def _answers(remembered: Remembered, data: Mapping[str, Any]) -> Iterator[ModelAnswer]:
    """A line tells the sums of the conversation so far, and may be repeated. It does not name its answer: turn and sums
    do. A fork begins with the lines of the conversation that it goes on with, and goes on with their sums.
    """
    said = data.get("payload")
    if not isinstance(said, dict):
        return
    if data.get("type") == "turn_context":
        remembered.update(model=str(said.get("model") or ""), turn=str(said.get("turn_id") or ""))
    elif said.get("type") == "task_started":
        remembered["turn"] = str(said.get("turn_id") or remembered.get("turn", ""))
    sums = part_of(said, ("info", "total_token_usage"))
    if said.get("type") != "token_count" or not isinstance(sums, dict):
        return
    now, before = [count(sums.get(name)) for name in COUNTED], remembered.get("sums")
    remembered["sums"] = now
    spent = [more - had for more, had in zip(now, before, strict=True)] if before else []
    if not spent or min(spent) < 0:  # it begins in the middle, or anew
        last = part_of(said, ("info", "last_token_usage"))
        spent = [count(part_of(last, (name,))) for name in COUNTED]
    read, output, cached, written = spent
    tokens = Tokens(without_cached(read, cached, written), output, cached, written)
    name = ":".join(map(str, ("codex", remembered.get("turn", ""), *now)))
    yield ModelAnswer(name, remembered.get("model", ""), moment(data.get("timestamp")), tokens)


USAGE = UsageFiles(
    lambda where: (_rollouts(where),),
    _answers,
    marks=(b'"token_count"', b'"turn_context"', b'"task_started"'),
    is_of=_is_of,
)


def agent() -> Agent:
    return Agent(
        "codex",
        launch,
        load_pack("codex"),
        install="npm install -g @openai/codex",
        translate=hooks.read_hooks(READERS),
        own_commands="/!",
        shielded="/",
        reports_events=True,
        resumes=True,
        steady_secs=3.0,
        transcripts=TRANSCRIPTS,
        usage=USAGE,
        takes_tools=True,
        asked_for_help=("", "resume"),
    )
