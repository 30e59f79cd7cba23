"""The built-in scripted agent: a real program in a real terminal, with no model behind it."""

from __future__ import annotations

import sys

from llmc.agents.base import Agent, Launch, LaunchOrder
from llmc.agents.packs import load_pack


def launch(order: LaunchOrder) -> Launch:
    # -P: the worktree is the working directory and must not be searched for modules.
    return Launch((sys.executable, "-P", "-m", "llmc.demo"))


def agent() -> Agent:
    return Agent(
        "demo",
        launch,
        load_pack("demo"),
        reports_events=True,
        reports_start=True,
        clear_report=("session_start", "clear"),
        exit_keys=("C-c", "C-c"),
        asked_for_help=(),
    )
