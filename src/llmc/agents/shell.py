"""A plain shell, for people and for programs that need no agent."""

from __future__ import annotations

from llmc.agents.base import Agent, Launch, LaunchOrder
from llmc.agents.packs import load_pack


def launch(order: LaunchOrder) -> Launch:
    return Launch(("bash", "--noprofile", "--norc", "-i"), {"PS1": "$ ", "BASH_SILENCE_DEPRECATION_WARNING": "1"})


def agent() -> Agent:
    return Agent(
        "shell",
        launch,
        load_pack("shell"),
        takes_prose=False,
        clear="",
        interrupt_keys=("C-c",),
        exit_keys=("C-c", "C-d"),
        asked_for_help=(),
    )
