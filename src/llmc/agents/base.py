"""What LLMC knows of an agent CLI: how it is started, typed into, cleared, and how it reports."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from types import MappingProxyType

from llmc.agents.reports import Report, read_report
from llmc.agents.transcripts import Transcripts
from llmc.agents.usage_files import UsageFiles
from llmc.core.program import UNASKED, InstalledProgram
from llmc.core.screen.classify import Pack
from llmc.values import Value


class LaunchOrder(Value):
    """What one worker wants of its agent."""

    worker: str
    worktree: str
    repository: str
    """The directory of the repository that the worktree belongs to."""
    home: str
    """The person's."""
    settings_dir: str
    """A directory of this worker's own, outside the worktree, for files that the CLI reads."""
    model: str | None = None
    role_prompt: str = ""
    skip_permissions: bool | None = True
    """False: it asks before it runs a command or writes. None: as the person's own settings have it."""
    allowed_tools: tuple[str, ...] = ()
    """What it may use without asking, where it is to ask for the rest."""
    resume: str = ""
    """The agent's own name of the conversation that it is to take up again."""
    spool: str = ""
    """The directory that its reports go to."""
    delegates: bool = False
    """It is to have the tools of LLMC, by which it delegates tasks."""
    program: InstalledProgram = UNASKED
    """What the program that will be started says of itself."""


class Launch(Value):
    """The pane's process, its environment, and the files to write first."""

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    files: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    links: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Symbolic links to make first, by path, with where they lead."""
    left_out: tuple[str, ...] = ()
    """Options that the installed program does not know, each with what is lost by that."""


class Agent(Value):
    name: str
    launch: Callable[[LaunchOrder], Launch]
    pack: Pack
    install: str = ""
    """The command that installs its program, for people; empty where nobody has told."""
    screen_unknown: bool = False
    """Nobody has told how its screen looks, but it reports: where no input line is found, its reports alone count."""
    translate: Callable[[Mapping[str, object]], Report | None] = read_report
    """What an event file of this agent says."""
    own_commands: str = ""
    """Characters at the beginning of a text which the CLI takes as a command of its own."""
    shielded: str = ""
    """Those of them that are plain text after a space."""
    takes_prose: bool = True
    """Whether it reads what is sent to it. One that runs it gets the words of the person alone, and no others."""
    clear: str = "/clear"
    submit: str = "Enter"
    reports_events: bool = False
    """Whether it is started so that it drops event files into the spool."""
    reports_start: bool = False
    """Whether it reports that it is up before it is given anything to do: then events can be proven at once."""
    clear_report: tuple[str, str] | None = None
    """The kind and the words of what it reports once a conversation is cleared: what is typed before may get lost."""
    ready_timeout_secs: float = 120.0
    """Generous: on a machine that starts many at once a CLI may take a minute."""
    steady_secs: float = 0.8
    """How long its prompt must stay, where no report tells of its start: some draw a dialog over it later."""
    resumes: bool = False
    """Whether it can take up a conversation from before, which it names in its reports."""
    interrupt_keys: tuple[str, ...] = ("Escape",)
    """What ends a running turn: one after the other, with a look in between."""
    exit_keys: tuple[str, ...] = ("C-c",)
    """What asks the CLI to end by itself."""
    transcripts: Transcripts | None = None
    """Where it writes its conversations down, if it does so in files that can be read."""
    usage: UsageFiles | None = None
    """Where it writes down what its answers have cost, if it does so in files; others report it, or nobody knows."""
    own_files: tuple[str, ...] = ()
    """Globs of files that it writes into the worktree for itself: no work of the worker, and git is to ignore them."""
    takes_tools: bool = False
    """Whether it can be given tools of LLMC, as a supervisor needs them."""
    asked_for_help: tuple[str, ...] = ("",)
    """The sub-commands, `""` being the program itself, whose `--help` tells which of our options it knows."""


def program_of(agent: Agent) -> str:
    """The program that it is started with; empty when its settings name none."""
    order = LaunchOrder(worker=agent.name, worktree="/", repository="/", home="/", settings_dir="/")
    return next(iter(agent.launch(order).argv), "")
