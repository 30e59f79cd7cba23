"""The settings as a whole: what each table holds, and what must fit together between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import cast

from llmc.config.keys import dotted
from llmc.config.problems import Problem
from llmc.config.sections import BUILT_IN_AGENTS, AgentOptions
from llmc.config.settings import NAMED_TABLES, SINGLE_TABLES, Config
from llmc.config.suggest import advice_for
from llmc.config.value_types import found
from llmc.core.lifecycle.policy import Policy
from llmc.core.names import check_worker_name, name_problem, nearest_word, shown, unfit_name
from llmc.core.schema import Key, Misfit, MismatchError, MissingKey, Record, UnknownKey, WrongValue, by_name
from llmc.core.setting import settings_record
from llmc.errors import InvalidUsageError

_IN_ORDER = (
    ("nudge_after_secs", "second_nudge_after_secs", "escalate_after_secs"),
    ("rebase_help_after_secs", "rebase_escalate_after_secs"),
)


_SINGLE = {name: settings_record(shape) for name, shape in SINGLE_TABLES.items()}
_NAMED = {name: by_name(settings_record(shape).as_type("a table"), "a table") for name, shape in NAMED_TABLES.items()}
_CONFIG = Record(
    Config,
    {name: record.as_type("a table") for name, record in _SINGLE.items()} | _NAMED,
    required=(),
    defaults={name: record.stand_in() for name, record in _SINGLE.items()} | {name: {} for name in _NAMED},
)


class Notes:
    """What is wrong with one file."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def note(self, key: Key, what: str, advice: str) -> None:
        self.problems.append(Problem(key, what, advice))

    def fine(self, *key: str | int) -> bool:
        """Nothing was wrong with the key, nor with anything inside it."""
        return not any(problem.key[: len(key)] == key for problem in self.problems)

    def misfit(self, misfit: Misfit) -> None:
        key = misfit.key
        match misfit:
            case UnknownKey(value=value, known=known):
                what = "table" if isinstance(value, dict) else "key"
                self.note(key, f"unknown {what} `{dotted(key)}`", advice_for(key, known))
            case MissingKey(wanted=wanted):
                place = f"under `[{dotted(key[:-1])}]`" if isinstance(key[-2], str) else f"to `{dotted(key[:-1])}`"
                self.note(key, f"`{dotted(key)}` is missing", f"add `{key[-1]} = {wanted.example}` {place}")
            case WrongValue(value=value, wanted=wanted):
                example = f"for example `{key[-1]} = {wanted.example}`"
                advice = example if wanted.example else f"write it as `[{dotted(key)}]`"
                self.note(key, f"`{dotted(key)}` is {found(value)}, but must be {wanted.expects}", advice)


def examine(raw: Mapping[str, object]) -> tuple[Config, list[Problem]]:
    """The settings, to be used only when there are no problems: what was wrong is replaced by stand-ins."""
    notes = Notes()
    try:
        config = _CONFIG.read({**{name: {} for name in (*SINGLE_TABLES, *NAMED_TABLES)}, **raw})
    except MismatchError as wrong:
        for misfit in wrong.misfits:
            notes.misfit(misfit)
        config = cast(Config, wrong.instead)
    notes.problems += filter(None, map(_worker_name_problem, config.workers))
    notes.problems += filter(None, map(_agent_name_problem, config.agents))
    _check_order(config.policy, raw.get("policy"), notes)
    _check_commands(config.agents, notes)
    _check_agents(config, notes)
    return config, notes.problems


def _worker_name_problem(name: str) -> Problem | None:
    try:
        check_worker_name(name)
    except InvalidUsageError as wrong:
        return Problem(("workers", name), wrong.what, wrong.hint)
    return None


def _agent_name_problem(name: str) -> Problem | None:
    reason = name_problem(name)
    if reason is None:
        return None
    wrong = unfit_name("an agent's", name, reason)
    return Problem(("agents", name), wrong.what, wrong.hint)


def _check_order(policy: Policy, given: object, notes: Notes) -> None:
    for names in _IN_ORDER:
        if not all(notes.fine("policy", name) for name in names):
            continue
        for earlier, later in pairwise(names):
            first, second = getattr(policy, earlier), getattr(policy, later)
            if first >= second:
                at = later if isinstance(given, dict) and later in given else earlier
                what = f"`policy.{later}` is {second}, but must be more than `policy.{earlier}`, which is {first}"
                notes.note(("policy", at), what, f"these come one after the other: {', '.join(names)}")


def _check_commands(agents: Mapping[str, AgentOptions], notes: Notes) -> None:
    for name, options in agents.items():
        key = ("agents", name, "command")
        if options.command is None and name not in BUILT_IN_AGENTS and notes.fine(*key):
            notes.note(
                key,
                f"`{dotted(key)}` is missing, and `{shown(name)}` is no built-in agent that would have one",
                f'add `command = ["{shown(name)}"]`; the built-in agents are {", ".join(BUILT_IN_AGENTS)}',
            )


def _check_agents(config: Config, notes: Notes) -> None:
    known = [*BUILT_IN_AGENTS, *config.agents]
    for key, name in _agents_spoken_of(config):
        if notes.fine(*key) and name not in known:
            meant = nearest_word(name, known)
            notes.note(
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
