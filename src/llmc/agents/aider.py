"""aider: flags alone. It reports nothing that tells one prompt from another, so its screen counts."""

from __future__ import annotations

from llmc.agents.base import Agent, Launch, LaunchOrder
from llmc.agents.packs import load_pack

QUIET = (
    *("--no-check-update", "--no-show-release-notes", "--no-show-model-warnings", "--no-analytics"),
    "--disable-playwright",
)
"""Each of them would ask something at the start, and `--yes-always` would say yes: to an upgrade, to telemetry, to a
browser that opens, to a program that is installed."""


def launch(order: LaunchOrder) -> Launch:
    own = order.settings_dir
    argv = ["aider", *QUIET, "--no-gitignore"]
    argv += ["--chat-history-file", f"{own}/chat.md", "--input-history-file", f"{own}/input.history"]
    files = {}
    if order.model:
        argv += ["--model", order.model]
    if order.role_prompt:
        files[f"{own}/role.md"] = order.role_prompt
        argv += ["--read", f"{own}/role.md"]
    if order.skip_permissions:
        argv.append("--yes-always")
    return Launch(tuple(argv), {}, files)


def agent() -> Agent:
    return Agent(
        "aider",
        launch,
        load_pack("aider"),
        own_commands="/!{",
        shielded="/!{",
        interrupt_keys=("C-c",),
        own_files=(".aider*",),  # the cache of tags, which no flag moves out of the worktree
        exit_keys=("C-c", "C-c"),
    )
