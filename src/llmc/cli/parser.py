"""The words of the command line. Builds arguments only; what they do is in `commands/`."""

from __future__ import annotations

import os
import sys
from argparse import SUPPRESS, Action, ArgumentParser, RawDescriptionHelpFormatter, _SubParsersAction

from llmc import __version__
from llmc.cli.arguments import goes_on, some_flags, some_path
from llmc.cli.command_table import COMMANDS
from llmc.cli.machine_command_table import REMOTE_COMMANDS
from llmc.host import terminal_columns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from typing import Any, NoReturn

    from llmc.cli.command import Command

EXIT_CODES = (
    "exit codes: 0 done, 1 expected failure, 2 invalid usage, 3 a bug in LLMC, 4 delivery unknown, 130 interrupted"
)
FIRST_STEPS = """\
example:
  llmc demo                               a whole session, with no account
  cd ~/code/shop; llmc init               a root for your repository: ~/llmc
  llmc add adam --agent claude            a worker
  llmc up --detach                        brings the workers up
  llmc start --prompt "Add a login page"  a task for whoever is idle
  llmc status                             who is doing what
  llmc review; llmc accept                one commit on your branch

`llmc COMMAND --help` explains each, with examples."""
COLUMNS = 79


MEANT = {
    "approve": "accept",
    "land": "accept",
    "merge": "accept",
    "list": "status",
    "ls": "status",
    "ps": "status",
    "create": "add",
    "new": "add",
    "spawn": "add",
    "delete": "nuke",
    "kill": "nuke",
    "remove": "nuke",
    "rm": "nuke",
    "diff": "review",
    "show": "review",
    "queue": "task",
    "tasks": "task",
    "prompt": "message",
    "say": "message",
    "send": "message",
    "cancel": "interrupt",
    "stop": "interrupt",
    "deny": "reject",
    "log": "logs",
    "open": "attach",
    "settings": "config",
    "check": "doctor",
    "history": "events",
    "restore": "undo",
    "quit": "down",
    "shutdown": "down",
    "sync": "rebase",
    "update": "rebase",
}
"""The words that other tools have for the same."""


class Help(RawDescriptionHelpFormatter):
    """With room for the longest command's name, which argparse does not count."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_columns() - 2)
        self._action_max_length = max(len(command.name) for command in COMMANDS) + 4


def _columns() -> int:
    """As argparse has it, whose own way loads `shutil` with every kind of compression."""
    wanted = os.environ.get("COLUMNS", "")
    return (int(wanted) if wanted.isdecimal() else 0) or terminal_columns() or 80


class Parser(ArgumentParser):
    """Says what is wrong and what to do, in the same form as every other failure."""

    def error(self, message: str) -> NoReturn:
        self._refuse(message, f"`{self.prog} --help` shows what can be said here")

    def _check_value(self, action: Action, value: str) -> None:
        """A command that does not exist was most often mistyped: the list of all others would only hide that."""
        if isinstance(action, _SubParsersAction) and value not in action.choices:
            self._refuse(f"there is no command {value!r}", self._advice(value, action.choices))
        super()._check_value(action, value)

    def _advice(self, word: str, known: Collection[str]) -> str:
        import re

        from llmc.core.names import nearest_word

        usual = MEANT.get(word, "")
        meant = usual if usual in tuple(known) else nearest_word(word, known)
        if re.fullmatch(r"t\d+", word) and "show" in known:
            meant = f"show {word}"
        guess = f"did you mean `{self.prog} {meant}`? " if meant else ""
        return f"{guess}`{self.prog} --help` lists the commands"

    def _refuse(self, what: str, hint: str) -> NoReturn:
        from llmc.core.display import one_line

        sys.stderr.write(f"error: {one_line(what, 300)}\nhint: {one_line(hint, 300)}\n")
        sys.exit(2)


class CommandParser(Parser):
    """Of one command. It is filled when its command is the one that was typed: all others are only listed."""

    def __init__(self, command: Command, group: str, **options: Any) -> None:  # noqa: ANN401 - handed on
        self._command, self._group, self._options = command, group, options

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:  # noqa: ANN401
        command = self._command
        super().__init__(formatter_class=Help, **self._options)
        verb = (self._group + command.name).replace("-", "_")
        self.set_defaults(verb=verb, looks=command.looks, home=command.home or f"llmc.commands.{verb}")
        if command.guests:
            self.set_defaults(guests=command.guests)
        self.add_argument("--root", metavar="DIR", type=some_path, default=SUPPRESS, help=SUPPRESS)
        if command.answers:
            self.add_argument("--json", action="store_true", help="answer as JSON")
        for word in command.words:
            self.add_argument(*word.names, **word.options)
        if command.parts is not None:
            _list_commands(self, command.parts(), f"{command.name}_")
            return super().parse_known_args(self._part_first(list(args)), namespace)
        return super().parse_known_args(self._flags_first(list(args)), namespace)

    def _part_first(self, words: list[str]) -> list[str]:
        """`llmc task --all` means `llmc task list --all`, and `llmc --json task list` what it says."""
        usual, parts = self._command.usual_part, self._command.parts() if self._command.parts is not None else ()
        at = next((at for at, word in enumerate(words) if not word.startswith("-")), len(words))
        if {"-h", "--help"} & set(words[:at]) or (at == 0 and words):
            return words
        if words[at : at + 1] and words[at] in {part.name for part in parts}:
            return [words[at], *words[:at], *words[at + 1 :]]
        return [usual, *words] if usual else words

    def _flags_first(self, words: list[str]) -> list[str]:
        """argparse gives up on a word that may be left out as soon as a flag stands before it."""
        flags: list[str] = []
        others: list[str] = []
        while words:
            word = words.pop(0)
            if word == "--":
                return [*flags, *others, word, *words]
            action = self._option_string_actions.get(word.partition("=")[0])
            is_flag = action is not None or (word.startswith("-") and not _is_text(word))
            (flags if is_flag else others).append(word)
            if action is not None and action.nargs is None and "=" not in word and words:
                if action.type is some_flags:  # argparse would take `--time=30` for an option of ours
                    flags[-1] += f"={words.pop(0)}"
                    continue
                flags.append(words.pop(0))
                while words and goes_on(action.type, words[0]):
                    flags += [word, words.pop(0)]
        return [*flags, *others]

    def format_help(self) -> str:
        """Only here is it worked out what there is to tell: most people who type a command want it to run."""
        from textwrap import fill

        command = self._command
        parts = command.about.split("\n\n")
        about = (part if part.startswith("  ") else fill(part, COLUMNS) for part in parts)  # samples stay as they are
        self.description = "\n\n".join(filter(None, (command.summary, *about)))
        codes, examples = (_indented(lines) for lines in (("0 done", *command.codes), command.examples))
        self.epilog = f"exit codes:\n{codes}\n\nexample:\n{examples}"
        return super().format_help()


def _is_text(word: str) -> bool:
    """Of one that begins as a flag does: standard input, a sentence, a number."""
    return word == "-" or " " in word or word[1:].replace(".", "", 1).isdecimal()


def make_parser(prog: str = "llmc") -> ArgumentParser:
    parser = Parser(
        prog=prog,
        description="Runs many coding agents side by side, each in its own worktree and terminal,\n"
        "and turns their finished work into one clean commit after your review.",
        epilog=f"{FIRST_STEPS}\n\n{EXIT_CODES}",
        formatter_class=Help,
    )
    parser.add_argument(
        "--root",
        metavar="DIR",
        type=some_path,
        help="the LLMC root (else LLMC_ROOT, the one around you, that of the repository around you, ~/llmc)",
    )
    parser.add_argument("--version", action="version", version=f"llmc {__version__}", help="show the version")
    _list_commands(parser, (*COMMANDS, *REMOTE_COMMANDS))
    return parser


def _list_commands(parser: Parser, commands: Iterable[Command], group: str = "") -> None:
    verbs = parser.add_subparsers(metavar="COMMAND", title="commands", required=True, parser_class=CommandParser)
    for command in commands:
        if command.hidden:
            verbs.add_parser(command.name, command=command, group=group)
        else:
            verbs.add_parser(command.name, help=command.summary, command=command, group=group)


def _indented(lines: tuple[str, ...]) -> str:
    return "\n".join(f"  {line}" for line in lines)
