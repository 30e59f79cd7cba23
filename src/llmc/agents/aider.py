"""aider: flags alone. It reports nothing that tells one prompt from another, so its screen counts."""

from __future__ import annotations

from collections.abc import Iterator

from llmc.agents.base import Agent, Launch, LaunchOrder
from llmc.agents.command_line import CommandOption, launch_of, option
from llmc.agents.packs import load_pack

QUIET = (
    *("--no-check-update", "--no-show-release-notes", "--no-show-model-warnings", "--no-analytics"),
    "--disable-playwright",
)
"""Each of them would ask something at the start, and `--yes-always` would say yes: to an upgrade, to telemetry, to a
browser that opens, to a program that is installed."""


def launch(order: LaunchOrder) -> Launch:
    role = f"{order.settings_dir}/role.md"
    files = {role: order.role_prompt} if order.role_prompt else {}
    return launch_of(order.program, ("aider",), _options(order, role), files=files)


def _options(order: LaunchOrder, role: str) -> Iterator[CommandOption]:
    for quiet in QUIET:
        yield option(quiet, lost="it may ask about that at its start")
    yield option("--no-gitignore", lost="it may write into .gitignore")
    yield option("--chat-history-file", f"{order.settings_dir}/chat.md", lost="its history is in the worktree")
    yield option("--input-history-file", f"{order.settings_dir}/input.history", lost="its history is in the worktree")
    yield option("--model", order.model, lost="the model that the settings name")
    if order.role_prompt:
        yield option("--read", role, lost="its role prompt")
    if order.skip_permissions:
        yield option("--yes-always", lost="it asks before it acts")


def agent() -> Agent:
    return Agent(
        "aider",
        launch,
        load_pack("aider"),
        install="pip install aider-chat",
        own_commands="/!{",
        shielded="/!{",
        interrupt_keys=("C-c",),
        own_files=(".aider*",),  # the cache of tags, which no flag moves out of the worktree
        exit_keys=("C-c", "C-c"),
    )
