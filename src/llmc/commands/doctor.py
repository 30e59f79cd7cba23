"""`llmc doctor`: looks at everything and says what is wrong. It changes nothing and works where nothing else does."""

from __future__ import annotations

import time
from argparse import Namespace

from llmc.app import App
from llmc.commands.result import Result
from llmc.core.diagnose import Checked, checked, diagnose
from llmc.core.display import plain
from llmc.core.findings import Finding, counted
from llmc.core.health import Health
from llmc.core.kinds import ERROR, NOTE, Severity
from llmc.model import Json
from llmc.observe.health import check_health
from llmc.root import Root, RootMissingError


def run(app: App, args: Namespace) -> Result:
    root = _root(app)
    health, findings = _look(app, root)
    groups = checked(health, findings)
    ok = all(each.severity is not ERROR for each in findings)
    data: Json = {
        "schema": 1,
        "ok": ok,
        "root": root.path,
        "findings": [_data(each) for each in findings],
        "checked": [group.topic for group in groups],
    }
    return Result(plain(_text(groups, findings)), data, 0 if ok else 1)


def _root(app: App) -> Root:
    """Where the root is or would be: a damaged one is no root to other commands."""
    try:
        return app.root()
    except RootMissingError:
        return Root(app.given_root or app.environ.get("LLMC_ROOT") or "~/llmc")


def _look(app: App, root: Root) -> tuple[Health, tuple[Finding, ...]]:
    health = check_health(app.host(), root, time.time())
    findings = diagnose(health)
    if all(each.severity is NOTE for each in findings):
        return health, findings
    again = check_health(app.host(), root, time.time())
    return again, _lasting(findings, diagnose(again))


def _lasting(first: tuple[Finding, ...], second: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """What was seen twice: agents and the daemon go on meanwhile, and a moment in between is nothing wrong."""
    seen = {(each.code, each.worker) for each in first}
    return tuple(each for each in second if (each.code, each.worker) in seen)


def _data(found: Finding) -> dict[str, Json]:
    """Names from a disk may hold bytes that are no text, which no JSON can carry."""
    return {
        "code": found.code,
        "severity": found.severity.value,
        "worker": found.worker,
        "what": plain(found.what),
        "why": plain(found.why),
        "repair": plain(found.repair),
    }


def _text(groups: tuple[Checked, ...], findings: tuple[Finding, ...]) -> str:
    lines = [f"ok  {group.summary}" for group in groups if group.well]
    for each in findings:
        lines.append(f"{each.severity}: {each.code}: {each.what}")
        lines += [f"  {line}" for line in each.why.splitlines()]
        lines.append(f"  repair: {each.repair}")
    return "\n".join([*lines, _verdict(findings)])


def _verdict(findings: tuple[Finding, ...]) -> str:
    counts = {severity: sum(each.severity is severity for each in findings) for severity in Severity}
    told = ", ".join(counted(number, severity.value) for severity, number in counts.items() if number)
    return told or "nothing is wrong"
