"""`llmc doctor --repair`: says what it will do, asks, keeps what could be lost, repairs, and looks again."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace

from llmc.app import App, open_site
from llmc.care.catch_up import catch_up
from llmc.commands.doctor import as_data, is_well, told, verdict
from llmc.commands.shared.recovery_choices import choose_orphan, choose_recovery
from llmc.commands.shared.result import Result
from llmc.core.display import plain
from llmc.doctor.carry_out import Repaired, carry_out
from llmc.doctor.diagnose import checked
from llmc.doctor.findings import Finding
from llmc.doctor.health import Health
from llmc.doctor.look import look_twice
from llmc.doctor.means import Means
from llmc.doctor.remains import find_remains, find_remains_of, look_for_mending
from llmc.doctor.repairs import Do, Repair, repairs_for
from llmc.errors import LlmcError
from llmc.model import Json
from llmc.root import Root
from llmc.site import Site
from llmc.store.state_file import StateFile

ROUNDS = 4
"""What is mended first may show what else is wrong: a state that is back names its workers."""
ACCESS = (Do.MAKE_WRITABLE, Do.MAKE_DIRECTORY, Do.CLOSE_TO_OTHERS)
"""They touch nothing that could be lost, and without them a copy may be impossible."""


class NobodyToAskError(LlmcError):
    """Repairs are for a person to agree to."""


def repair(app: App, root: Root) -> Result:
    health, findings = look_twice(app.host(), root)
    done: list[Repaired] = []
    tried: set[Repair] = set()
    for _ in range(ROUNDS):
        planned = [each for each in repairs_for(findings) if each not in tried]
        if not planned or not _agreed(app, planned):
            break
        done += _carry_out(app, means_for(app, root), health, planned)
        tried |= set(planned)
        health, findings = look_twice(app.host(), root)
    return _report(root, health, findings, done)


def means_for(app: App, root: Root) -> Means:
    opened: list[Site] = []

    def site() -> Site:
        if not opened:
            opened.append(open_site(root))
        return opened[0]

    return Means(root, app.host(), time.time(), site, catch_up, find_remains, find_remains_of, look_for_mending)


def _agreed(app: App, planned: Sequence[Repair]) -> bool:
    app.console.say("\n".join(["this can be repaired:", *(f"  {each.words}" for each in planned)]))
    if not app.console.can_ask:
        raise NobodyToAskError("nobody can be asked here; nothing was changed", "say --yes to repair all of this")
    return app.console.confirm("Repair it?")


def _carry_out(app: App, means: Means, health: Health, planned: Iterable[Repair]) -> list[Repaired]:
    done: list[Repaired] = []
    kept = False
    for each in planned:
        if not kept and each.do not in ACCESS:
            StateFile(means.root.path).keep_copy("before-repair")
            kept = True
        chosen = _chosen(app, means, health, each)
        if chosen is None:
            done.append(Repaired(each, False, "left as it is"))
            continue
        done.append(carry_out(means, chosen))
        app.console.say(_line(done[-1]))
    return done


def _chosen(app: App, means: Means, health: Health, planned: Repair) -> Repair | None:
    """Where there is more than one way, the one that the person wants."""
    if planned.do is Do.RECOVER_STATE:
        do = choose_recovery(app, means, health)
        return replace(planned, do=do) if do is not None else None
    if planned.do is Do.REMOVE_WORKTREE:
        do = choose_orphan(app, means, planned.subject)
        return replace(planned, do=do) if do is not None else None
    return planned


def _line(repaired: Repaired) -> str:
    hint = f" ({repaired.hint})" if repaired.hint else ""
    return f"{'done' if repaired.done else 'not done'}: {repaired.repair.words}: {repaired.words}{hint}"


def _report(root: Root, health: Health, findings: tuple[Finding, ...], done: list[Repaired]) -> Result:
    groups = checked(health, findings)
    made = sum(each.done for each in done)
    head = [f"{made} of {len(done)} repairs done"] if done else ["there was nothing to repair"]
    left = ["what is left:", *told(findings)] if findings else []
    data: dict[str, Json] = {**as_data(root, groups, findings), "repaired": [_data(each) for each in done]}
    return Result(plain("\n".join([*head, *left, verdict(findings)])), data, 0 if is_well(findings) else 1)


def _data(repaired: Repaired) -> Json:
    return {
        "do": repaired.repair.do.value,
        "worker": repaired.repair.worker,
        "words": plain(repaired.repair.words),
        "done": repaired.done,
        "result": plain(repaired.words),
        "hint": plain(repaired.hint),
    }
