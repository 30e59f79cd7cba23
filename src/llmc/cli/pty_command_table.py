"""The commands of `llmc pty`, for `command_table`."""

from __future__ import annotations

from llmc.cli.arguments import (
    some_cursor,
    some_line,
    some_looks,
    some_name,
    some_path,
    some_seconds,
    some_text,
)
from llmc.cli.command import FOLLOW, Command, flag, lines, value, word

TERMINAL = value("id", "ID", some_name, "the terminal's name")
CLI = value("--cli", "C", some_name, "what runs in it: claude, codex, bash, ...")
TERMINAL_NAME = value("--name", "N", some_text, "its name (default: made from the directory)")

PTY = (
    Command(
        "create",
        "open a terminal in a directory: in the tmux that you are in, else in LLMC's own",
        ("llmc pty create ~/code/shop", "llmc pty create . --cli claude", "llmc pty create . --command 'make test'"),
        (
            value("directory", "DIR", some_path, "where it begins"),
            TERMINAL_NAME,
            CLI,
            value("--command", "CMD", some_line, "typed into its shell"),
        ),
    ),
    Command(
        "adopt",
        "watch a window that is there already; closing it stays up to you",
        ("llmc pty adopt", "llmc pty adopt work:2 --name build"),
        (
            value("target", "TARGET", some_name, "a tmux target (default: the current pane)", nargs="?"),
            TERMINAL_NAME,
            CLI,
        ),
    ),
    Command("list", "list the terminals", ("llmc pty list", "llmc pty list --json")),
    Command("switch", "switch to a terminal", ("llmc pty switch shop",), (TERMINAL,)),
    Command(
        "close",
        "close a terminal that was opened here, forget one that was adopted",
        ("llmc pty close shop",),
        (TERMINAL,),
    ),
    Command(
        "watch",
        "watch the terminals: keeps the status current and calls you",
        ("llmc pty watch --detach", "llmc pty watch --interval 2 --stable 2", "llmc pty watch --stop"),
        (
            value("--interval", "S", some_seconds, "seconds between two checks of all (default 5)", default=5.0),
            value("--stable", "N", some_looks, "checks without a change until a screen counts (default: the pack's)"),
            flag("--once", text="look once, show the result and end"),
            flag("--detach", "-d", text="in the background"),
            flag("--stop", text="end the watcher that runs"),
        ),
    ),
    Command(
        "status",
        "every terminal's state, from the cache",
        ("llmc pty status", "llmc pty status --json", "llmc pty status --short"),
        (flag("--short", text="one short line, for a status line"),),
    ),
    Command(
        "tail",
        "the history of a terminal's states, from the cache",
        ("llmc pty tail shop", "llmc pty tail shop --follow"),
        (TERMINAL, FOLLOW, lines(20)),
    ),
    Command(
        "statusline",
        "show the terminals in tmux's status line",
        ("llmc pty statusline install", "llmc pty statusline remove"),
        (word("action", choices=("install", "remove"), help="remove brings back what was there"),),
    ),
    Command(
        "classify",
        "show how one screen is read, and which cue decided",
        (
            "tmux capture-pane -p | llmc pty classify --cli claude -",
            "llmc pty classify --cli codex screen.txt --title 'demo' --command node --json",
        ),
        (
            value("file", "FILE", some_path, "the screen (default: -, stdin)", nargs="?", default="-"),
            value("--cli", "C", some_name, "its pack (default: the one of --command)"),
            word("--title", metavar="T", default="", help="the title of the terminal"),
            word("--command", metavar="CMD", default="", help="the process in the foreground"),
            value("--cursor", "X,Y", some_cursor, "where the cursor is, counted from 0"),
        ),
    ),
)
