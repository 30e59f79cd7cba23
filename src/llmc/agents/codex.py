"""Codex."""

from __future__ import annotations

import json

from llmc.agents.base import Agent, Launch, LaunchOrder
from llmc.agents.packs import load_pack


def launch(order: LaunchOrder) -> Launch:
    argv = ["codex", "--no-daemon", "-c", "check_for_update_on_startup=false"]
    if order.model:
        argv += ["-m", order.model]
    if order.role_prompt:
        argv += ["-c", f"developer_instructions={json.dumps(order.role_prompt, ensure_ascii=False)}"]
    if order.skip_permissions:
        argv.append("--dangerously-bypass-approvals-and-sandbox")
    return Launch(tuple(argv))


def agent() -> Agent:
    return Agent("codex", launch, load_pack("codex"))
