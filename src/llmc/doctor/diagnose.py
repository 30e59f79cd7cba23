"""From what was seen to what is wrong and how to mend it. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields

from llmc.doctor.diagnose_machine import dotted, machine_findings, root_findings, size
from llmc.doctor.diagnose_remains import remains_findings
from llmc.doctor.diagnose_repository import repository_findings
from llmc.doctor.diagnose_workers import worker_findings
from llmc.doctor.findings import KINDS, TOPICS, Finding, counted, finding, some
from llmc.doctor.health import SUBJECTS, Found, Health, RootHealth, Unknown, WorkerHealth
from llmc.doctor.kinds import ERROR, NOTE, Severity

ORDER = tuple(Severity)
REQUIRED = frozenset(("git", "tmux", "root", "settings", "state", "clone"))
"""Without an answer to these nobody can say that things are well."""


def diagnose(health: Health) -> tuple[Finding, ...]:
    """Everything that is wrong, the worst first."""
    found = [*machine_findings(health), *_not_checked(health)]
    if isinstance(health.root, Found):
        root = health.root.value
        found += [
            *root_findings(root),
            *repository_findings(health.at_unix, root),
            *worker_findings(health.at_unix, root),
        ]
        found += remains_findings(health.at_unix, root)
    return tuple(sorted(found, key=lambda each: ORDER.index(each.severity)))


# --- what could not be seen -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Gap:
    topic: str
    words: str
    why: str
    covered: bool
    required: bool


def _gaps(health: Health) -> Iterator[_Gap]:
    yield from _gaps_in(health)
    if isinstance(health.root, Found):
        root = health.root.value
        yield from _gaps_in(root)
        if isinstance(root.workers, Found):
            for each in root.workers.value:
                yield from _gaps_in(each, f"{each.worker.name}: ")


def _gaps_in(seen: Health | RootHealth | WorkerHealth, of: str = "") -> Iterator[_Gap]:
    for each in fields(seen):
        answer = getattr(seen, each.name)
        if isinstance(answer, Unknown):
            topic, words = SUBJECTS[each.name]
            yield _Gap(topic, of + words, answer.why, answer.covered, each.name in REQUIRED)


def _not_checked(health: Health) -> Iterator[Finding]:
    """One finding for each reason: a hundred questions to a program that hangs are one trouble."""
    gaps = [gap for gap in _gaps(health) if not gap.covered]
    for why in dict.fromkeys(gap.why for gap in gaps):
        same = [gap for gap in gaps if gap.why == why]
        severity = ERROR if any(gap.required for gap in same) else None
        yield finding("not-checked", f"could not check {some([gap.words for gap in same])}", why, severity=severity)


# --- what is well ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Checked:
    """A group of checks; `summary` is what to say of it when it is well."""

    topic: str
    well: bool
    summary: str


def checked(health: Health, findings: tuple[Finding, ...]) -> tuple[Checked, ...]:
    """The groups of checks that were made. Only one that was made as a whole can be well; a note does not matter."""
    unwell = {KINDS[each.code].topic for each in findings if each.severity is not NOTE}
    unanswered = {gap.topic for gap in _gaps(health)}
    if isinstance(health.root, Found) and not isinstance(health.root.value.workers, Found):
        unanswered |= {SUBJECTS[each.name][0] for each in fields(WorkerHealth) if each.name in SUBJECTS}
    topics = TOPICS if isinstance(health.root, Found) else ("programs", "root")
    return tuple(
        Checked(topic, topic not in unwell, _summary(health, topic))
        for topic in topics
        if topic in unwell or topic not in unanswered
    )


def _summary(health: Health, topic: str) -> str:
    if topic == "programs":
        return ", ".join(
            f"{name} {dotted(answer.value)}"
            for name, answer in (("git", health.git), ("tmux", health.tmux))
            if isinstance(answer, Found)
        )
    return _root_summary(health.root.value, topic) if isinstance(health.root, Found) else topic


def _root_summary(root: RootHealth, topic: str) -> str:
    match topic:
        case "agents" if isinstance(root.agents, Found):
            return f"agents: {', '.join(agent.name for agent in root.agents.value)}"
        case "root" if isinstance(root.space, Found):
            return f"root {root.path}, {size(root.space.value.free_bytes)} free"
        case "state" if isinstance(root.state, Found):
            return f"state: {counted(len(root.state.value.workers), 'worker')}"
        case "repository" if isinstance(root.settings, Found):
            return f"clone of {root.settings.value.source}, branch {root.settings.value.branch}"
        case "terminals" if isinstance(root.terminals, Found):
            return f"terminals: {sum(each.alive for each in root.terminals.value)} running"
        case "daemon":
            daemon = root.daemon.value if isinstance(root.daemon, Found) else None
            return f"daemon runs (pid {daemon.pid})" if daemon and daemon.running else "no daemon"
        case "records":
            return "logs and reports"
    return topic
