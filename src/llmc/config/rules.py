"""The settings as a whole: what each table holds, and what must fit together between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

from llmc.config.keys import Key, dotted
from llmc.config.problems import Problem
from llmc.config.sections import (
    BUILT_IN_AGENTS,
    AgentOptions,
    Backup,
    Classifier,
    Defaults,
    Log,
    Notify,
    Policy,
    Repo,
    WorkerOptions,
)
from llmc.config.settings import NAMED_TABLES, SINGLE_TABLES, Config
from llmc.config.suggest import nearest_word
from llmc.config.tables import Reading
from llmc.core.names import LONGEST_NAME, check_worker_name, name_problem, shown
from llmc.errors import WrongWordsError

_IN_ORDER = (
    ("nudge_after_secs", "second_nudge_after_secs", "escalate_after_secs"),
    ("rebase_help_after_secs", "rebase_escalate_after_secs"),
)


def examine(raw: Mapping[str, object]) -> tuple[Config, list[Problem]]:
    """The settings, to be used only when there are no problems: what was wrong is replaced by stand-ins."""
    reading = Reading()
    reading.known(raw, (), [*SINGLE_TABLES, *NAMED_TABLES])
    config = Config(
        repo=reading.table(Repo, raw.get("repo", {}), ("repo",)),
        defaults=reading.table(Defaults, raw.get("defaults", {}), ("defaults",)),
        policy=reading.table(Policy, raw.get("policy", {}), ("policy",)),
        backup=reading.table(Backup, raw.get("backup", {}), ("backup",)),
        notify=reading.table(Notify, raw.get("notify", {}), ("notify",)),
        classifier=reading.table(Classifier, raw.get("classifier", {}), ("classifier",)),
        log=reading.table(Log, raw.get("log", {}), ("log",)),
        workers=reading.named(WorkerOptions, raw.get("workers", {}), ("workers",), _worker_name_problem),
        agents=reading.named(AgentOptions, raw.get("agents", {}), ("agents",), _agent_name_problem),
    )
    _check_order(config.policy, raw.get("policy"), reading)
    _check_commands(config.agents, reading)
    _check_agents(config, reading)
    return config, reading.problems


def _worker_name_problem(name: str) -> Problem | None:
    try:
        check_worker_name(name)
    except WrongWordsError as wrong:
        return Problem(("workers", name), wrong.what, wrong.hint)
    return None


def _agent_name_problem(name: str) -> Problem | None:
    reason = name_problem(name)
    if reason is None:
        return None
    return Problem(
        ("agents", name),
        f"`{shown(name)}` cannot be an agent's name: {reason}",
        f"use 1 to {LONGEST_NAME} letters, digits, `-` or `_`, beginning with a letter",
    )


def _check_order(policy: Policy, given: object, reading: Reading) -> None:
    for names in _IN_ORDER:
        if not all(reading.fine("policy", name) for name in names):
            continue
        for earlier, later in pairwise(names):
            first, second = getattr(policy, earlier), getattr(policy, later)
            if first >= second:
                at = later if isinstance(given, dict) and later in given else earlier
                what = f"`policy.{later}` is {second}, but must be more than `policy.{earlier}`, which is {first}"
                reading.note(("policy", at), what, f"these come one after the other: {', '.join(names)}")


def _check_commands(agents: Mapping[str, AgentOptions], reading: Reading) -> None:
    for name, options in agents.items():
        key = ("agents", name, "command")
        if options.command is None and name not in BUILT_IN_AGENTS and reading.fine(*key):
            reading.note(
                key,
                f"`{dotted(key)}` is missing, and `{shown(name)}` is no built-in agent that would have one",
                f'add `command = ["{shown(name)}"]`; the built-in agents are {", ".join(BUILT_IN_AGENTS)}',
            )


def _check_agents(config: Config, reading: Reading) -> None:
    known = [*BUILT_IN_AGENTS, *config.agents]
    for key, name in _agents_spoken_of(config):
        if reading.fine(*key) and name not in known:
            meant = nearest_word(name, known)
            reading.note(
                key,
                f"`{dotted(key)}` is `{shown(name)}`, but there is no such agent",
                f"did you mean `{shown(meant)}`?"
                if meant
                else f"take one of {', '.join(BUILT_IN_AGENTS)}, or define it in `[agents.NAME]`",
            )


def _agents_spoken_of(config: Config) -> Iterator[tuple[Key, str]]:
    yield ("defaults", "agent"), config.defaults.agent
    for number, row in enumerate(config.policy.auto_confirm):
        yield ("policy", "auto_confirm", number, "agent"), row.agent
    for name, options in config.workers.items():
        if options.agent is not None:
            yield ("workers", name, "agent"), options.agent
