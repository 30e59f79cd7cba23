"""opencode: a plugin of ours, named in a settings file of its own, writes the reports."""

from __future__ import annotations

import json
from pathlib import Path

from llmc.agents.base import Agent, Launch, LaunchOrder
from llmc.agents.command_line import command_line, option
from llmc.agents.packs import load_pack

PLUGIN = """\
// Drops reports of this session into LLMC's spool. Sub-agents have sessions of their own, which are left out.
import { renameSync, writeFileSync } from "fs"
const spool = process.env.LLMC_SPOOL
const children = new Set()
let count = 0
const report = (event, more) => {
  if (!spool) return
  try {
    const name = `${Date.now()}${String(process.hrtime.bigint() % 1000000n).padStart(6, "0")}-${process.pid}-${count++}`
    writeFileSync(`${spool}/.${name}`, JSON.stringify({ event, at: Date.now() / 1000, ...more }))
    renameSync(`${spool}/.${name}`, `${spool}/${name}.json`)
  } catch (e) {}
}
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
  let failed = false
  const on = {
    "session.created": (p) => { if (p.info?.parentID) children.add(p.info.id) },
    "permission.asked": (p) => report("permission", { tool: p.permission, command: asked(p) }),
    "question.asked": (p) => report("question", { text: p.questions?.[0]?.question || "" }),
    "permission.replied": () => report("activity", { tool: "permission" }),
    "question.replied": () => report("activity", { tool: "question" }),
    "session.error": (p) => {
      if (p.error?.name === "MessageAbortedError") return
      failed = true
      report("failure", { kind: kind(p.error), message: p.error?.data?.message || p.error?.name || "" })
    },
    "session.idle": () => { if (!failed) report("turn_end", {}); failed = false },
  }
  return {
    event: async ({ event }) => {
      const p = event.properties || {}
      if (event.type !== "session.created" && children.has(p.sessionID)) return
      on[event.type]?.(p)
    },
    "chat.message": async (input, output) => {
      if (children.has(input.sessionID)) return
      report("prompt", { text: text(output.parts), conversation: input.sessionID })
    },
    "tool.execute.before": async (input) => {
      if (!children.has(input.sessionID) && input.tool !== "question") report("activity", { tool: input.tool })
    },
    "tool.execute.after": async (input) => {
      if (!children.has(input.sessionID)) report("activity", { tool: input.tool })
    },
  }
}
"""


def launch(order: LaunchOrder) -> Launch:
    config = f"{order.settings_dir}/opencode.json"
    plugin = f"{order.settings_dir}/report.js"
    # By a file of its own: a plugin in a configuration directory makes opencode install packages there first.
    settings: dict[str, object] = {"autoupdate": False, "plugin": [Path(plugin).as_uri()]}
    files = {plugin: PLUGIN}
    if order.model:
        settings["model"] = order.model
    if order.role_prompt:
        role = f"{order.settings_dir}/role.md"
        files[role] = order.role_prompt
        settings["instructions"] = [role]
    if order.skip_permissions is False:
        settings["permission"] = {"edit": "ask", "bash": "ask", "webfetch": "ask"}
    files[config] = json.dumps(settings, indent=2)
    resumed = [option("--session", order.resume, lost="the conversation from before")] if order.resume else []
    line = command_line(order.program, ("opencode",), resumed)
    env = {"OPENCODE_CONFIG": config, "OPENCODE_DISABLE_AUTOUPDATE": "1"}
    return Launch(line.argv, env, files, left_out=line.left_out)


def agent() -> Agent:
    return Agent(
        "opencode",
        launch,
        load_pack("opencode"),
        clear="/new",
        reports_events=True,
        reports_start=True,
        resumes=True,
        asked_for_help=("",),
    )
