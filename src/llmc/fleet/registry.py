"""`machines.json`: which machines this hub has, by what is fixed when one joins; `[machines.NAME]` has the settings."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, field, replace
from pathlib import Path
from types import MappingProxyType
from uuid import uuid4
from zlib import crc32

from llmc.config.machine_settings import MachineOptions
from llmc.config.settings import Config
from llmc.errors import LlmcError
from llmc.fleet.reach import Reach, reach_of
from llmc.host.files import disk_errors, make_own_directory, write_atomically
from llmc.host.locks import FileLock
from llmc.root import Root
from llmc.values import Value

SCHEMA = 1
LONGEST_BASE = 30
"""Bytes: what is in there has up to 72 more, and a socket's path at most 104 on some systems."""


class Member(Value):
    """A machine as the hub knows it since it has joined."""

    name: str
    id: str
    home: str
    """The directory over there that has the root and the copy of the repository."""
    program: str
    epoch: int = 1
    job: str = ""
    """The allocation of Slurm that it is; empty for others, and when that has ended."""
    lost: bool = False
    """A person has given it up. What it still does counts no longer."""

    @property
    def root(self) -> str:
        return f"{self.home}/root"

    @property
    def source(self) -> str:
        return f"{self.home}/source.git"


class Fleet(Value):
    hub: str = ""
    """The hub's own name, which no other has."""
    members: Mapping[str, Member] = field(default_factory=lambda: MappingProxyType({}))

    def member(self, name: str) -> Member:
        if name not in self.members:
            known = ", ".join(self.members) or "there are none; `llmc machine add NAME` makes one"
            raise LlmcError(f"there is no machine {name!r}", f"the machines: {known}")
        return self.members[name]


class Machine(Value):
    """A machine with what is needed to talk to it."""

    member: Member
    options: MachineOptions
    reach: Reach
    hub: str

    @property
    def name(self) -> str:
        return self.member.name

    @property
    def labels(self) -> frozenset[str]:
        return frozenset((self.name, *self.options.labels))


def has_machines(root: Root) -> bool:
    return os.path.exists(root.machines)


def read_fleet(root: Root) -> Fleet:
    try:
        found = json.loads(Path(root.machines).read_bytes())
        members = {name: Member(name=name, **each) for name, each in found["members"].items()}
        return Fleet(str(found["hub"]), MappingProxyType(members))
    except FileNotFoundError:
        return Fleet()
    except (OSError, ValueError, LookupError, TypeError) as broken:
        raise LlmcError(f"{root.machines} cannot be read: {broken}", "put a copy of it back; machines go on") from None


def change_fleet(root: Root, change: Callable[[Fleet], Fleet]) -> Fleet:
    """One change at a time. The hub has its name from the first one on."""
    with FileLock(root.inside("run", "machines.lock"), name="the list of machines"), disk_errors(root.machines):
        fleet = read_fleet(root)
        changed = change(fleet if fleet.hub else replace(fleet, hub=uuid4().hex[:16]))
        members = {name: _without_name(each) for name, each in changed.members.items()}
        text = json.dumps({"schema": SCHEMA, "hub": changed.hub, "members": members}, indent=1)
        write_atomically(root.machines, text, durable=True)
        return changed


def change_member(root: Root, name: str, change: Callable[[Member], Member | None]) -> None:
    """None takes it out."""

    def changed(fleet: Fleet) -> Fleet:
        member = change(fleet.member(name))
        others = {key: each for key, each in fleet.members.items() if key != name}
        return replace(fleet, members=MappingProxyType(others | ({name: member} if member is not None else {})))

    change_fleet(root, changed)


def _without_name(member: Member) -> dict[str, object]:
    return {key: value for key, value in asdict(member).items() if key != "name"}


def machine_named(root: Root, config: Config, name: str) -> Machine:
    fleet = read_fleet(root)
    member = fleet.member(name)
    options = config.machines.get(name)
    if options is None:
        raise LlmcError(f"the settings have no [machines.{name}] any more", f"add it, or `llmc machine remove {name}`")
    return Machine(member, options, reach_of(options, private_directory(root), member.job), fleet.hub)


def all_machines(root: Root, config: Config) -> list[Machine]:
    """Those that the settings still say how to reach."""
    return [machine_named(root, config, name) for name in read_fleet(root).members if name in config.machines]


def lock_of_machine(root: Root, name: str, what: str, patience: float) -> FileLock:
    """Apart from the locks of workers: their names could be the same."""
    directory = root.inside("run", "machine-locks")
    make_own_directory(directory)
    return FileLock(f"{directory}/{name}.{what}", name=f"machine {name}", timeout=patience)


def private_directory(root: Root) -> str:
    """Where sockets are: of this user alone, and with a short path."""
    base = os.environ.get("XDG_RUNTIME_DIR") or os.path.join(tempfile.gettempdir(), f"llmc-{os.getuid()}")
    base = base if len(os.fsencode(base)) <= LONGEST_BASE else f"/tmp/llmc-{os.getuid()}"
    return os.path.join(base, f"llmc-{crc32(root.path.encode('utf-8', 'surrogateescape')):08x}")
