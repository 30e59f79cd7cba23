"""pi: an extension of ours, loaded by a flag, writes the reports. It never asks before it acts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from glob import escape
from typing import Any

from llmc.agents.base import Agent, Launch, LaunchOrder
from llmc.agents.command_line import CommandOption, launch_of, option
from llmc.agents.javascript import REPORT
from llmc.agents.packs import load_pack
from llmc.agents.transcripts import Transcripts, Whereabouts, moment, prompts
from llmc.agents.usage_files import Remembered, UsageFiles
from llmc.core.usage.answer import ModelAnswer, Tokens, count

EXTENSION = """\
// It tries again after most failures, with pauses of up to eight seconds, and does not tell extensions that it will.
const PATIENCE_MS = 12000
let failing
const kind = (message) => {
  if (/\\b40[13]\\b|api.?key|auth|credential/i.test(message)) return "auth"
  if (/\\b429\\b|rate.?limit|too many requests|quota/i.test(message)) return "rate_limit"
  if (/connect|network|socket|fetch failed|timed? ?out/i.test(message)) return "network"
  return "api"
}
const failed = (message) => {
  const say = () => report("failure", { kind: kind(message), message })
  clearTimeout(failing)
  if (kind(message) === "auth") say()
  else failing = setTimeout(say, PATIENCE_MS)
}
export default function (pi) {
  pi.on("session_start", (event) => report("session_start", { reason: event.reason }))
  pi.on("input", (event, ctx) => {
    clearTimeout(failing)
    report("prompt", { text: event.text, conversation: ctx.sessionManager.getSessionId() })
  })
  pi.on("agent_start", () => { clearTimeout(failing); report("activity", { tool: "model" }) })
  pi.on("tool_call", (event) => report("activity", { tool: event.toolName }))
  pi.on("agent_end", (event) => {
    const last = event.messages.filter((message) => message.role === "assistant").pop()
    if (last?.stopReason === "error") failed(last.errorMessage || "")
    else if (last?.stopReason === "aborted") report("interrupted", {})
    else report("turn_end", {})
  })
  pi.on("session_shutdown", (event) => report("session_end", { reason: event.reason }))
}
"""


def launch(order: LaunchOrder) -> Launch:
    extension = f"{order.settings_dir}/report.ts"
    env, files = {"PI_SKIP_VERSION_CHECK": "1"}, {extension: REPORT + EXTENSION}
    return launch_of(order.program, ("pi",), _options(order, extension), env=env, files=files)


def _options(order: LaunchOrder, extension: str) -> Iterator[CommandOption]:
    yield option("--extension", extension, lost="its reports")
    yield option("--session", order.resume, lost="the conversation from before")
    yield option("--model", order.model, lost="the model that the settings name")
    yield option("--append-system-prompt", order.role_prompt, lost="its role prompt")


def _pattern(where: Whereabouts) -> str:
    project = re.sub("[/:]", "-", where.worktree.removeprefix("/"))
    return f"{escape(where.home)}/.pi/agent/sessions/--{escape(project)}--/*.jsonl"


TRANSCRIPTS = Transcripts(
    _pattern, prompts("user", "message", "content", kind_at=("message", "role")), marks=(b'"user"',)
)


def _answers(_remembered: Remembered, data: Mapping[str, Any]) -> Iterator[ModelAnswer]:
    message = data.get("message")
    told = message.get("usage") if isinstance(message, dict) else None
    if isinstance(message, dict) and isinstance(told, dict) and message.get("role") == "assistant":
        tokens = Tokens(*(count(told.get(name)) for name in ("input", "output", "cacheRead", "cacheWrite")))
        name = f"pi:{message.get('responseId') or data.get('id')}"
        yield ModelAnswer(name, str(message.get("model") or ""), moment(data.get("timestamp")), tokens)


USAGE = UsageFiles(lambda where: (_pattern(where),), _answers, marks=(b'"usage"',))


def agent() -> Agent:
    return Agent(
        "pi",
        launch,
        load_pack("pi"),
        install="npm install -g @mariozechner/pi-coding-agent",
        own_commands="/!",
        clear="/new",
        reports_events=True,
        reports_start=True,
        clear_report=("session_start", "new"),
        resumes=True,
        exit_keys=("C-c", "C-d"),
        transcripts=TRANSCRIPTS,
        usage=USAGE,
    )
