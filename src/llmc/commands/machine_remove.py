"""`llmc machine remove`: a machine that has nothing left of ours goes from the list."""

from __future__ import annotations

from argparse import Namespace

from llmc.app import App
from llmc.commands.shared.agreement import require_agreement
from llmc.commands.shared.result import Result
from llmc.errors import LlmcError
from llmc.fleet.calls import Calls
from llmc.fleet.joining import over
from llmc.fleet.notes import forget_machine
from llmc.fleet.reach import shell_word
from llmc.fleet.registry import Machine, Member, change_member, machine_named, read_fleet
from llmc.fleet.shapes import BOARD
from llmc.fleet.transport import machine_ref
from llmc.git.repository import forget_refs, refs_below
from llmc.site import Site
from llmc.store.config_file import remove_table


def run(app: App, args: Namespace) -> Result:
    site = app.site()
    member = read_fleet(site.root).member(args.name)
    notes = _forgotten(app, member) if member.lost else _emptied(site, machine_named(site.root, site.config, args.name))
    if member.job:
        from llmc.fleet.slurm import end_allocation

        end_allocation(site, member.job)
    change_member(site.root, args.name, lambda member: None)
    remove_table(site.root.config_file, ("machines", args.name))
    forget_machine(site.root, args.name)
    forget_refs(site.git, site.root.path, *refs_below(site.git, site.root.path, f"{machine_ref(args.name)}/"))
    return Result("\n".join([f"{args.name} is no machine of this root any more", *notes]), {"removed": args.name})


def _emptied(site: Site, machine: Machine) -> list[str]:
    with Calls(site) as calls:
        said = calls.look(machine.name, "status", "--json")
        left = [worker["name"] for worker in said.shaped(BOARD)["workers"]]
        if said.code or left:
            what = f"still has {', '.join(left)}" if left else f"does not say what is left there: {said.err.strip()}"
            raise LlmcError(f"{machine.name} {what}", f"`llmc nuke {' '.join(left or ['NAME'])}` first")
        calls.do(machine.name, "down", "--force", repeatable=True)
    over(site, machine.reach, f"rm -rf -- {shell_word(machine.member.home)}")
    return []


def _forgotten(app: App, member: Member) -> list[str]:
    """It was given up: nobody there is asked."""
    nobody = LlmcError(f"{member.name} was given up and has not come back", "pass --yes to forget it for good")
    question = f"Forget {member.name} for good? Should it come back, nobody stops its agents."
    require_agreement(app, question, nobody, "nothing was changed")
    return [f"note: what is left there is in {member.home}: agents that still run, and work that never came here"]
