"""opencode, and Kilo, which is opencode under another name: a plugin of ours, named in a settings file, reports."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from types import MappingProxyType

from llmc.agents.base import Agent, Launch, LaunchOrder
from llmc.agents.command_line import launch_of, option
from llmc.agents.delegation_tools import SERVER, bridge_command
from llmc.agents.javascript import REPORT
from llmc.agents.packs import load_pack
from llmc.values import Value

PLUGIN = """\
// Sub-agents have sessions of their own, which are left out.
const children = new Set()
const text = (parts) => (parts || []).filter((p) => p.type === "text" && !p.synthetic).map((p) => p.text).join("")
// The patterns are of the parts of a command line, without what joins them.
const asked = (p) => p.metadata?.command || (p.patterns || []).join(" ")
const kind = (error) => {
  const status = error?.data?.statusCode
  if (status === 429) return "rate_limit"
  if (status === 401 || status === 403 || error?.name === "ProviderAuthError") return "auth"
  return status ? "api" : "network"
}
export const Llmc = async () => {
  report("session_start", { reason: "startup" })
  let ended = false // the end of the turn is told already, and opencode says more than once that it is idle
  let said = ""
  const answers = new Set()
  const told = new Set()
  // Sub-agents' answers too. The copies in a forked conversation have new names, but the times of the old ones.
  const spent = (m) => {
    const t = m?.tokens, cache = t?.cache || {}
    if (m?.role !== "assistant" || !m.time?.completed || !t || told.has(m.id)) return
    told.add(m.id)
    const read = (t.input || 0) + (cache.read || 0) + (cache.write || 0)
    const output = t.total ? t.total - read : (t.output || 0) + (t.reasoning || 0)
    const id = ["opencode", m.time.created, m.time.completed, read, output].join(":")
    const cached = { cache_read_tokens: cache.read || 0, cache_write_tokens: cache.write || 0 }
    report("usage", { id, model: m.modelID || "", input_tokens: t.input || 0, output_tokens: output, ...cached })
  }
  const on = {
    "message.updated": (p) => { if (p.info?.role === "assistant") answers.add(p.info.id) },
    "message.part.updated": ({ part }) => {
      if (part?.type === "text" && answers.has(part.messageID) && !children.has(part.sessionID)) said = part.text
    },
    "session.created": (p) => { if (p.info?.parentID) children.add(p.info.id) },
    "permission.asked": (p) => report("permission", { tool: p.permission, command: asked(p) }),
    "question.asked": (p) => report("question", { text: p.questions?.[0]?.question || "" }),
    "permission.replied": () => report("activity", { tool: "permission" }),
    "question.replied": () => report("activity", { tool: "question" }),
    "session.error": (p) => {
      if (ended) return
      ended = true
      if (p.error?.name === "MessageAbortedError") report("interrupted", {})
      else report("failure", { kind: kind(p.error), message: p.error?.data?.message || p.error?.name || "" })
    },
    "session.idle": () => { if (!ended) report("turn_end", { text: said }); ended = true },
  }
  return {
    event: async ({ event }) => {
      const p = event.properties || {}
      if (event.type === "message.updated") spent(p.info)
      if (event.type !== "session.created" && children.has(p.sessionID)) return
      on[event.type]?.(p)
    },
    "chat.message": async (input, output) => {
      if (children.has(input.sessionID)) return
      ended = false
      said = ""
      report("prompt", { text: text(output.parts), conversation: input.sessionID })
    },
    "tool.execute.before": async (input) => {
      if (children.has(input.sessionID)) return
      ended = false
      if (input.tool !== "question") report("activity", { tool: input.tool })
    },
    "tool.execute.after": async (input) => {
      if (!children.has(input.sessionID)) report("activity", { tool: input.tool })
    },
  }
}
"""


TOOL_MILLISECONDS = 3_700_000


class Edition(Value):
    """opencode, or a program that is opencode under another name."""

    name: str
    variables: str
    """How the names of its environment variables begin."""
    package: str
    settings: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
    patience_secs: float = 120.0

    def launch(self, order: LaunchOrder) -> Launch:
        config = f"{order.settings_dir}/{self.name}.json"
        plugin = f"{order.settings_dir}/report.js"
        # By a file of its own: a plugin in a configuration directory makes it install packages there first.
        settings: dict[str, object] = {"autoupdate": False, "plugin": [Path(plugin).as_uri()], **self.settings}
        files = {plugin: REPORT + PLUGIN}
        if order.delegates:
            server = {"type": "local", "command": bridge_command(order), "enabled": True, "timeout": TOOL_MILLISECONDS}
            settings["mcp"] = {SERVER: server}
        if order.model:
            settings["model"] = order.model
        if order.role_prompt:
            role = f"{order.settings_dir}/role.md"
            files[role] = order.role_prompt
            settings["instructions"] = [role]
        if order.skip_permissions is False:
            settings["permission"] = {"edit": "ask", "bash": "ask", "webfetch": "ask"}
        files[config] = json.dumps(settings, indent=2)
        resumed = option("--session", order.resume, lost="the conversation from before")
        env = {f"{self.variables}_CONFIG": config, f"{self.variables}_DISABLE_AUTOUPDATE": "1"}
        return launch_of(order.program, (self.name,), [resumed], env=env, files=files)

    def agent(self) -> Agent:
        return Agent(
            self.name,
            self.launch,
            load_pack(self.name),
            install=f"npm install -g {self.package}",
            clear="/new",
            interrupt_keys=("Escape", "Escape"),
            reports_events=True,
            reports_start=True,
            resumes=True,
            ready_timeout_secs=self.patience_secs,
            takes_tools=True,
        )


OPENCODE = Edition("opencode", "OPENCODE", "opencode-ai")
# Its snapshots, copies of the whole worktree after each step, keep it busy; LLMC has backups of its own.
# It needs twenty seconds of a processor to start, of which a busy machine may give it a sixth.
KILO = Edition("kilo", "KILO", "@kilocode/cli", MappingProxyType({"snapshot": False}), patience_secs=180.0)


def agent() -> Agent:
    return OPENCODE.agent()


def kilo_agent() -> Agent:
    return KILO.agent()
