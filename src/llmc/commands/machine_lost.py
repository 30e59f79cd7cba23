"""`llmc machine lost`: a person gives a machine up. Its tasks go to others; should it come back, nothing runs twice."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace

from llmc.app import App
from llmc.commands.shared.agreement import require_agreement
from llmc.commands.shared.result import Result
from llmc.core.display import some
from llmc.errors import LlmcError
from llmc.fleet.known import LOST
from llmc.fleet.landing import settle_there
from llmc.fleet.notes import note_silent
from llmc.fleet.placing import free_tasks
from llmc.fleet.registry import change_member, machine_named
from llmc.host.locks import FileLock
from llmc.perform.landing import LANDING, settle_landings


def run(app: App, args: Namespace) -> Result:
    site = app.site()
    machine = machine_named(site.root, site.config, args.name)
    if machine.member.lost:
        raise LlmcError(f"{args.name} is given up already", "it is taken back by itself when it answers again")
    question = f"Give {args.name} up? Its tasks go to others, and its agents are stopped should it come back."
    nobody = LlmcError(f"{args.name} would be given up; nothing was changed", "pass --yes to do it")
    require_agreement(app, question, nobody, "nothing was changed")
    change_member(site.root, args.name, lambda member: replace(member, lost=True, epoch=member.epoch + 1))
    with FileLock(site.root.landing_lock, name=LANDING):
        settle_landings(site)
        settle_there(site, args.name)  # what has landed of its work is done, and goes to nobody
    freed = free_tasks(site, args.name)
    note_silent(site.root, machine, "given up by you", LOST)
    told = f"; {some(freed)} wait{'s' if len(freed) == 1 else ''} for another worker" if freed else ""
    return Result(f"{args.name} is given up{told}", {"machine": args.name, "freed": freed})
