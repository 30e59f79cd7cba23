"""`llmc machine list`: the machines, and how old what is known of each is."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from llmc.app import App
from llmc.commands.shared.machine_words import told_machines
from llmc.commands.shared.result import Result
from llmc.core.display import age, one_line

WHY_WIDTH = 100


def run(app: App, args: Namespace) -> Result:
    from llmc.fleet.looking import look_round

    site = app.site()
    look_round(site)
    machines = told_machines(site.root)
    text = "\n".join(map(_line, machines)) or "no machines yet: `llmc machine add NAME --ssh HOST` makes one"
    return Result(text, {"machines": machines})


def _line(machine: dict[str, Any]) -> str:
    labels = ",".join(machine["labels"]) or "-"
    secs = machine["age_secs"]
    state = machine["state"] if machine["state"] == "ok" or secs is None else f"{machine['state']} {age(secs)}"
    busy = f"{len(machine['workers'])} workers, {machine['slots']} slots"
    load = f", load {machine['load']:.1f}" if machine.get("load") is not None else ""
    why = f"  {one_line(machine['why'], WHY_WIDTH)}" if machine["why"] else ""
    return f"{machine['name']:<12} {state:<16} {machine['reach']:<24} {labels:<16} {busy}{load}{why}"
