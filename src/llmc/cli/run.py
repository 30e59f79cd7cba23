"""Runs one command: words to arguments, arguments to a result, a result to the terminal."""

from __future__ import annotations

import gc
import os
import sys
from argparse import Namespace

from llmc.cli.parser import make_parser

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from llmc.app import App
    from llmc.commands.shared.result import Result

NAMES = ("llmc", "conductor")
"""What the program is installed as."""
CHANGING = ("set", "drop", "pause", "resume")
"""Actions of commands that otherwise only look."""
FIRST = "`llmc demo` plays a whole session, `llmc init` begins with your repository, `llmc --help` lists all commands"


def run(argv: list[str]) -> int:
    """Whoever only asks for help does not wait for what results and failures need: they are imported late."""
    try:
        if not argv:
            from llmc.errors import InvalidUsageError

            raise InvalidUsageError("no command was given", FIRST)
        args = make_parser(_own_name()).parse_args(_command_first(argv))
        from llmc.cli.render import show_result

        return show_result(_result(args), want_json=_has(args, "json"), given_root=_root_to_name(args))
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 0
    except (Exception, KeyboardInterrupt) as failure:
        from llmc.cli.failures import tell
        from llmc.cli.own_words import given_root

        return tell(failure, given_root(argv))


def _root_to_name(args: Namespace) -> str | None:
    from llmc.cli.own_words import QUOTE_OTHERS

    names_its_own = args.verb == "status" and args.all
    return None if names_its_own or args.verb in QUOTE_OTHERS else args.root


def _command_first(argv: list[str]) -> list[str]:
    """`llmc --json status` means `llmc status --json`: only `--root` has a value of its own before the command."""
    ours: list[str] = []
    flags: list[str] = []
    rest = list(argv)
    while rest and rest[0].startswith("-") and rest[0] not in ("-h", "--help", "--version", "--"):
        word = rest.pop(0)
        if word == "--root" and rest:
            ours += [word, rest.pop(0)]
        else:
            (ours if word.startswith("--root") else flags).append(word)
    return [*ours, *rest[:1], *flags, *rest[1:]] if rest else argv


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
    from llmc.roots import here

    module = import_module(args.home)
    gc.enable()
    console = ConsoleTerminal(want_json=_has(args, "json"), assume_yes=_has(args, "yes"), given_root=args.root)
    app = App(args.root, os.environ, here(), console)
    if _changes_something(args):
        from llmc.commands.shared.meant_root import require_meant_root

        require_meant_root(app)
    try:
        result: Result = _routed(app, args, module.run) or module.run(app, args)
    finally:
        console.done()
    return result


def _routed(app: App, args: Namespace, here: Callable[[App, Namespace], Result]) -> Result | None:
    """Of commands about workers, those whose workers are on other machines."""
    from llmc.cli.own_words import ROUTED

    if args.verb not in ROUTED or not os.path.exists(app.root().machines):
        return None
    from llmc.commands.shared.routing import routed

    return routed(app, args, here)


def _changes_something(args: Namespace) -> bool:
    if args.verb.startswith("pty_") or _has(args, "list") or _has(args, "dry_run"):
        return False  # terminals belong to no repository, and these only look
    return not args.looks or _has(args, "repair") or _has(args, "rebuild") or getattr(args, "action", "") in CHANGING


def _has(args: Namespace, flag: str) -> bool:
    return bool(getattr(args, flag, False))
