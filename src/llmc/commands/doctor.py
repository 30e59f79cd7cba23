"""`llmc doctor`: looks at everything and says what is wrong. It works where nothing else does.

Without --repair and --rebuild it changes nothing.
"""

from __future__ import annotations

from argparse import Namespace

from llmc.app import App
from llmc.commands.shared.result import Result
from llmc.core.display import plain
from llmc.doctor.diagnose import Checked, checked
from llmc.doctor.findings import Finding, counted
from llmc.doctor.kinds import ERROR, Severity
from llmc.doctor.look import look_twice
from llmc.doctor.repairs import is_repairable
from llmc.errors import WrongWordsError
from llmc.model import Json
from llmc.root import Root, RootMissingError


def run(app: App, args: Namespace) -> Result:
    if sum((args.repair, args.rebuild, args.agents)) > 1:
        raise WrongWordsError("these are three different things", "say one of --repair, --rebuild and --agents")
    root = named_root(app)
    if args.agents:
        from llmc.commands.shared.doctor_agents import try_agents

        return try_agents(app, root)
    if args.rebuild:
        from llmc.commands.shared.doctor_rebuild import rebuild

        return rebuild(app, root)
    if args.repair:
        from llmc.commands.shared.doctor_repair import repair

        return repair(app, root)
    return _checked(app, root)


def named_root(app: App) -> Root:
    """Where the root is or would be: a damaged one is no root to other commands."""
    try:
        return app.root()
    except RootMissingError:
        return Root(app.given_root or app.environ.get("LLMC_ROOT") or "~/llmc")


def _checked(app: App, root: Root) -> Result:
    health, findings = look_twice(app.host(), root)
    groups = checked(health, findings)
    lines = [*told_groups(groups), *told(findings), verdict(findings)]
    mendable = sum(map(is_repairable, findings))
    if mendable:
        lines.append(f"`llmc doctor --repair` mends {mendable} of them")
    ok = is_well(findings)
    return Result(plain("\n".join(lines)), as_data(root, groups, findings), 0 if ok else 1)


def is_well(findings: tuple[Finding, ...]) -> bool:
    return all(each.severity is not ERROR for each in findings)


def as_data(root: Root, groups: tuple[Checked, ...], findings: tuple[Finding, ...]) -> dict[str, Json]:
    return {
        "schema": 1,
        "ok": is_well(findings),
        "root": root.path,
        "findings": [_data(each) for each in findings],
        "checked": [group.topic for group in groups],
    }


def _data(found: Finding) -> Json:
    """Names from a disk may hold bytes that are no text, which no JSON can carry."""
    return {
        "code": found.code,
        "severity": found.severity.value,
        "worker": found.worker,
        "what": plain(found.what),
        "why": plain(found.why),
        "repair": plain(found.repair),
        "repairable": is_repairable(found),
    }


def told_groups(groups: tuple[Checked, ...]) -> list[str]:
    return [f"ok  {group.summary}" for group in groups if group.well]


def told(findings: tuple[Finding, ...]) -> list[str]:
    lines = []
    for each in findings:
        lines.append(f"{each.severity}: {each.code}: {each.what}")
        lines += [f"  {line}" for line in each.why.splitlines()]
        lines.append(f"  repair: {each.repair}")
    return lines


def verdict(findings: tuple[Finding, ...]) -> str:
    counts = {severity: sum(each.severity is severity for each in findings) for severity in Severity}
    words = ", ".join(counted(number, severity.value) for severity, number in counts.items() if number)
    return words or "nothing is wrong"
