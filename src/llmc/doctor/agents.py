"""The agents that workers use: whether anybody has described them, and whether their programs are installed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from llmc.agents.base import program_of
from llmc.agents.registry import BUILT_IN, agent_named
from llmc.config.settings import Config
from llmc.core.display import some
from llmc.doctor.answers import Answer, Found, given, known
from llmc.doctor.findings import ERROR, WARNING, Finding, Topic
from llmc.doctor.health import Health, Looking
from llmc.host.base import Host
from llmc.root import Root
from llmc.values import Value

TOPIC = Topic("agents")

MISSING = TOPIC.error(
    "agent-missing",
    "the program of an agent is not installed; a warning while no worker uses it",
    "install {program}",
)
UNKNOWN = TOPIC.error(
    "agent-unknown",
    "a worker's agent is neither built in nor described in the settings",
    "describe it under `[agents.{agent}]` in {config}",
)


# --- look -----------------------------------------------------------------------------------------


class AgentFacts(Value):
    name: str
    workers: tuple[str, ...]
    program: str = ""
    """Empty when nobody has described this agent."""
    installed: bool = False
    install: str = ""
    """The command that installs it; empty where nobody has told."""
    reports_start: bool = False
    """Whether it tells by itself that it is up."""


class AgentsSeen(Value):
    agents: Answer[tuple[AgentFacts, ...]] = field(metadata=TOPIC.asks("the agents"))
    """The one that new workers get, and those of the workers that there are."""


def look(looking: Looking, seen: Health) -> AgentsSeen:
    return AgentsSeen(given(looking.config, lambda config: _look_at_agents(looking, config)))


def _look_at_agents(looking: Looking, config: Config) -> Answer[tuple[AgentFacts, ...]]:
    users: dict[str, list[str]] = {config.defaults.agent: []}
    for worker in looking.workers.values():
        users.setdefault(worker.agent, []).append(worker.name)
    found = (look_at_agent(looking.host, looking.root, config, name, tuple(own)) for name, own in users.items())
    return Found(tuple(found))


def look_at_agent(host: Host, root: Root, config: Config, name: str, workers: tuple[str, ...] = ()) -> AgentFacts:
    if name not in BUILT_IN and name not in config.agents:
        return AgentFacts(name, workers)
    agent = agent_named(name, config, root.packs)
    program = program_of(agent)
    return AgentFacts(name, workers, program, host.which(program) is not None, agent.install, agent.reports_start)


# --- judgement ------------------------------------------------------------------------------------


def judge(health: Health) -> Iterator[Finding]:
    for agent in known(health.of(AgentsSeen).agents, ()):
        users = some(agent.workers)
        worker = agent.workers[0] if len(agent.workers) == 1 else None
        why = f"{users} cannot start" if users else "new workers would use it and could not start"
        if not agent.program:
            what, config = f"nobody has described the agent {agent.name}", health.root.config_file
            yield UNKNOWN.finding(what, why, worker=worker, agent=agent.name, config=config)
        elif not agent.installed:
            what = f"{agent.program}, which runs the agent {agent.name}, is not installed"
            severity = ERROR if users else WARNING
            how = f"; `{agent.install}` installs it" if agent.install else ""
            yield MISSING.finding(what, f"{why}{how}", worker=worker, severity=severity, program=agent.program)


def summary(health: Health) -> str:
    return f"agents: {', '.join(agent.name for agent in known(health.of(AgentsSeen).agents, ()))}"
