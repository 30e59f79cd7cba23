"""Claude Code."""

from __future__ import annotations

from llmc.agents.base import Agent, Launch, LaunchOrder
from llmc.agents.packs import load_pack


def launch(order: LaunchOrder) -> Launch:
    argv = ["claude"]
    if order.model:
        argv += ["--model", order.model]
    if order.role_prompt:
        argv += ["--append-system-prompt", order.role_prompt]
    if order.skip_permissions:
        argv.append("--dangerously-skip-permissions")
    elif order.allowed_tools:
        argv += ["--allowedTools", *order.allowed_tools]
    return Launch(tuple(argv))


def agent() -> Agent:
    return Agent("claude", launch, load_pack("claude"), exit_keys=("C-c", "C-c"))
