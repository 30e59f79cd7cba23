"""What `llmc doctor` says of what it has found, and of the repairs that it has made."""

from __future__ import annotations

from collections.abc import Sequence

from llmc.commands.shared.result import Result
from llmc.core.display import counted, plain
from llmc.doctor.checks import checked
from llmc.doctor.findings import ERROR, Finding, Severity
from llmc.doctor.health import Health
from llmc.doctor.repairs import Repaired
from llmc.model import Json


def report(health: Health, findings: tuple[Finding, ...]) -> Result:
    well = [f"ok  {summary}" for summary in checked(health, findings).values() if summary]
    repairable = sum(each.repair is not None for each in findings)
    offer = [f"`llmc doctor --repair` repairs {repairable} of them"] if repairable else []
    return _result([*well, *_told(findings), _verdict(findings), *offer], health, findings, {})


def repair_report(health: Health, findings: tuple[Finding, ...], done: Sequence[Repaired]) -> Result:
    made = sum(each.done for each in done)
    head = [f"{made} of {len(done)} repairs done"] if done else ["there was nothing to repair"]
    left = ["what is left:", *_told(findings)] if findings else []
    repaired: list[Json] = [_repaired_data(each) for each in done]
    return _result([*head, *left, _verdict(findings)], health, findings, {"repaired": repaired})


def _result(lines: list[str], health: Health, findings: tuple[Finding, ...], more: dict[str, Json]) -> Result:
    ok = all(each.severity is not ERROR for each in findings)
    data: dict[str, Json] = {
        "schema": 1,
        "ok": ok,
        "root": health.root.path,
        "findings": [_data(each) for each in findings],
        "checked": list(checked(health, findings)),
    }
    return Result(plain("\n".join(lines)), data | more, 0 if ok else 1)


def _data(found: Finding) -> Json:
    """Names from a disk may hold bytes that are no text, which no JSON can carry."""
    return {
        "code": found.code,
        "severity": found.severity.value,
        "worker": found.worker,
        "what": plain(found.what),
        "why": plain(found.why),
        "repair": plain(found.advice),
        "repairable": found.repair is not None,
    }


def _repaired_data(repaired: Repaired) -> Json:
    return {
        "do": repaired.repair.fix.do,
        "worker": repaired.repair.worker,
        "words": plain(repaired.repair.words),
        "done": repaired.done,
        "result": plain(repaired.words),
        "hint": plain(repaired.hint),
    }


def _told(findings: tuple[Finding, ...]) -> list[str]:
    lines = []
    for each in findings:
        lines.append(f"{each.severity}: {each.code}: {each.what}")
        lines += [f"  {line}" for line in each.why.splitlines()]
        lines.append(f"  repair: {each.advice}")
    return lines


def _verdict(findings: tuple[Finding, ...]) -> str:
    counts = {severity: sum(each.severity is severity for each in findings) for severity in Severity}
    words = ", ".join(counted(number, severity.value) for severity, number in counts.items() if number)
    return words or "nothing is wrong"
