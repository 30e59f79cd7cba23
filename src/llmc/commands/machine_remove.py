"""`llmc machine remove`: a machine that has nothing left of ours goes from the list."""

from __future__ import annotations

from argparse import Namespace

from llmc.app import App
from llmc.commands.shared.result import Result
from llmc.errors import LlmcError
from llmc.fleet.calls import Calls
from llmc.fleet.joining import over
from llmc.fleet.notes import forget_machine
from llmc.fleet.reach import shell_word
from llmc.fleet.registry import change_member, machine_named
from llmc.store.config_file import remove_table


def run(app: App, args: Namespace) -> Result:
    site = app.site()
    machine = machine_named(site.root, site.config, args.name)
    with Calls(site) as calls:
        left = [worker["name"] for worker in calls.look(args.name, "status", "--json").data["workers"]]
        if left:
            raise LlmcError(f"{args.name} still has {', '.join(left)}", f"`llmc nuke {' '.join(left)}` first")
        calls.do(args.name, "down", "--force", repeatable=True)
    over(site, machine.reach, f"rm -rf -- {shell_word(machine.member.home)}")
    if machine.member.job:
        from llmc.fleet.slurm import end_allocation

        end_allocation(site, machine.member.job)
    change_member(site.root, args.name, lambda member: None)
    remove_table(site.root.config_file, ("machines", args.name))
    forget_machine(site.root, args.name)
    return Result(f"{args.name} is no machine of this root any more", {"removed": args.name})
