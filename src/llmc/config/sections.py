"""Every option of `config.toml`: what it takes, its default, and what it means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from llmc.config.mcp_settings import KINDS, USUAL_KINDS
from llmc.config.sandbox_section import MODE as SANDBOX_MODE
from llmc.config.value_types import FILES, PLACE, VARIABLES, WORKER_VARIABLES, string, words
from llmc.core.lifecycle.policy import AGENT, AUTONOMY
from llmc.core.names import is_branch_name
from llmc.core.schema import FLAG, choice, whole
from llmc.core.setting import option, required, seconds
from llmc.core.text_checks import (
    inner_glob,
    one_full_line,
    one_line,
    one_word,
    one_word_or_nothing,
    web_address,
    web_address_or_nothing,
)
from llmc.model import Autonomy
from llmc.values import Value

CLI_AGENTS = (
    *("claude", "codex", "gemini", "opencode"),
    *("qwen", "copilot", "kimi", "kilo", "pi", "cline", "aider"),
)
"""Those that are programs of their own, under the same name."""
BUILT_IN_AGENTS = (*CLI_AGENTS, "shell", "demo")

_LINE = "a single line of text without control characters"
_MODEL = string(
    '"opus"', "the name of a model, or empty to let the agent choose", lambda text: not text or one_word(text)
)
_ROLE = string('"You care about simple code."')
_TOOLS = words('["Read", "Bash(git status)"]')
SUPERVISOR = "supervisor"
READING_TOOLS = ("Read", "Glob", "Grep")
"""What looks and changes nothing, by the names that Claude Code has for it."""
_INHERITED = "as in `[defaults]`"
_BUILT_IN = "the built-in agent's"


class Defaults(Value):
    agent: str = option(AGENT, "claude", "the agent that workers run")
    model: str | None = option(
        _MODEL,
        None,
        "the model of the workers that run `defaults.agent`; `llmc init` writes `opus` for claude",
        "the agent chooses",
    )
    skip_permissions: bool = option(
        FLAG, True, "start agents so that they do not ask; `false`: they ask before they run a command or write a file"
    )
    allowed_tools: tuple[str, ...] = option(
        _TOOLS,
        READING_TOOLS,
        "with `skip_permissions = false`, what `claude` may use without asking; other agents have no such list",
    )
    patrol_interval_secs: float = option(
        seconds("60"), 60, "time between two patrols; a safety net, since changes are noticed by events"
    )
    sound_on_review: bool = option(FLAG, True, "ring the bell when work needs review")
    role_prompt: str = option(_ROLE, "", "what every worker is told about its role")
    terminal_width: int = option(
        whole(20, 10_000, "500"), 500, "columns of a worker's terminal while nobody is attached to it"
    )
    terminal_height: int = option(
        whole(5, 10_000, "100"), 100, "rows of a worker's terminal while nobody is attached to it"
    )


class Repo(Value):
    source: str = required(PLACE, "the repository that accepted work goes to; `~/` is your home directory")
    branch: str = required(
        string('"main"', "a branch name that git accepts", is_branch_name),
        "the branch that workers start from and that accepted work moves forward; `llmc init` finds it",
    )
    validate: tuple[str, ...] = option(
        words('["make check"]'),
        (),
        "commands that must succeed before work is accepted, run in order on exactly what would land, in a worktree "
        "of LLMC's own",
    )
    validate_timeout_secs: float = option(seconds("600"), 600, "time that each of these commands may take")
    validate_on: str = option(
        string('"review"', "`accept` or `review`", lambda text: text in ("accept", "review")),
        "accept",
        "when they run: `accept` when you accept the work; `review` by the daemon, as soon as work needs review and "
        "each time that what would land of it changes",
    )
    validate_jobs: int = option(
        whole(1, 16, "2"), 2, "how many works may be checked side by side, each in a worktree of its own"
    )
    copy: tuple[str, ...] = option(
        words(
            '[".env", "data/*.csv"]',
            "a list of globs relative to the repository, without `..`",
            inner_glob,
            word="list of globs",
        ),
        (),
        "files that git ignores and that every worktree needs a copy of; as `.worktreeinclude`, which needs no setting",
    )
    setup: tuple[str, ...] = option(
        words('["npm ci"]'),
        (),
        "shell commands that are run one after the other in every new worktree, before its agent is started",
    )
    setup_timeout_secs: float = option(seconds("1800"), 1800, "time that each of these commands may take")
    submodules: bool = option(
        FLAG, False, "fill the submodules of every worktree, from your own checkout where that has their commits"
    )
    env: Mapping[str, str] = option(
        WORKER_VARIABLES,
        MappingProxyType({}),
        "environment variables of every worker's agent, of its `setup` and of `validate`",
    )
    ports: int = option(
        whole(0, 20, "2"),
        0,
        "how many free TCP ports each worker has to itself, as `LLMC_PORT`, `LLMC_PORT_2` and so on, beside `env`",
    )
    push: str = option(
        string('"origin"', "the name of a remote, or empty", one_word_or_nothing),
        "",
        'the remote to which the branch is pushed after every landing, never by force; `""` for none',
    )


class TaskSettings(Value):
    retries: int = option(
        whole(0, 100, "2"),
        1,
        "with `auto`, how often a task that came to nothing is given again, with what happened, before you are called",
    )


class BackupSettings(Value):
    keep_days: int = option(whole(1, 36_500, "30"), 30, "days that a backup is kept")
    keep_count: int = option(
        whole(1, 100_000, "50"), 50, "how many backups of a worker, newest first, are kept even when they are older"
    )


class NotifySettings(Value):
    bell: bool = option(FLAG, True, "ring the terminal's bell")
    tmux_message: bool = option(FLAG, True, "show a message in the tmux clients that are attached")
    desktop: bool = option(FLAG, False, "show a desktop notification, where the system has them")
    command: str = option(string('"say done"', _LINE, one_line), "", 'a shell command to run; `""` for none')
    webhook: str = option(
        string('"https://example.org/hook"', "an http or https address, or empty", web_address_or_nothing),
        "",
        'an address to post to; `""` for none',
    )
    format: str = option(
        replace(choice(("json", "slack", "discord", "ntfy")), example='"slack"', word="string"),
        "json",
        "how the notice is posted: as JSON of LLMC's own, or as that service wants it",
    )


class Classifier(Value):
    model: str = option(
        _MODEL, "", 'the model that is asked about screens that no pack knows; `""` asks none: nothing leaves'
    )
    base_url: str = option(
        string('"https://openrouter.ai/api/v1"', "an http or https address", web_address),
        "https://openrouter.ai/api/v1",
        "an endpoint that speaks as OpenAI's does; without the `/chat/completions`",
    )
    key_variable: str = option(
        string('"OPENROUTER_API_KEY"', "the name of a variable", one_word),
        "OPENROUTER_API_KEY",
        "the variable that holds the key, in the environment or in the root's `.env`; without it none is asked",
    )
    timeout_secs: float = option(seconds("20"), 20, "time that one request may take")
    max_per_hour: int = option(whole(1, 100_000, "60"), 60, "requests in an hour, further tries included")


class WebSettings(Value):
    port: int = option(
        whole(0, 65535, "8642"), 0, "the port of `llmc web`; 0: the one that it had last, else a free one"
    )
    host: str = option(
        string('"127.0.0.1"', "an address of this machine", one_word),
        "127.0.0.1",
        "the address that it listens on; any but this machine's own needs a certificate, or `--insecure`",
    )
    hosts: tuple[str, ...] = option(
        words('["board.example.org"]', "a list of host names, with a port where it is another one", one_word),
        (),
        "further names that it answers to, such as that of a proxy; `NAME:PORT` where the port is another one",
    )
    mcp_allow: tuple[str, ...] = option(
        KINDS, USUAL_KINDS, "the kinds of tools that MCP clients get at `/mcp`; with `--read-only` only `read`"
    )


class Log(Value):
    max_bytes: int = option(
        whole(1000, 10**12, "5000000"), 5_000_000, "size at which a log file is put aside and a new one begun"
    )
    keep: int = option(whole(0, 1000, "3"), 3, "how many log files that were put aside are kept")


class WorkerOptions(Value):
    """What `[workers.NAME]` says. None: the worker does as the defaults say."""

    agent: str | None = option(AGENT, None, "the agent that `llmc add NAME` gives this worker", _INHERITED)
    model: str | None = option(
        _MODEL, None, 'its model; `""` lets the agent choose', "as in `[defaults]`, if the agent is the same"
    )
    role_prompt: str | None = option(_ROLE, None, "what this worker is told about its role", _INHERITED)
    role: str = option(
        string('"supervisor"', "`supervisor` or empty", lambda text: text in ("", SUPERVISOR)),
        "",
        "`supervisor`: its agent gets tools of LLMC, by which it delegates tasks to other workers",
    )
    excluded_from_pool: bool = option(FLAG, False, "only gets the tasks that name it")
    skip_permissions: bool | None = option(FLAG, None, "start it so that it does not ask for permissions", _INHERITED)
    allowed_tools: tuple[str, ...] | None = option(_TOOLS, None, "the tools that it may use without asking", _INHERITED)
    autonomy: Autonomy | None = option(AUTONOMY, None, "what LLMC may do unasked", "as in `[policy]`")
    sandbox: str | None = option(SANDBOX_MODE, None, "`off` or `bwrap`", "as `sandbox.mode`")


class AgentOptions(Value):
    """What `[agents.NAME]` says. None: as the built-in agent has it, or the plain default for a new one."""

    command: tuple[str, ...] | None = option(
        words('["mytool", "--interactive"]', "a list of strings that begins with a program", at_least=1),
        None,
        "the program of the terminal with its arguments",
        f"{_BUILT_IN}; required for a new agent",
    )
    env: Mapping[str, str] = option(
        VARIABLES, MappingProxyType({}), "environment variables to add to those that the agent gets anyway"
    )
    files: Mapping[str, str] = option(
        FILES,
        MappingProxyType({}),
        "files to write before each start, named from the worker's directory `{settings}`",
    )
    skip_permissions_args: tuple[str, ...] = option(
        words('["--yolo"]'), (), "arguments to add with `skip_permissions = true`"
    )
    ask_args: tuple[str, ...] = option(
        words('["--approval", "always"]'), (), "arguments to add with `skip_permissions = false`"
    )
    model_args: tuple[str, ...] = option(
        words('["--model", "{model}"]'), (), "arguments to add where the settings name a model"
    )
    own_files: tuple[str, ...] | None = option(
        words('[".mytool*"]', "a list of globs without `..`", inner_glob, word="list of globs"),
        None,
        "files that the agent writes into the worktree for itself; git ignores them in every worktree of this root",
        f"{_BUILT_IN}; `[]` for a new agent",
    )
    clear: str | None = option(
        string('"/clear"', _LINE, one_line),
        None,
        'what is typed to clear the conversation; `""` for none',
        f'{_BUILT_IN}; `""` for a new agent',
    )
    submit: str | None = option(
        string('"Enter"', "the name of a key, as tmux has it", one_word),
        None,
        "the key that submits the text",
        f'{_BUILT_IN}; `"Enter"` for a new agent',
    )
    interrupt: tuple[str, ...] | None = option(
        words('["Escape"]', "a list of names of keys, as tmux has them", at_least=1),
        None,
        "the keys that end a running turn, one after the other",
        f'{_BUILT_IN}; `["Escape"]` for a new agent',
    )
    pack: str | None = option(
        string('"claude"', "the name of a pack, or the path of a pack file", one_full_line),
        None,
        "the screen patterns: the name of a pack in `ROOT/packs` or of a built-in one, or the path of a pack file",
        f'{_BUILT_IN}; `"generic"` for a new agent',
    )
    events: bool | None = option(
        FLAG,
        None,
        "whether the agent drops event files into `$LLMC_SPOOL`",
        f"{_BUILT_IN}; `false` for a new agent",
    )
    ready_timeout_secs: float = option(seconds("120"), 120, "time that the agent may take until it is ready for input")
