"""The real agent CLIs for tests, in a machine of their own, talking to a scripted model."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

import pytest

from llmc.agents.registry import BUILT_IN
from llmc.core.screen.classify import ScreenReading, read_screen
from llmc.core.screen.screen import Screen
from llmc.host.base import Completed
from llmc.root import Root
from llmc.tmux.parsing import Pane
from llmc.tmux.server import Tmux
from testing.attached import Person
from testing.hook_clis import HOOK_AGENTS
from testing.models import ModelServer
from testing.models.tokens import Bill, Tokens, total
from testing.namespace import InsideHost, Namespace, NamespaceError
from testing.other_clis import OTHER_AGENTS
from testing.real_clis import AGENTS, RealAgent
from testing.roots import make_repository
from testing.warm_llmc import WarmLlmc, warm_llmc

PROJECT = Path(__file__).resolve().parent.parent
PROGRAMS = (PROJECT / ".agents" / "node_modules" / ".bin", PROJECT / ".agents" / "python" / "bin")
"""Where `make agents` installs those from npm, and those from PyPI."""
LLMC = Path(sys.executable).parent / "llmc"
REQUIRED = os.environ.get("LLMC_REQUIRE_AGENTS") == "1"
"""Read now: no test sees the variables of whoever runs it."""
EVERY_AGENT = (*AGENTS, *HOOK_AGENTS, *OTHER_AGENTS)
"""The four that all tests of real agents run, and those that have one quick test each, and the hazards."""
KEPT = ("HOME", "TMUX_TMPDIR", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM")

Settings = dict[str, Any]


@dataclass(frozen=True, slots=True)
class AgentMachine:
    """Nothing but loopback, where the agent's model is."""

    agent: RealAgent
    home: Path
    namespace: Namespace
    models: ModelServer
    env: Mapping[str, str]
    warm: WarmLlmc
    """Inside, too: the real agents leave little of the processor to others."""

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
        env = {**self.machine.env, "LLMC_ROOT": str(self.root)}
        done = self.machine.warm.run(words, env=env, cwd=self.source, stdin=stdin, timeout=timeout)
        return Completed(done.returncode, done.stdout, done.stderr)

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

    def usage(self) -> Tokens:
        """What `llmc usage` has counted of the worker."""
        total = json.loads(self.done("usage", "--json"))["total"]
        return Tokens(*(total[f"{name}_tokens"] for name in ("input", "output", "cache_read", "cache_write")))

    def true_usage(self, besides: Sequence[Bill] = ()) -> Tokens:
        """The same as the model knows it, without what the CLI has asked beside the conversation, and these."""
        told = total([bill for bill in self.models.bills() if not bill.auxiliary and bill not in besides])
        if self.machine.agent.tells_cache_writes:
            return told
        return replace(told, input=told.input + told.cache_write, cache_write=0)

    @property
    def tmux(self) -> Tmux:
        return Tmux(self.machine.host, Root(str(self.root)).tmux_socket)

    def pane(self) -> Pane:
        """The terminal of `w`."""
        return self.tmux.panes()["llmc-w"]

    def reading(self) -> ScreenReading:
        """What the screen shows now."""
        return read_screen(BUILT_IN[self.machine.agent.name]().pack, Screen(self.tmux.capture(self.pane().id)))

    def person(self, *, columns: int = 80, rows: int = 24) -> Person:
        """Somebody attaches to the terminal of `w`."""
        attach = self.tmux.attach_command("llmc-w", "Ctrl-b d leaves")
        return Person([*self.machine.namespace.entering(), *attach], self.machine.env, columns=columns, rows=rows)

    def signal(self, name: str) -> None:
        """To the CLI with everything that it started: its terminal's process leads their session."""
        argv = ["pkill", f"-{name}", "--session", str(self.pane().pid)]
        assert self.machine.namespace.run(argv, env=self.machine.env).ok

    def status(self, name: str = "w") -> Settings:
        """The worker, as `llmc status --json` tells it."""
        workers: list[Settings] = json.loads(self.done("status", "--json"))["workers"]
        return next(worker for worker in workers if worker["name"] == name)


# --- fixtures -------------------------------------------------------------------------------------


def installed_agents() -> dict[str, Path]:
    names = [agent.name for agent in EVERY_AGENT]
    return {name: at / name for name in names for at in PROGRAMS if (at / name).exists()}


def agents(*names: str) -> pytest.MarkDecorator:
    """Only these: each takes its time."""
    chosen = [pytest.param(agent, id=agent.name) for agent in EVERY_AGENT if agent.name in names]
    return pytest.mark.parametrize("real_agent", chosen, indirect=True)


EACH_AGENT = [pytest.param(agent, id=agent.name) for agent in AGENTS]
"""The four that most people use: the long tests have no time for more."""
with_every_agent = agents(*(agent.name for agent in EVERY_AGENT))
"""Not only the four: for what is worth its time on each."""


@pytest.fixture(params=EACH_AGENT)
def real_agent(request: pytest.FixtureRequest) -> RealAgent:
    """Each in turn, as `make agents` installs them: the four that most people use, unless a test says `every`."""
    return installed(request.param)


def installed(agent: RealAgent) -> RealAgent:
    if agent.name not in installed_agents():
        not_here(f"{agent.name} is not installed: run `make agents`")
    return agent


@contextmanager
def own_namespace() -> Iterator[Namespace]:
    try:
        namespace = Namespace.start()
    except NamespaceError as refused:
        not_here(f"real agents run in a network namespace only, and {refused}")
    try:
        yield namespace
    finally:
        namespace.stop()


@contextmanager
def machine_for(agent: RealAgent, programs: Path | None = None) -> Iterator[AgentMachine]:
    """A machine where the agent is installed and its user logged in; everything on it ends with the context.

    `programs` is where another version of the agent is; the Node that it runs on is that of `make agents`.
    """
    home = Path(os.environ["HOME"])
    with (
        own_namespace() as namespace,
        ModelServer.start(namespace.listen()) as models,
        warm_llmc(namespace.entering()) as warm,
    ):
        agent.prepare(home, models.url)
        yield AgentMachine(agent, home, namespace, models, _environment(agent, models.url, programs), warm)


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


def _environment(agent: RealAgent, url: str, programs: Path | None) -> Mapping[str, str]:
    """With `programs` in front of those that `make agents` has installed."""
    places = [*([str(programs)] if programs else []), *map(str, PROGRAMS)]
    path = os.pathsep.join([*places, os.environ["PATH"]])
    kept = {name: os.environ[name] for name in KEPT}
    variables = {name: value.format(url=url, home=os.environ["HOME"]) for name, value in agent.variables.items()}
    return {**kept, "PATH": path, "LANG": "C.UTF-8", "TERM": "xterm-256color", **variables}


def not_here(why: str) -> NoReturn:
    if REQUIRED:
        pytest.fail(f"{why} (LLMC_REQUIRE_AGENTS=1)")
    pytest.skip(why)
