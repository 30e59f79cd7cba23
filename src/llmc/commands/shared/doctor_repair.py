"""`llmc doctor --repair`: says what it will do, asks, keeps what could be lost, repairs, and looks again."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache

from llmc.app import App, open_site
from llmc.commands.shared.doctor_report import repair_report
from llmc.commands.shared.result import Result
from llmc.commands.shared.text_input import editor_words
from llmc.doctor.checks import look_twice, repairs_for
from llmc.doctor.repairs import Repair, RepairChoice, RepairContext, Repaired, RepairStage, carry_out
from llmc.errors import LlmcError
from llmc.host.terminal import run_in_terminal
from llmc.root import Root
from llmc.store.state_file import StateFile

ROUNDS = 4
"""What is repaired first may show what else is wrong: a state that is back names its workers."""
EDITOR = "open it in your editor"


class NobodyToAskError(LlmcError):
    """Repairs are for a person to agree to."""


def repair(app: App, root: Root) -> Result:
    health, findings = look_twice(app.host(), root)
    done: list[Repaired] = []
    tried: set[Repair] = set()
    for _ in range(ROUNDS):
        planned = [each for each in repairs_for(findings) if each not in tried]
        if not planned:
            break
        if not _agreed(app, planned):
            done += [Repaired(each, False, "left as it is") for each in planned]
            break
        done += _carry_out(app, context_for(app, root), planned)
        tried |= set(planned)
        health, findings = look_twice(app.host(), root)
    return repair_report(health, findings, done)


def context_for(app: App, root: Root) -> RepairContext:
    return RepairContext(root, app.host(), time.time(), cache(lambda: open_site(root)))


def _agreed(app: App, planned: Sequence[Repair]) -> bool:
    app.console.say("\n".join(["this can be repaired:", *(f"  {each.words}" for each in planned)]))
    if not app.console.can_ask:
        raise NobodyToAskError(
            "this needs a confirmation and there is no terminal; nothing was changed",
            "pass --yes to repair all of this",
        )
    return app.console.confirm("Repair it?")


def _carry_out(app: App, context: RepairContext, planned: Iterable[Repair]) -> list[Repaired]:
    done: list[Repaired] = []
    kept = False
    for each in planned:
        if not kept and each.fix.stage > RepairStage.ACCESS:
            StateFile(context.root.path).keep_copy("before-repair")
            kept = True
        chosen = _chosen(app, context, each)
        if chosen is None:
            done.append(Repaired(each, False, "left as it is"))
            continue
        done.append(carry_out(context, chosen))
        app.console.say(_line(done[-1]))
    return done


def _chosen(app: App, context: RepairContext, planned: Repair) -> Repair | None:
    """As the person wants it, where there is more than one way; None when they want none of them."""
    if planned.fix.choose is None:
        return planned
    choice = planned.fix.choose(context, planned)
    index = _choose(app, choice) if len(choice.ways) > 1 else 0
    if index is None:
        return None
    if index == len(choice.ways):
        run_in_terminal([*editor_words(app.environ), choice.editable])
        return None
    return replace(planned, fix=choice.ways[index])


def _choose(app: App, choice: RepairChoice) -> int | None:
    ways = [way.words for way in choice.ways]
    editor = [EDITOR] if choice.editable and app.console.is_terminal else []
    return app.console.choose(choice.question, [*ways, *editor], choice.usual)


def _line(repaired: Repaired) -> str:
    hint = f" ({repaired.hint})" if repaired.hint else ""
    return f"{'done' if repaired.done else 'not done'}: {repaired.repair.words}: {repaired.words}{hint}"
