"""A reach: the words before a command that make it run on another machine, with its standard input and output."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from typing import Protocol

from llmc.config.machine_settings import MachineOptions
from llmc.errors import InvalidUsageError, LlmcError
from llmc.fleet.known import UNREACHABLE
from llmc.values import Value

_SHELL_WITH_C = re.compile(r"-[a-z]*c")
BEGINS = "llmc-begins-here"
_INTERACTIVE = ("kubectl", "docker", "podman", "nerdctl")


class UnreachableError(LlmcError):
    """The machine does not answer. `was_sent`: it may have heard the question, and carried it out."""

    def __init__(self, what: str, hint: str = "", *, was_sent: bool = False, state: str = UNREACHABLE) -> None:
        super().__init__(what, hint)
        self.was_sent = was_sent
        self.state = state


class Reach(Protocol):
    @property
    def words(self) -> str:
        """As people know it: `ssh box`."""

    def argv(self, command: str, *, terminal: bool = False) -> list[str]:
        """A program with its arguments that has a shell over there run the command.

        With `terminal` it is for a person at a terminal, else for a program at pipes.
        """

    @property
    def keeps_processes(self) -> bool:
        """Whether what a command starts in the background over there goes on when the command is over."""

    def state_after(self, complaint: str) -> str:
        """What the machine is, after it could not be reached and this was said."""


class CommandReach(Value):
    """Any program that runs what is put behind it: `kubectl exec -i POD --`, `docker exec -i NAME`."""

    prefix: tuple[str, ...]

    @property
    def words(self) -> str:
        return shlex.join(self.prefix)

    @property
    def keeps_processes(self) -> bool:
        return True

    def state_after(self, complaint: str) -> str:
        return UNREACHABLE

    def argv(self, command: str, *, terminal: bool = False) -> list[str]:
        prefix = _with_terminal(self.prefix) if terminal else self.prefix
        is_shell = len(prefix) > 1 and prefix[-2].endswith("sh") and _SHELL_WITH_C.fullmatch(prefix[-1])
        return [*prefix, *(() if is_shell else ("sh", "-c")), command]


def _with_terminal(prefix: Sequence[str]) -> list[str]:
    """Containers have no terminal unless one is asked for."""
    if os.path.basename(prefix[0]) not in _INTERACTIVE:
        return list(prefix)
    return ["-it" if word == "-i" else word for word in prefix]


def command_reach(text: str) -> CommandReach:
    try:
        words = tuple(shlex.split(text))
    except ValueError as wrong:
        raise InvalidUsageError(f"invalid command {text!r}: {wrong}", "quote it as for a shell") from None
    if not words:
        raise InvalidUsageError("the command is empty", "name the program that runs things on the machine")
    return CommandReach(words)


def reach_of(options: MachineOptions, private: str, job: str = "") -> Reach:
    """`private`: a directory of ours for what the reach has to keep. `job`: the allocation, where it is one."""
    if options.command:
        return command_reach(options.command)
    if options.ssh:
        from llmc.fleet.ssh import SshReach

        return SshReach(options.ssh, private)
    if options.slurm:
        from llmc.fleet.slurm import SlurmReach

        return SlurmReach(options.slurm, job)
    raise LlmcError("the settings do not say how the machine is reached", "set ssh, slurm or command in [machines]")


def announced(command: str) -> str:
    """A login shell may print whatever it likes before: what the command says begins after a line of ours."""
    return f"printf '\\n%s\\n' {BEGINS}; {command}"


def without_banner(out: bytes) -> bytes:
    _, begun, said = out.partition(f"\n{BEGINS}\n".encode())
    return said if begun else out


def shell_word(path: str) -> str:
    """For the shell over there, whose home `~/` is."""
    return f"~/{shlex.quote(path[2:])}" if path.startswith("~/") and len(path) > 2 else shlex.quote(path)
