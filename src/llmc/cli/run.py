"""Runs one command: words to arguments, arguments to a result, a result to the terminal."""

from __future__ import annotations

import gc
import os
import sys
from argparse import Namespace

from llmc.cli.parser import make_parser

TYPE_CHECKING = False
if TYPE_CHECKING:
    from llmc.commands.shared.result import Result

NAMES = ("llmc", "conductor")
"""What the program is installed as."""
FIRST = "`llmc demo` shows the whole story, `llmc init` begins with your repository, `llmc --help` lists all commands"


def run(argv: list[str]) -> int:
    """Whoever only asks for help does not wait for what results and failures need: they are imported late."""
    try:
        if not argv:
            from llmc.errors import InvalidUsageError

            raise InvalidUsageError("no command was given", FIRST)
        args = make_parser(_own_name()).parse_args(argv)
        from llmc.cli.render import show_result

        return show_result(_result(args), want_json=_has(args, "json"))
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 0
    except (Exception, KeyboardInterrupt) as failure:
        from llmc.cli.failures import tell

        return tell(failure)


def _own_name() -> str:
    name = os.path.basename(sys.argv[0])
    return name if name in NAMES else NAMES[0]


def _result(args: Namespace) -> Result:
    from llmc.commands.shared.result import Result

    if args.verb == "completion":
        from llmc.cli.completion import make_script

        return Result(make_script(args.shell))
    from importlib import import_module

    from llmc.app import App
    from llmc.cli.render import ConsoleTerminal
    from llmc.root import here

    module = import_module(f"llmc.commands.{args.verb}")
    gc.enable()
    console = ConsoleTerminal(want_json=_has(args, "json"), assume_yes=_has(args, "yes"))
    result: Result = module.run(App(args.root, os.environ, here(), console), args)
    return result


def _has(args: Namespace, flag: str) -> bool:
    return bool(getattr(args, flag, False))
