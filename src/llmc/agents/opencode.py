"""opencode."""

from __future__ import annotations

import json

from llmc.agents.base import Agent, Launch, LaunchOrder
from llmc.agents.packs import load_pack


def launch(order: LaunchOrder) -> Launch:
    config = f"{order.settings_dir}/opencode.json"
    settings: dict[str, object] = {"autoupdate": False}
    files = {}
    if order.model:
        settings["model"] = order.model
    if order.role_prompt:
        instructions = f"{order.settings_dir}/instructions.md"
        settings["instructions"] = [instructions]
        files[instructions] = order.role_prompt
    if not order.skip_permissions:
        settings["permission"] = {"edit": "ask", "bash": "ask"}
    files[config] = json.dumps(settings, indent=2)
    return Launch(("opencode",), {"OPENCODE_CONFIG": config}, files)


def agent() -> Agent:
    return Agent("opencode", launch, load_pack("opencode"), clear="/new")
