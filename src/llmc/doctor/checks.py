"""All topics together: everything is looked at, judged, shown in one order and repaired in another."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol, TypeVar

from llmc.core.display import some
from llmc.doctor import (
    agents,
    clone,
    daemon,
    machine,
    other_machines,
    records,
    root_files,
    scratch,
    sessions,
    settings,
    source,
    state,
    tasks,
    worktrees,
)
from llmc.doctor.answers import Answer, Found, Gap, Unknown, gaps_in, given, probe
from llmc.doctor.findings import ERROR, NOTE, Finding, FindingKind, Severity, Topic
from llmc.doctor.health import BRANCHES, SESSIONS, Health, Looking, ProgramVersion
from llmc.doctor.repairs import Repair
from llmc.git.runner import Git
from llmc.host.base import Host
from llmc.root import Root
from llmc.tmux.server import Tmux

T = TypeVar("T")


class TopicModule(Protocol):
    TOPIC: Topic

    def look(self, looking: Looking, seen: Health) -> object:
        """The answers to all questions of this topic. It changes nothing."""

    def judge(self, health: Health) -> Iterator[Finding]:
        """What is wrong. Pure."""

    def summary(self, health: Health) -> str:
        """What to say of the topic when it is well; empty where another module of the topic says it."""


MODULES: tuple[TopicModule, ...] = (
    machine,
    agents,
    root_files,
    settings,
    state,
    clone,
    source,
    worktrees,
    scratch,
    sessions,
    daemon,
    other_machines,
    tasks,
    records,
)
"""In this order they look, each with what those before it have seen, and in this order their findings are shown."""
TOPICS = tuple(dict.fromkeys(module.TOPIC.name for module in MODULES))

NOT_CHECKED = FindingKind(
    "",
    Severity.WARNING,
    "not-checked",
    "a check could not be made, so that nothing is known",
    "remove the reason, then `llmc doctor` again",
)
_DEFINED = (kind for module in MODULES for kind in module.TOPIC.kinds)
KINDS: Mapping[str, FindingKind] = {kind.code: kind for kind in (*_DEFINED, NOT_CHECKED)}

_SHOWN = tuple(KINDS)
_WORST = tuple(Severity)


# --- look -----------------------------------------------------------------------------------------


def look_at_everything(host: Host, root: Root, now: float) -> Health:
    """It changes nothing, and no answer that fails keeps another from coming."""
    looking = _looking(host, root, now)
    parts: dict[type, object] = {}
    seen = Health(now, root, parts)
    for module in MODULES:
        part = module.look(looking, seen)
        parts[type(part)] = part
    return seen


def _looking(host: Host, root: Root, now: float) -> Looking:
    present = probe(lambda: root_files.find_root(root))
    git = probe(lambda: machine.look_at_version(host, "git", "--version"))
    tmux = probe(lambda: machine.look_at_version(host, "tmux", "-V"))
    return Looking(
        host,
        root,
        now,
        present,
        {"git": git, "tmux": tmux},
        git=given(present, lambda _: _usable("git", git, Git(host))),
        tmux=given(present, lambda _: _usable("tmux", tmux, Tmux(host, root.tmux_socket))),
        config=given(present, settings.read_settings),
        state=given(present, lambda root: state.read_state(root, now)),
    )


def _usable(program: str, version: Answer[ProgramVersion], tool: T) -> Answer[T]:
    old = Unknown("too old", covered=True)
    return given(version, lambda version: Found(tool) if version >= machine.MINIMUM[program] else old)


def look_twice(host: Host, root: Root) -> tuple[Health, tuple[Finding, ...]]:
    """What is wrong and stays so: agents and the daemon go on meanwhile, and a moment in between is nothing wrong."""
    health = look_at_everything(host, root, time.time())
    first = diagnose(health)
    if all(each.severity is NOTE for each in first):
        return health, first
    again = look_at_everything(host, root, time.time())
    seen = {(each.code, each.worker) for each in first}
    return again, tuple(each for each in diagnose(again) if (each.code, each.worker) in seen)


# --- judgement ------------------------------------------------------------------------------------


def diagnose(health: Health) -> tuple[Finding, ...]:
    """Everything that is wrong, the worst first."""
    found = [*_not_checked(health), *(each for module in MODULES for each in module.judge(health))]
    return tuple(sorted(found, key=lambda each: _WORST.index(each.severity)))


def _gaps(health: Health) -> Iterator[Gap]:
    for part in health.parts.values():
        yield from gaps_in(part)


def _not_checked(health: Health) -> Iterator[Finding]:
    """One finding for each reason: a hundred questions to a program that hangs are one trouble."""
    gaps = [gap for gap in _gaps(health) if not gap.covered]
    for why in dict.fromkeys(gap.why for gap in gaps):
        same = [gap for gap in gaps if gap.why == why]
        severity = ERROR if any(gap.required for gap in same) else None
        yield NOT_CHECKED.finding(f"could not check {some([gap.words for gap in same])}", why, severity=severity)


def checked(health: Health, findings: tuple[Finding, ...]) -> dict[str, str]:
    """The topics that were checked, with what to say of each that is well; empty for the others.

    Only one that was checked as a whole can be well; a note does not matter.
    """
    unwell = {each.kind.topic for each in findings if each.severity is not NOTE}
    made = unwell | set(TOPICS).difference(gap.topic for gap in _gaps(health))
    return {topic: "" if topic in unwell else _summary(health, topic) for topic in TOPICS if topic in made}


def _summary(health: Health, topic: str) -> str:
    said = (module.summary(health) for module in MODULES if module.TOPIC.name == topic)
    return next(filter(None, said))


# --- repair ---------------------------------------------------------------------------------------


def repairs_for(findings: Iterable[Finding]) -> tuple[Repair, ...]:
    """What can be done about them, in order, each thing once. The others are for a person."""
    known = sorted(findings, key=lambda each: _SHOWN.index(each.code))
    orphans = {each.subject for each in known if each.kind is worktrees.ORPHANED}
    repairs = (each.repair for each in known if not _waits_for(orphans, each))
    return tuple(sorted(dict.fromkeys(filter(None, repairs)), key=lambda each: each.fix.stage))


def _waits_for(orphans: set[str], found: Finding) -> bool:
    """A worktree may become a worker again, and then its branch, its session and its programs are that worker's."""
    own = {clone.BRANCH_ORPHANED: BRANCHES, sessions.ORPHANED: SESSIONS, sessions.STRAY: ""}
    return found.kind in own and found.subject.removeprefix(own[found.kind]) in orphans
