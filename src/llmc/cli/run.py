"""Runs one command: words to arguments, arguments to a result, a result to the terminal."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from importlib import import_module

from llmc.cli.failures import tell
from llmc.cli.parser import make_parser
from llmc.cli.render import Terminal, show_result
from llmc.commands.shared.result import Result
from llmc.errors import WrongWordsError
from llmc.root import here

NAMES = ("llmc", "conductor")
"""What the program is installed as."""
FIRST = "`llmc demo` shows the whole story, `llmc init` begins with your repository, `llmc --help` lists all commands"


def run(argv: list[str]) -> int:
    try:
        if not argv:
            raise WrongWordsError("no command was given", FIRST)
        args = make_parser(_own_name()).parse_args(argv)
        return show_result(_result(args), want_json=_has(args, "json"))
    except (Exception, KeyboardInterrupt, SystemExit) as failure:
        return tell(failure)


def _own_name() -> str:
    name = os.path.basename(sys.argv[0])
    return name if name in NAMES else NAMES[0]


def _result(args: Namespace) -> Result:
    if args.verb == "completion":
        from llmc.cli.completion import make_script

        return Result(make_script(args.shell))
    module = import_module(f"llmc.commands.{args.verb}")
    from llmc.app import App

    console = Terminal(want_json=_has(args, "json"), assume_yes=_has(args, "yes"))
    result: Result = module.run(App(args.root, os.environ, here(), console), args)
    return result


def _has(args: Namespace, flag: str) -> bool:
    return bool(getattr(args, flag, False))
