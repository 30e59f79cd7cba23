"""Gemini CLI."""

from __future__ import annotations

from llmc.agents.base import Agent, Launch, LaunchOrder
from llmc.agents.packs import load_pack


def launch(order: LaunchOrder) -> Launch:
    argv = ["gemini"]
    if order.model:
        argv += ["-m", order.model]
    if order.skip_permissions:
        argv.append("--yolo")
    return Launch(tuple(argv))


def agent() -> Agent:
    return Agent("gemini", launch, load_pack("gemini"), exit_keys=("C-c", "C-c"))
