"""`llmc pty classify`: what the classifier says of one screen."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from pathlib import Path

from llmc.agents.packs import load_pack, pack_for_command
from llmc.app import App
from llmc.commands.shared.pty_place import root_of
from llmc.commands.shared.result import Result
from llmc.core.screen.classify import Pack, ScreenReading, read_screen
from llmc.core.screen.screen import screen_of
from llmc.errors import InvalidUsageError, LlmcError
from llmc.root import RootMissingError

SHOWN = ("state", "detail", "confidence", "cue", "pack", "summary", "actions_needed")
MOST_BYTES = 64 * 1024 * 1024


def run(app: App, args: Namespace) -> Result:
    pack = _pack(app, args)
    screen = screen_of(_captured(args.file), title=args.title, command=args.command, cursor=args.cursor)
    reading = read_screen(pack, screen)
    return Result(_text(reading), {key: reading.says.get(key) for key in SHOWN})


def _pack(app: App, args: Namespace) -> Pack:
    directory = _own_packs(app)
    if args.cli:
        return load_pack(args.cli, directory)
    if args.command:
        return pack_for_command(args.command, directory)
    raise InvalidUsageError("it is not said whose screen this is", "name its CLI: --cli claude")


def _own_packs(app: App) -> str:
    try:
        return root_of(app).packs
    except RootMissingError:
        return ""


def _captured(file: str) -> str:
    """The screen; bytes that are no text become marks, as a terminal shows them."""
    if file == "-":
        return sys.stdin.buffer.read(MOST_BYTES).decode("utf-8", "replace")
    path = Path(os.path.expanduser(file))
    if not path.is_file():
        raise LlmcError(f"there is no file {file}", "check the path, or say - for standard input")
    with path.open("rb") as content:
        return content.read(MOST_BYTES).decode("utf-8", "replace")


def _text(reading: ScreenReading) -> str:
    says = reading.says
    lines = [f"{reading.state}{f' ({reading.detail})' if reading.detail else ''}: {says['summary']}"]
    if reading.cue:
        lines.append(f"cue         {reading.cue} of {says['pack']}, confidence {reading.confidence:.2f}")
    if reading.others:
        lines.append(f"also holds  {', '.join(reading.others)}")
    lines += [f"to do       {action}" for action in says["actions_needed"]]
    return "\n".join(lines)
