"""The real agent CLIs for tests, in a machine of their own, talking to a scripted model.

What is prepared is what a user who has logged in once has at home. The questions that a CLI asks about a directory it
sees for the first time are not answered, unless a test says so with `accept`.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn
from unicodedata import normalize

import pytest

from llmc.agents.registry import BUILT_IN
from llmc.core.classify import Reading, read_screen
from llmc.host.base import Completed
from llmc.root import Root
from llmc.tmux.parsing import Pane
from llmc.tmux.server import Tmux
from testing.attached import Person
from testing.models import ModelServer
from testing.namespace import InsideHost, Namespace, NamespaceError
from testing.roots import make_repository

PROJECT = Path(__file__).resolve().parent.parent
PROGRAMS = PROJECT / ".agents" / "node_modules" / ".bin"
LLMC = Path(sys.executable).parent / "llmc"
REQUIRED = os.environ.get("LLMC_REQUIRE_AGENTS") == "1"
"""Read now: no test sees the variables of whoever runs it."""
KEPT = ("HOME", "TMUX_TMPDIR", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM")
KEY = "sk-ant-api03-loopback-only-00000000000000000001"

Settings = dict[str, Any]


@dataclass(frozen=True, slots=True)
class RealAgent:
    name: str
    argv: tuple[str, ...]
    """Started so that it does not ask before it acts."""
    composer: re.Pattern[str]
    """On its screen when it takes a prompt."""
    submits: Callable[[str], str]
    """What it makes of a pasted text before the model sees it."""
    variables: Mapping[str, str]
    """What its user has in the environment; `{url}` is where the model is."""
    prepare: Callable[[Path, str], None]
    """Writes what a user with a model at this address has at home."""
    accept: Callable[[Path, Path], None]
    """Answers, at this home, what the CLI would ask about this directory and about acting unasked."""


@dataclass(frozen=True, slots=True)
class AgentMachine:
    """Nothing but loopback, where the agent's model is."""

    agent: RealAgent
    home: Path
    namespace: Namespace
    models: ModelServer
    env: Mapping[str, str]

    @property
    def host(self) -> InsideHost:
        return InsideHost(self.namespace, self.env)

    def accept(self, directory: Path) -> None:
        self.agent.accept(self.home, directory)


@dataclass(frozen=True, slots=True)
class AgentRoot:
    """An LLMC root with a running daemon and one worker, `w`."""

    machine: AgentMachine
    root: Path
    source: Path

    @property
    def models(self) -> ModelServer:
        return self.machine.models

    @property
    def worktree(self) -> Path:
        return Path(self.status()["worktree_path"])

    def llmc(self, *words: str, stdin: bytes = b"", timeout: float = 200.0) -> Completed:
        argv = [str(LLMC), *words]
        env = {**self.machine.env, "LLMC_ROOT": str(self.root)}
        return self.machine.namespace.run(argv, env=env, cwd=str(self.source), stdin=stdin, timeout=timeout)

    def done(self, *words: str) -> str:
        """What the command says; the test fails when it fails."""
        answer = self.llmc(*words)
        assert answer.ok, f"llmc {' '.join(words)} ended with {answer.code}: {answer.complaint}"
        return answer.text

    def message(self, text: str, *, code: int | None = None) -> Settings:
        """Sends a text; the receipt. With `code`, the command must end with that."""
        answer = self.llmc("message", "w", "-", "--json", stdin=text.encode())
        assert answer.text, f"llmc message ended with {answer.code}: {answer.complaint}"
        receipt: Settings = json.loads(answer.text)
        assert receipt["bytes"] == len(text.encode())
        assert code in (None, answer.code), receipt
        return receipt

    def times_got(self, text: str) -> int:
        """How often the model was asked this, after what the CLI makes of a paste and the space that shields it."""
        expected = self.machine.agent.submits(text).strip()
        return sum(1 for got in self.models.prompts() if got.strip() == expected)

    @property
    def tmux(self) -> Tmux:
        return Tmux(self.machine.host, Root(str(self.root)).tmux_socket)

    def pane(self) -> Pane:
        """The terminal of `w`."""
        return self.tmux.panes()["llmc-w"]

    def reading(self) -> Reading:
        """What the screen shows now."""
        return read_screen(BUILT_IN[self.machine.agent.name]().pack, self.tmux.capture(self.pane().id))

    def person(self, *, columns: int = 80, rows: int = 24) -> Person:
        """Somebody attaches to the terminal of `w`."""
        attach = self.tmux.attach_command("llmc-w", read_only=False)
        return Person([*self.machine.namespace.entering(), *attach], self.machine.env, columns=columns, rows=rows)

    def signal(self, name: str) -> None:
        """To the CLI with everything that it started: its terminal's process leads their session."""
        argv = ["pkill", f"-{name}", "--session", str(self.pane().pid)]
        assert self.machine.namespace.run(argv, env=self.machine.env).ok

    def status(self) -> Settings:
        """The worker, as `llmc status --json` tells it."""
        told: Settings = json.loads(self.done("status", "--json"))
        worker: Settings = told["workers"][0]
        return worker


# --- what each of them needs ----------------------------------------------------------------------


def _merge(path: Path, more: Settings) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    had = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps(_merged(had, more), indent=1))


def _merged(one: Settings, other: Settings) -> Settings:
    both = {key: _merged(one[key], other[key]) for key in one.keys() & other.keys() if isinstance(one[key], dict)}
    return one | other | both


def _prepare_claude(home: Path, _url: str) -> None:
    approved = {"approved": [KEY[-20:]], "rejected": []}
    market = {"officialMarketplaceAutoInstallAttempted": True, "officialMarketplaceAutoInstalled": False}
    _merge(home / ".claude.json", {"hasCompletedOnboarding": True, "customApiKeyResponses": approved, **market})
    _merge(home / ".claude" / "settings.json", {"theme": "dark"})


def _accept_claude(home: Path, directory: Path) -> None:
    _merge(home / ".claude.json", {"projects": {str(directory): {"hasTrustDialogAccepted": True}}})
    _merge(home / ".claude" / "settings.json", {"skipDangerousModePermissionPrompt": True})


CODEX_SETTINGS = """\
model = "gpt-6-sol"
model_provider = "loopback"
check_for_update_on_startup = false

[model_providers.loopback]
name = "loopback"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "LOOPBACK_KEY"
"""


def _prepare_codex(home: Path, url: str) -> None:
    settings = home / ".codex" / "config.toml"
    settings.parent.mkdir()
    settings.write_text(CODEX_SETTINGS.format(url=url))


def _accept_codex(home: Path, directory: Path) -> None:
    with (home / ".codex" / "config.toml").open("a") as settings:
        settings.write(f'\n[projects."{directory}"]\ntrust_level = "trusted"\n')


def _prepare_gemini(home: Path, _url: str) -> None:
    quiet = {"general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False}}
    logged_in = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
    _merge(home / ".gemini" / "settings.json", {**quiet, **logged_in, "privacy": {"usageStatisticsEnabled": False}})


def _accept_gemini(home: Path, directory: Path) -> None:
    _merge(home / ".gemini" / "trustedFolders.json", {str(directory): "TRUST_FOLDER"})


def _prepare_opencode(home: Path, url: str) -> None:
    settings = home / ".config" / "opencode"
    models = {"scripted": {"name": "Scripted", "tool_call": True, "limit": {"context": 200_000, "output": 8192}}}
    options = {"baseURL": f"{url}/v1", "apiKey": KEY}
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "Loopback", "options": options, "models": models}
    chosen = {"model": "loopback/scripted", "small_model": "loopback/scripted"}
    quiet = {"autoupdate": False, "share": "disabled"}
    _merge(settings / "opencode.json", {**chosen, **quiet, "provider": {"loopback": provider}})
    # At its first start it installs the package that plugins are written against, and with a plugin it waits for that.
    needs = {"dependencies": {"@opencode-ai/plugin": "*"}}
    (settings / "node_modules").mkdir()
    _merge(settings / "package.json", needs)
    _merge(settings / "package-lock.json", {"packages": {"": needs}})


INVISIBLE = re.compile("[\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
OPENCODE_SHOWS = 150
"""A longer paste, or one of three lines, becomes a placeholder with a space after it."""

AGENTS = (
    RealAgent(
        name="claude",
        argv=("claude", "--dangerously-skip-permissions"),
        composer=re.compile(r"^❯\s", re.MULTILINE),
        submits=lambda text: normalize("NFC", text.rstrip().replace("\t", "    ")),
        variables={
            "ANTHROPIC_BASE_URL": "{url}",
            "ANTHROPIC_API_KEY": KEY,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "IS_SANDBOX": "1",  # or it refuses to act unasked for root
        },
        prepare=_prepare_claude,
        accept=_accept_claude,
    ),
    RealAgent(
        name="codex",
        argv=("codex", "--no-daemon", "--dangerously-bypass-approvals-and-sandbox"),
        composer=re.compile(r"^› Ask Codex", re.MULTILINE),
        submits=str.strip,
        variables={"LOOPBACK_KEY": KEY},
        prepare=_prepare_codex,
        accept=_accept_codex,
    ),
    RealAgent(
        name="gemini",
        argv=("gemini", "--yolo"),
        composer=re.compile(r"Gemini CLI v.*Type your message", re.DOTALL),  # the composer alone takes no pastes yet
        submits=lambda text: INVISIBLE.sub("", text).strip(),
        variables={"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": "{url}"},
        prepare=_prepare_gemini,
        accept=_accept_gemini,
    ),
    RealAgent(
        name="opencode",
        argv=("opencode",),
        composer=re.compile(r"ctrl\+p commands"),
        submits=lambda text: f"{text} " if text.count("\n") >= 2 or len(text) > OPENCODE_SHOWS else text,
        variables={"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"},
        prepare=_prepare_opencode,
        accept=lambda _home, _directory: None,  # it asks nothing
    ),
)


# --- fixtures -------------------------------------------------------------------------------------


def installed_agents() -> dict[str, Path]:
    return {agent.name: PROGRAMS / agent.name for agent in AGENTS if (PROGRAMS / agent.name).exists()}


ONE_AT_A_TIME = pytest.mark.xdist_group("real agents")


EACH_AGENT = [pytest.param(agent, id=agent.name, marks=ONE_AT_A_TIME) for agent in AGENTS]


@pytest.fixture(params=EACH_AGENT)
def real_agent(request: pytest.FixtureRequest) -> RealAgent:
    """Each of the four in turn, as `make agents` installs them."""
    return installed(request.param)


def installed(agent: RealAgent) -> RealAgent:
    if agent.name not in installed_agents():
        _not_here(f"{agent.name} is not installed: run `make agents`")
    return agent


@contextmanager
def own_namespace() -> Iterator[Namespace]:
    try:
        namespace = Namespace.start()
    except NamespaceError as refused:
        _not_here(f"real agents run in a network namespace only, and {refused}")
    try:
        yield namespace
    finally:
        namespace.stop()


@contextmanager
def machine_for(agent: RealAgent) -> Iterator[AgentMachine]:
    """A machine where the agent is installed and its user logged in; everything on it ends with the context."""
    home = Path(os.environ["HOME"])
    with own_namespace() as namespace, ModelServer.start(namespace.listen()) as models:
        agent.prepare(home, models.url)
        yield AgentMachine(agent, home, namespace, models, _environment(agent, models.url))


@pytest.fixture
def agent_machine(real_agent: RealAgent) -> Iterator[AgentMachine]:
    with machine_for(real_agent) as machine:
        yield machine


@pytest.fixture
def agent_root(agent_machine: AgentMachine, tmp_path: Path) -> AgentRoot:
    """A daemon with one worker, `w`, that has the agent."""
    return make_agent_root(agent_machine, tmp_path)


def make_agent_root(machine: AgentMachine, where: Path, *, accepted: bool = False) -> AgentRoot:
    """Brings a worker up, who has answered the agent's questions before if so wanted."""
    made = make_empty_root(machine, where)
    made.done("add", "w", "--agent", machine.agent.name)
    if accepted:
        machine.accept(made.root)
        machine.accept(made.worktree)
    made.done("up", "--detach")
    return made


def make_empty_root(machine: AgentMachine, where: Path) -> AgentRoot:
    made = AgentRoot(machine, where / "root", make_repository(where / "source"))
    made.done("init", "--source", str(made.source), "--target", str(made.root))
    return made


def _environment(agent: RealAgent, url: str) -> Mapping[str, str]:
    path = os.pathsep.join([str(PROGRAMS), os.environ["PATH"]])
    kept = {name: os.environ[name] for name in KEPT}
    variables = {name: value.format(url=url) for name, value in agent.variables.items()}
    return {**kept, "PATH": path, "LANG": "C.UTF-8", "TERM": "xterm-256color", **variables}


def _not_here(why: str) -> NoReturn:
    if REQUIRED:
        pytest.fail(f"{why} (LLMC_REQUIRE_AGENTS=1)")
    pytest.skip(why)
