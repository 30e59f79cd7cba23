"""`llmc machine add`: another machine, on which workers can be."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import MappingProxyType

from llmc import __version__
from llmc.app import App
from llmc.commands.shared.machine_words import bring_up_there, machine_data
from llmc.commands.shared.result import Result
from llmc.config.machine_settings import MachineOptions
from llmc.errors import InvalidUsageError, LlmcError
from llmc.fleet.joining import INSTALLED, Probe, check_machine_name, install, make_there, probe
from llmc.fleet.notes import note_heard
from llmc.fleet.reach import Reach, reach_of
from llmc.fleet.registry import Fleet, Machine, Member, change_fleet, lock_of_machine, private_directory, read_fleet
from llmc.site import Site
from llmc.store.config_file import remove_table, set_table
from llmc.store.machine_file import read_membership

KINDS = ("ssh", "slurm", "command")
LOCK_SECS = 1.0


def run(app: App, args: Namespace) -> Result:
    site = app.site()
    check_machine_name(args.name)
    options = _options(args)
    if read_membership(site.root) is not None:
        raise LlmcError("this root is itself a machine of a hub", "add machines there")
    with lock_of_machine(site.root, args.name, "add", LOCK_SECS):
        machine = _made(app, site, args.name, options, install=args.install)
    warnings = bring_up_there(app, app.site(), machine)
    if options.slurm:
        from llmc.fleet.slurm import own_disk_warning

        warnings += own_disk_warning(site, machine)
    told = f"{args.name} is a machine of this root now: {machine.reach.words}, {options.slots} slots"
    then = f"next: `llmc add NAME --machine {args.name}`"
    return Result("\n".join([told, *warnings, then]), machine_data(site.root, args.name))


def _options(args: Namespace) -> MachineOptions:
    given = [kind for kind in KINDS if getattr(args, kind)]
    if len(given) != 1:
        raise InvalidUsageError(
            "say in one way how the machine is reached", "--ssh HOST, --slurm FLAGS or --command PREFIX"
        )
    labels = tuple(dict.fromkeys(label for each in args.labels for label in each.split(",") if label))
    said = {"slots": args.slots, "program": args.program, "home": args.place}
    more = {name: value for name, value in said.items() if value is not None}
    return MachineOptions(**{given[0]: getattr(args, given[0])}, labels=labels, **more)


def _made(app: App, site: Site, name: str, options: MachineOptions, *, install: bool) -> Machine:
    """In the settings and in the list only when everything is there."""
    fleet = read_fleet(site.root)
    known = fleet.members.get(name)
    if known is not None and not known.lost:
        raise LlmcError(f"there is a machine {name} already", f"`llmc machine check {name}`, or choose another name")
    hub = change_fleet(site.root, lambda fleet: fleet).hub
    place = options.home or f"~/llmc-{hub[:8]}-{name}"
    with _reached(site, name, options, place) as (reach, job):
        app.console.progress(f"looking at {name}")
        found = _looked(app, site, reach, options.program, wants_install=install)
        home = place.replace("~", found.home, 1) if place.startswith("~") else place
        epoch = known.epoch if known is not None else 1
        member = Member(name, "", home, found.program, epoch, job)
        return _joined(app, site, fleet, Machine(member, options, reach, hub))


@contextmanager
def _reached(site: Site, name: str, options: MachineOptions, place: str) -> Iterator[tuple[Reach, str]]:
    """With the job that it is, if it is one. What was allocated ends when it does not become a machine."""
    if not options.slurm:
        yield reach_of(options, private_directory(site.root)), ""
        return
    from llmc.fleet.slurm import allocation

    with allocation(site, name, options, place) as reach:
        yield reach, reach.job


def _joined(app: App, site: Site, fleet: Fleet, machine: Machine) -> Machine:
    name, options = machine.name, machine.options
    member = replace(machine.member, id=make_there(site, machine, app.console.progress))
    set_table(site.root.config_file, ("machines", name), _given(options))
    try:
        change_fleet(site.root, lambda fleet: _with(fleet, member))
    except BaseException:
        remove_table(site.root.config_file, ("machines", name))
        raise
    machine = replace(machine, member=member)
    note_heard(site.root, machine, {})
    return machine


def _looked(app: App, site: Site, reach: Reach, program: str, *, wants_install: bool) -> Probe:
    found = probe(site, reach, program)
    if found.lacks_llmc and (
        wants_install or app.console.agrees(f"{reach.words} has no llmc {__version__}. Install it?")
    ):
        app.console.progress(f"installing llmc {__version__} there")
        install(site, reach)
        found = probe(site, reach, INSTALLED)
    problems = found.problems()
    if problems:
        raise LlmcError(
            f"{reach.words} cannot be a machine yet: {'; '.join(problems)}", "then add it again; nothing was made"
        )
    return found


def _with(fleet: Fleet, member: Member) -> Fleet:
    return replace(fleet, members=MappingProxyType({**fleet.members, member.name: member}))


def _given(options: MachineOptions) -> dict[str, object]:
    usual = MachineOptions()
    names = ("ssh", "slurm", "command", "labels", "slots", "program", "home")
    given = {name: getattr(options, name) for name in names if getattr(options, name) != getattr(usual, name)}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in given.items()}
