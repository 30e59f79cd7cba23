"""Runs one command: words to arguments, arguments to a result, a result to the terminal."""

from __future__ import annotations

import os
from importlib import import_module

from llmc.cli.failures import report, report_bug, report_interrupt, report_os_error
from llmc.cli.parser import make_parser
from llmc.cli.render import Terminal, show_result
from llmc.commands.result import Result
from llmc.errors import LlmcError


def run(argv: list[str]) -> int:
    args = make_parser().parse_args(argv)
    want_json = bool(getattr(args, "json", False))
    try:
        if args.verb == "completion":
            from llmc.cli.completion import make_script

            return show_result(Result(make_script(args.shell)), want_json=False)
        module = import_module(f"llmc.commands.{args.verb}")
        from llmc.app import App

        console = Terminal(want_json=want_json, assume_yes=bool(getattr(args, "yes", False)))
        result = module.run(App(args.root, os.environ, os.getcwd(), console), args)
        return show_result(result, want_json=want_json)
    except LlmcError as failure:
        return report(failure)
    except BrokenPipeError:
        return 0
    except OSError as failure:
        return report_os_error(failure)
    except KeyboardInterrupt:
        return report_interrupt()
    except Exception as bug:
        return report_bug(bug)
