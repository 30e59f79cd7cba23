"""`llmc usage`, for `command_table`."""

from __future__ import annotations

from llmc.cli.arguments import some_day
from llmc.cli.command import Command, flag, value, word

USAGE_COMMANDS = (
    Command(
        "usage",
        "tokens and money by task, worker, agent, model or day",
        ("llmc usage", "llmc usage --by model --since 7d", "llmc usage --csv > usage.csv"),
        (
            word(
                "--by",
                choices=("task", "worker", "agent", "model", "day"),
                help="one sum for each (default task; with --json and --csv, a row for all five together)",
            ),
            value("--since", "D", some_day, "from this day on: 2026-11-19, today, yesterday, or 7d for seven days"),
            flag("--csv", text="as comma-separated values"),
        ),
        about="As the agents' own CLIs write it down or report it, each answer once. Dollars are what the API would "
        "cost; with a subscription you pay something else. Models without a known price are shown as such: "
        "prices.toml in the root adds prices. See docs/usage.md.",
        looks=True,
    ),
)
