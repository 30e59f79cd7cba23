"""Every agent that LLMC knows by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from importlib import import_module

from llmc.agents.base import Agent
from llmc.agents.custom import described_agent, with_options
from llmc.agents.packs import PackError, load_pack
from llmc.config.sections import BUILT_IN_AGENTS, AgentOptions
from llmc.config.settings import Config
from llmc.errors import LlmcError


def _made_by(module: str, function: str = "agent") -> Callable[[], Agent]:
    """Imported when the agent is wanted: a command needs those of its workers only."""

    def make() -> Agent:
        agent: Agent = getattr(import_module(f"llmc.agents.{module}"), function)()
        return agent

    return make


ELSEWHERE = {"kilo": ("opencode", "kilo_agent"), "demo": ("demo_agent",)}
"""Agents that the function `agent` of a module of their own name does not make."""
BUILT_IN: Mapping[str, Callable[[], Agent]] = {
    name: _made_by(*ELSEWHERE.get(name, (name,))) for name in BUILT_IN_AGENTS
}


def agent_named(name: str, config: Config | None, packs: str) -> Agent:
    """`packs` is the directory of the user's own packs, which come before those that LLMC brings along.

    Without a configuration, where only terminals live, there are the built-in agents.
    """
    described = config.agents if config is not None else {}
    options: AgentOptions | None = described.get(name)
    if name in BUILT_IN:
        built_in = BUILT_IN[name]()
        with suppress(PackError):  # a broken pack of the user's must not stop the work: `llmc doctor` tells
            built_in = replace(built_in, pack=load_pack(built_in.pack.name, packs))
        return with_options(built_in, options, packs) if options is not None else built_in
    if options is not None:
        return described_agent(name, options, packs)
    known = ", ".join(sorted({*BUILT_IN, *described}))
    raise LlmcError(
        f"there is no agent named {name!r}", f"use one of {known}, or describe yours under [agents.NAME] in config.toml"
    )
