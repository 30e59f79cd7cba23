"""A new worker on another machine."""

from __future__ import annotations

import sys
from argparse import Namespace

from llmc.commands.shared.result import Result
from llmc.errors import LlmcError
from llmc.fleet.branches import send_branch
from llmc.fleet.calls import Calls
from llmc.fleet.known import OK, read_known
from llmc.fleet.registry import all_machines, machine_named
from llmc.fleet.words import complaint_in
from llmc.site import Site


def add_elsewhere(site: Site, args: Namespace) -> Result:
    """On the machine of that name, else on the one with that label that has the most slots without a worker."""
    if args.name in site.ledger.load().workers:
        raise LlmcError(f"there is a worker named {args.name} already", "choose another name")
    name = _machine(site, args.machine)
    with Calls(site) as calls:
        send_branch(site, machine_named(site.root, site.config, name))
        answer = calls.do(name, "add", args.name, *_flags(args), "--json")
    if answer.code != 0:
        raise LlmcError(*complaint_in(answer.err))
    if answer.err:
        sys.stderr.write(answer.err)
    data = {**answer.shaped(dict.fromkeys(("name", "branch", "worktree_path", "agent"), "")), "machine": name}
    return Result(f"added {args.name} ({data['agent']}) on {name}; its daemon brings it up", data)


def _machine(site: Site, wanted: str) -> str:
    machines = all_machines(site.root, site.config)
    if any(machine.name == wanted for machine in machines):
        return wanted
    workers = {each["name"]: each for each in read_known(site.root) if each.get("state") == OK}
    fitting = [each for each in machines if wanted in each.labels and each.name in workers]
    if not fitting:
        labels = sorted({label for each in machines for label in each.labels})
        raise LlmcError(
            f"there is no machine {wanted!r}, and none that answers has that label",
            f"there are: {', '.join(labels) or 'none; `llmc machine add` makes one'}",
        )
    room = {each.name: each.options.slots - _count(workers[each.name]) for each in fitting}
    return max(fitting, key=lambda each: (room[each.name], each.name)).name


def _count(known: dict[str, object]) -> int:
    document = known.get("document")
    return len(document["workers"]) if isinstance(document, dict) else 0


def _flags(args: Namespace) -> list[str]:
    given = []
    for name in ("agent", "model", "role_prompt", "role", "sandbox"):
        said = getattr(args, name)
        given += [f"--{name.replace('_', '-')}", said] if said is not None else []
    return [*given, *(["--exclude-from-pool"] if args.exclude_from_pool else [])]
