"""Machines of this root that do not answer. What is known is told at once, and nobody waits for them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import Any

from llmc.core.display import age
from llmc.doctor import daemon
from llmc.doctor.answers import Answer, Found, known
from llmc.doctor.findings import NOTE, Finding
from llmc.doctor.health import Health, Looking
from llmc.fleet.known import LOST, OK, read_known
from llmc.root import Root
from llmc.values import Value

TOPIC = daemon.TOPIC


class SilentMachine(Value):
    name: str
    state: str
    why: str
    heard_unix: float


class OtherMachinesSeen(Value):
    silent: Answer[tuple[SilentMachine, ...]] = field(metadata=TOPIC.asks("the machines of this root"))


def look(looking: Looking, seen: Health) -> OtherMachinesSeen:
    return OtherMachinesSeen(looking.ask(_find_silent))


def _find_silent(root: Root) -> Answer[tuple[SilentMachine, ...]]:
    return Found(tuple(_silent(each) for each in read_known(root) if each.get("state") != OK))


def _silent(told: dict[str, Any]) -> SilentMachine:
    heard = float(told.get("heard_unix") or 0.0)
    return SilentMachine(str(told["name"]), str(told.get("state")), str(told.get("why") or ""), heard)


SILENT = TOPIC.warning(
    "machine-silent",
    "a machine of this root does not answer, or you have given it up",
    "`llmc machine check {subject}` looks closer; `llmc machine lost {subject}` gives it up",
)


def judge(health: Health) -> Iterator[Finding]:
    for each in known(health.of(OtherMachinesSeen).silent, ()):
        since = f" for {age(health.at_unix - each.heard_unix)}" if each.heard_unix else ""
        what = f"the machine {each.name} is {each.state}{since}"
        if each.state == LOST:
            advice = f"nothing, should it come back; else `llmc machine remove {each.name}`"
            yield SILENT.finding(what, each.why, subject=each.name, severity=NOTE, advice=advice)
        else:
            yield SILENT.finding(what, each.why, subject=each.name, advice=SILENT.advice.format(subject=each.name))


def summary(health: Health) -> str:
    return ""
