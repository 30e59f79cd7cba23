"""Every agent that LLMC knows by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from llmc.agents import aider, claude, cline, codex, copilot, demo_agent, gemini, kimi, opencode, pi, qwen, shell
from llmc.agents.base import Agent
from llmc.agents.custom import described_agent, with_options, with_own_pack
from llmc.config import AgentOptions, Config
from llmc.errors import LlmcError

BUILT_IN: Mapping[str, Callable[[], Agent]] = {
    "claude": claude.agent,
    "codex": codex.agent,
    "gemini": gemini.agent,
    "opencode": opencode.OPENCODE.agent,
    "qwen": qwen.agent,
    "copilot": copilot.agent,
    "kimi": kimi.agent,
    "kilo": opencode.KILO.agent,
    "pi": pi.agent,
    "cline": cline.agent,
    "aider": aider.agent,
    "shell": shell.agent,
    "demo": demo_agent.agent,
}


def agent_named(name: str, config: Config | None, packs: str) -> Agent:
    """`packs` is the directory of the user's own packs, which come before those that LLMC brings along.

    Without a configuration, where only terminals live, there are the built-in agents.
    """
    described = config.agents if config is not None else {}
    options: AgentOptions | None = described.get(name)
    if name in BUILT_IN:
        built_in = with_own_pack(BUILT_IN[name](), packs)
        return with_options(built_in, options, packs) if options is not None else built_in
    if options is not None:
        return described_agent(name, options, packs)
    known = ", ".join(sorted({*BUILT_IN, *described}))
    raise LlmcError(
        f"there is no agent named {name!r}", f"use one of {known}, or describe yours under [agents.NAME] in config.toml"
    )
