"""The whole of the settings, and what holds for one worker."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from types import MappingProxyType
from typing import Any, TypeVar

from llmc.config.budget_settings import BudgetSettings
from llmc.config.machine_settings import MachineOptions
from llmc.config.mcp_settings import McpSettings
from llmc.config.sandbox_section import Sandbox
from llmc.config.sections import (
    AgentOptions,
    BackupSettings,
    Classifier,
    Defaults,
    Log,
    NotifySettings,
    Repo,
    TaskSettings,
    WebSettings,
    WorkerOptions,
)
from llmc.core.lifecycle.policy import Policy
from llmc.core.setting import Setting, settings_of
from llmc.model import Autonomy
from llmc.values import Value

T = TypeVar("T")

SINGLE_TABLES: Mapping[str, type[Any]] = MappingProxyType(
    {
        "repo": Repo,
        "defaults": Defaults,
        "policy": Policy,
        "tasks": TaskSettings,
        "budget": BudgetSettings,
        "backup": BackupSettings,
        "notify": NotifySettings,
        "classifier": Classifier,
        "web": WebSettings,
        "sandbox": Sandbox,
        "mcp": McpSettings,
        "log": Log,
    }
)
NAMED_TABLES: Mapping[str, type[Any]] = MappingProxyType(
    {"workers": WorkerOptions, "agents": AgentOptions, "machines": MachineOptions}
)
"""Tables that hold a table per name: `[workers.adam]`."""


class WorkerSettings(Value):
    """What holds for one worker, by its own table and the defaults. `model` None: the agent chooses."""

    name: str
    agent: str
    model: str | None
    role_prompt: str
    role: str
    excluded_from_pool: bool
    skip_permissions: bool
    allowed_tools: tuple[str, ...]
    autonomy: Autonomy
    sandbox: str
    """`off` or `bwrap`."""


class Config(Value):
    """The settings of one root."""

    repo: Repo
    defaults: Defaults
    policy: Policy
    tasks: TaskSettings
    budget: BudgetSettings
    backup: BackupSettings
    notify: NotifySettings
    classifier: Classifier
    web: WebSettings
    sandbox: Sandbox
    mcp: McpSettings
    log: Log
    workers: Mapping[str, WorkerOptions]
    agents: Mapping[str, AgentOptions]
    machines: Mapping[str, MachineOptions] = field(default_factory=lambda: MappingProxyType({}))

    def worker(self, name: str) -> WorkerSettings:
        """Any name is answered: a worker without a table of its own lives by the defaults."""
        own, defaults = self.workers.get(name, WorkerOptions()), self.defaults
        return WorkerSettings(
            name=name,
            agent=_given(own.agent, defaults.agent),
            model=_model(own, defaults),
            role_prompt=_given(own.role_prompt, defaults.role_prompt),
            role=own.role,
            excluded_from_pool=own.excluded_from_pool,
            skip_permissions=_given(own.skip_permissions, defaults.skip_permissions),
            allowed_tools=_given(own.allowed_tools, defaults.allowed_tools),
            autonomy=_given(own.autonomy, self.policy.autonomy),
            sandbox=_given(own.sandbox, self.sandbox.mode),
        )

    def policy_for(self, worker: str) -> Policy:
        return replace(self.policy, autonomy=self.worker(worker).autonomy)

    def agent(self, name: str) -> AgentOptions:
        """What the file says of the agent; all defaults when it says nothing."""
        return self.agents.get(name, AgentOptions())


def _given(own: T | None, otherwise: T) -> T:
    return otherwise if own is None else own


def _model(own: WorkerOptions, defaults: Defaults) -> str | None:
    # One agent's model means nothing to another, so the default model stays with the default agent.
    agent = _given(own.agent, defaults.agent)
    inherited = defaults.model if agent == defaults.agent else None
    return _given(own.model, inherited) or None


def find_option(key: tuple[str, ...]) -> Setting | None:
    """The option that the parts name, such as ("workers", "adam", "model")."""
    match key:
        case (table, leaf) if table in SINGLE_TABLES:
            return settings_of(SINGLE_TABLES[table]).get(leaf)
        case (table, _, leaf) if table in NAMED_TABLES:
            return settings_of(NAMED_TABLES[table]).get(leaf)
    return None


def all_options() -> Iterator[tuple[tuple[str, ...], Setting]]:
    """Every option with its key; NAME stands for a worker or an agent."""
    for table, shape in SINGLE_TABLES.items():
        yield from (((table, leaf), about) for leaf, about in settings_of(shape).items())
    for table, shape in NAMED_TABLES.items():
        yield from (((table, "NAME", leaf), about) for leaf, about in settings_of(shape).items())


def options_inside(table: tuple[str, ...]) -> list[str]:
    """What can stand in the table, named from there on; nothing when there is no such table."""
    return [
        ".".join(key[len(table) :])
        for key, _ in all_options()
        if len(table) < len(key) and all(own in (given, "NAME") for given, own in zip(table, key, strict=False))
    ]
