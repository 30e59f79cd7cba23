"""`llmc machine check`: what a machine has and how it answers."""

from __future__ import annotations

from argparse import Namespace

from llmc.app import App
from llmc.commands.shared.machine_words import bring_up_there, machine_data
from llmc.commands.shared.result import Result
from llmc.errors import LlmcError
from llmc.fleet.joining import join, probe
from llmc.fleet.registry import machine_named


def run(app: App, args: Namespace) -> Result:
    site = app.site()
    machine = machine_named(site.root, site.config, args.name)
    if machine.options.slurm and not machine.member.lost:
        from llmc.fleet.slurm import allocated_anew, is_over

        machine = allocated_anew(site, machine) if is_over(site, machine) else machine
    found = probe(site, machine.reach, machine.member.program)
    problems, notes = found.problems(), list[str]()
    if not problems and not machine.member.lost:
        try:
            join(site, machine)  # the settings may have changed here since
        except LlmcError as refused:
            if "no LLMC root" in refused.what:
                refused.hint = f"was it wiped? `llmc machine lost {args.name}`, then `llmc machine add {args.name} ...`"
            raise
        notes = bring_up_there(app, site, machine)
    lines = [f"{args.name}: {each}" for each in problems] or [
        f"{args.name} answers over {machine.reach.words}: {found.git}, {found.tmux}, llmc {found.version}"
    ]
    data = {**(machine_data(site.root, args.name) or {}), "problems": problems}
    return Result("\n".join([*lines, *notes]), data, 1 if problems else 0)
