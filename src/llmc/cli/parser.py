"""The words of the command line. Builds arguments only; what they do is in `commands/`."""

from __future__ import annotations

import sys
from argparse import SUPPRESS, ArgumentParser, RawDescriptionHelpFormatter, _SubParsersAction

from llmc import __version__
from llmc.cli.words import COMMANDS, Command, Word, some_path
from llmc.core.display import one_line

EXIT_CODES = (
    "exit codes: 0 done, 1 expected failure, 2 wrong words, 3 a bug in LLMC, 4 delivery unknown, 130 interrupted"
)


class Parser(ArgumentParser):
    """Says what is wrong and what to do, in the same form as every other failure."""

    def error(self, message: str) -> None:  # type: ignore[override]
        sys.stderr.write(f"error: {one_line(message, 300)}\nhint: `{self.prog} --help` shows what can be said here\n")
        sys.exit(2)


def make_parser(prog: str = "llmc") -> ArgumentParser:
    parser = Parser(
        prog=prog,
        description="Runs many coding agents side by side, each in its own worktree and terminal,\n"
        "and turns their finished work into one clean commit after your review.",
        epilog=f"example:\n  llmc demo\n\n{EXIT_CODES}",
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--root", metavar="DIR", type=some_path, help="the LLMC root (else LLMC_ROOT, the one around you, ~/llmc)"
    )
    parser.add_argument("--version", action="version", version=f"llmc {__version__}", help="show the version")
    verbs = parser.add_subparsers(metavar="COMMAND", title="commands", required=True, parser_class=Parser)
    for command in COMMANDS:
        _add(verbs, command)
    return parser


def _add(verbs: _SubParsersAction[Parser], command: Command, group: str = "") -> None:
    parser = verbs.add_parser(
        command.name,
        help=command.summary,
        description=command.summary,
        epilog="example:\n" + "\n".join(f"  {line}" for line in command.examples),
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.set_defaults(verb=group + command.name)
    parser.add_argument("--root", metavar="DIR", type=some_path, default=SUPPRESS, help=SUPPRESS)
    if command.answers:
        parser.add_argument("--json", action="store_true", help="answer as JSON")
    for word in command.words:
        _add_word(parser, word)
    if command.parts:
        parts = parser.add_subparsers(metavar="COMMAND", title="commands", required=True, parser_class=Parser)
        for part in command.parts:
            _add(parts, part, f"{command.name}_")


def _add_word(parser: ArgumentParser, word: Word) -> None:
    parser.add_argument(*word.names, **word.options)
