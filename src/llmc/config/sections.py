"""Every option of `config.toml`: what it takes, its default, and what it means."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from llmc.config.schema import option, required, rows
from llmc.config.text_checks import (
    inner_glob,
    one_full_line,
    one_line,
    one_word,
    quick_expression,
    web_address,
    web_address_or_nothing,
)
from llmc.config.value_types import Choice, Files, Flag, Place, Seconds, Text, Variables, Whole, Words
from llmc.core.names import is_branch_name
from llmc.model import Autonomy
from llmc.values import dataclass

CLI_AGENTS = (
    *("claude", "codex", "gemini", "opencode"),
    *("qwen", "copilot", "kimi", "kilo", "pi", "cline", "aider"),
)
"""Those that are programs of their own, under the same name."""
BUILT_IN_AGENTS = (*CLI_AGENTS, "shell", "demo")

DIALOGS = ("permission", "question")
"""The dialogs that say in a line what they ask for. A plan is for a person to read."""

_FLAG = Flag()
_LINE = "a single line of text without control characters"
_AGENT = Text('"claude"', "the name of an agent", one_word)
_MODEL = Text(
    '"opus"', "the name of a model, or empty to let the agent choose", lambda text: not text or one_word(text)
)
_ROLE = Text('"You care about simple code."')
_TOOLS = Words('["Read", "Bash(git status)"]')
READING_TOOLS = ("Read", "Glob", "Grep")
"""What looks and changes nothing, by the names that Claude Code has for it."""
_AUTONOMY = Choice(Autonomy)
_WHAT_AUTONOMY_MEANS = (
    "what LLMC may do unasked: `manual` shows problems and never acts; `assist` also moves a worker that waits for you "
    "to `needs_input` and notifies; `auto` also recovers: resends, restarts, nudges, helps with conflicts"
)
_INHERITED = "as in `[defaults]`"
_BUILT_IN = "the built-in agent's"


@dataclass(frozen=True, slots=True)
class Defaults:
    agent: str = option(_AGENT, "claude", "the agent that workers run")
    model: str | None = option(
        _MODEL,
        None,
        "the model of the workers that run `defaults.agent`; `llmc init` writes `opus` for claude",
        "the agent chooses",
    )
    skip_permissions: bool = option(
        _FLAG, True, "start agents so that they do not ask; `false`: they ask before they run a command or write a file"
    )
    allowed_tools: tuple[str, ...] = option(
        _TOOLS,
        READING_TOOLS,
        "with `skip_permissions = false`, what `claude` may use without asking; other agents have no such list",
    )
    patrol_interval_secs: float = option(
        Seconds("60"), 60, "time between two patrols; a safety net, since changes are noticed by events"
    )
    sound_on_review: bool = option(_FLAG, True, "ring the bell when work needs review")
    role_prompt: str = option(_ROLE, "", "what every worker is told about its role")
    terminal_width: int = option(
        Whole(20, 10_000, "500"), 500, "columns of a worker's terminal while nobody is attached to it"
    )
    terminal_height: int = option(
        Whole(5, 10_000, "100"), 100, "rows of a worker's terminal while nobody is attached to it"
    )


@dataclass(frozen=True, slots=True)
class Repo:
    source: str = required(
        Place('"~/code/project"'), "the repository that accepted work goes to; `~/` is your home directory"
    )
    branch: str = required(
        Text('"main"', "a branch name that git accepts", is_branch_name),
        "the branch that workers start from and that accepted work moves forward; `llmc init` finds it",
    )
    validate: tuple[str, ...] = option(
        Words('["make check"]'), (), "commands that must succeed before work is accepted, run in the worktree in order"
    )
    validate_timeout_secs: float = option(Seconds("600"), 600, "time that each of these commands may take")
    copy: tuple[str, ...] = option(
        Words(
            '[".env", "data/*.csv"]',
            "a list of globs relative to the repository, without `..`",
            inner_glob,
            word="list of globs",
        ),
        (),
        "files that git ignores and that every worktree needs a copy of",
    )


@dataclass(frozen=True, slots=True)
class AutoConfirm:
    agent: str = required(_AGENT, "the agent whose dialogs are meant")
    kind: str = required(
        Text('"permission"', "one of " + ", ".join(f'"{one}"' for one in DIALOGS), lambda text: text in DIALOGS),
        "the dialogs that are meant: " + ", ".join(f"`{one}`" for one in DIALOGS),
    )
    pattern: str = required(
        Text('"git (status|diff)"', "a regular expression that is not empty and cannot take long", quick_expression),
        "a regular expression that must match the whole command, or the whole question",
    )


@dataclass(frozen=True, slots=True)
class Policy:
    autonomy: Autonomy = option(_AUTONOMY, Autonomy.MANUAL, _WHAT_AUTONOMY_MEANS)
    commit_grace_secs: float = option(
        Seconds("30", zero=True),
        30,
        "how long after a commit an agent without events counts as done, if its screen never went quiet",
    )
    crash_limit: int = option(Whole(0, 1000, "3"), 3, "crashes after which a worker is not restarted any more")
    restart_backoff_secs: float = option(
        Seconds("5", zero=True), 5, "wait before a crashed agent is restarted; twice as long after each crash"
    )
    rate_limit_wait_secs: float = option(
        Seconds("300"), 300, "wait after a rate limit, where the agent does not say when it ends"
    )
    quiet_after_secs: float = option(
        Seconds("60"), 60, "time without reports after which the screen of a working agent is read as well"
    )
    input_wait_secs: float = option(
        Seconds("15"), 15, "time that a text waits for the agent's input line, above all for a draft of yours in it"
    )
    nudge_after_secs: float = option(
        Seconds("1800"), 1800, "time without activity after which a working agent is asked how it goes"
    )
    second_nudge_after_secs: float = option(
        Seconds("2400"), 2400, "time without activity after which it is asked again"
    )
    escalate_after_secs: float = option(
        Seconds("2700"), 2700, "time without activity after which the worker needs input"
    )
    rebase_help_after_secs: float = option(Seconds("120"), 120, "time in a conflict after which the agent is sent help")
    rebase_escalate_after_secs: float = option(Seconds("300"), 300, "time in a conflict after which the user is called")
    conflict_attempts: int = option(
        Whole(0, 1000, "3"), 3, "times that an agent is asked to resolve the same conflict before the user is called"
    )
    crash_count_reset_secs: float = option(
        Seconds("86400"), 86_400, "time without a crash after which earlier crashes are forgotten"
    )
    auto_confirm: tuple[AutoConfirm, ...] = rows(
        AutoConfirm,
        '[{ agent = "claude", kind = "permission", pattern = "git status" }]',
        "dialogs that LLMC may confirm unasked; without a match it never does",
    )


@dataclass(frozen=True, slots=True)
class Backup:
    keep_days: int = option(Whole(1, 36_500, "30"), 30, "days that a backup is kept")
    keep_count: int = option(
        Whole(1, 100_000, "50"), 50, "how many backups of a worker, newest first, are kept even when they are older"
    )


@dataclass(frozen=True, slots=True)
class Notify:
    bell: bool = option(_FLAG, True, "ring the terminal's bell")
    tmux_message: bool = option(_FLAG, True, "show a message in the tmux clients that are attached")
    desktop: bool = option(_FLAG, False, "show a desktop notification, where the system has them")
    command: str = option(Text('"say done"', _LINE, one_line), "", 'a shell command to run; `""` for none')
    webhook: str = option(
        Text('"https://example.org/hook"', "an http or https address, or empty", web_address_or_nothing),
        "",
        'an address to post to; `""` for none',
    )


@dataclass(frozen=True, slots=True)
class Classifier:
    model: str = option(
        _MODEL, "", 'the model that is asked about screens that no pack knows; `""` asks none: nothing leaves'
    )
    base_url: str = option(
        Text('"https://openrouter.ai/api/v1"', "an http or https address", web_address),
        "https://openrouter.ai/api/v1",
        "an endpoint that speaks as OpenAI's does; without the `/chat/completions`",
    )
    key_variable: str = option(
        Text('"OPENROUTER_API_KEY"', "the name of a variable", one_word),
        "OPENROUTER_API_KEY",
        "the variable that holds the key, in the environment or in the root's `.env`; without it none is asked",
    )
    timeout_secs: float = option(Seconds("20"), 20, "time that one request may take")
    max_per_hour: int = option(Whole(1, 100_000, "60"), 60, "requests in an hour, further tries included")


@dataclass(frozen=True, slots=True)
class Log:
    max_bytes: int = option(
        Whole(1000, 10**12, "5000000"), 5_000_000, "size at which a log file is put aside and a new one begun"
    )
    keep: int = option(Whole(0, 1000, "3"), 3, "how many log files that were put aside are kept")


@dataclass(frozen=True, slots=True)
class WorkerOptions:
    """What `[workers.NAME]` says. None: the worker does as the defaults say."""

    agent: str | None = option(_AGENT, None, "the agent that `llmc add NAME` gives this worker", _INHERITED)
    model: str | None = option(
        _MODEL, None, 'its model; `""` lets the agent choose', "as in `[defaults]`, if the agent is the same"
    )
    role_prompt: str | None = option(_ROLE, None, "what this worker is told about its role", _INHERITED)
    excluded_from_pool: bool = option(_FLAG, False, "only gets the tasks that name it")
    skip_permissions: bool | None = option(_FLAG, None, "start it so that it does not ask for permissions", _INHERITED)
    allowed_tools: tuple[str, ...] | None = option(_TOOLS, None, "the tools that it may use without asking", _INHERITED)
    autonomy: Autonomy | None = option(_AUTONOMY, None, "what LLMC may do unasked", "as in `[policy]`")


@dataclass(frozen=True, slots=True)
class AgentOptions:
    """What `[agents.NAME]` says. None: as the built-in agent has it, or the plain default for a new one."""

    command: tuple[str, ...] | None = option(
        Words('["mytool", "--interactive"]', "a list of strings that begins with a program", at_least=1),
        None,
        "the program of the terminal with its arguments",
        f"{_BUILT_IN}; required for a new agent",
    )
    env: Mapping[str, str] = option(
        Variables(), MappingProxyType({}), "environment variables to add to those that the agent gets anyway"
    )
    files: Mapping[str, str] = option(
        Files(),
        MappingProxyType({}),
        "files to write before each start, named from the worker's directory `{settings}`",
    )
    skip_permissions_args: tuple[str, ...] = option(
        Words('["--yolo"]'), (), "arguments to add with `skip_permissions = true`"
    )
    ask_args: tuple[str, ...] = option(
        Words('["--approval", "always"]'), (), "arguments to add with `skip_permissions = false`"
    )
    model_args: tuple[str, ...] = option(
        Words('["--model", "{model}"]'), (), "arguments to add where the settings name a model"
    )
    own_files: tuple[str, ...] | None = option(
        Words('[".mytool*"]', "a list of globs without `..`", inner_glob, word="list of globs"),
        None,
        "files that the agent writes into the worktree for itself; git ignores them in every worktree of this root",
        f"{_BUILT_IN}; `[]` for a new agent",
    )
    clear: str | None = option(
        Text('"/clear"', _LINE, one_line),
        None,
        'what is typed to clear the conversation; `""` for none',
        f'{_BUILT_IN}; `""` for a new agent',
    )
    submit: str | None = option(
        Text('"Enter"', "the name of a key, as tmux has it", one_word),
        None,
        "the key that submits the text",
        f'{_BUILT_IN}; `"Enter"` for a new agent',
    )
    interrupt: tuple[str, ...] | None = option(
        Words('["Escape"]', "a list of names of keys, as tmux has them", at_least=1),
        None,
        "the keys that end a running turn, one after the other",
        f'{_BUILT_IN}; `["Escape"]` for a new agent',
    )
    pack: str | None = option(
        Text('"claude"', "the name of a pack, or the path of a pack file", one_full_line),
        None,
        "the screen patterns: the name of a pack in `ROOT/packs` or of a built-in one, or the path of a pack file",
        f'{_BUILT_IN}; `"generic"` for a new agent',
    )
    events: bool | None = option(
        _FLAG,
        None,
        "whether the agent drops event files into `$LLMC_SPOOL`",
        f"{_BUILT_IN}; `false` for a new agent",
    )
    ready_timeout_secs: float = option(Seconds("120"), 120, "time that the agent may take until it is ready for input")
