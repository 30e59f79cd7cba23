"""`machine.json`: that this root is a machine of a hub, and which."""

from __future__ import annotations

import json
from pathlib import Path

from llmc.errors import LlmcError
from llmc.host.files import disk_errors, write_atomically
from llmc.root import Root
from llmc.values import Value


class Membership(Value):
    hub: str
    """The name that the hub has given itself, which no other has."""
    machine: str
    """What the hub calls this machine."""
    id: str
    """Made anew with the root: a root that was made anew is another one."""
    epoch: int
    """Raised by the hub when it gives the machine up: what was begun in an earlier one is stopped."""


def machine_file(root: Root) -> Path:
    return Path(root.inside("machine.json"))


def read_membership(root: Root) -> Membership | None:
    """None where the root belongs to no hub."""
    try:
        found = json.loads(machine_file(root).read_bytes())
        return Membership(str(found["hub"]), str(found["machine"]), str(found["id"]), int(found["epoch"]))
    except (OSError, ValueError, LookupError, TypeError):
        return None


def require_no_hub(root: Root, what: str) -> None:
    """The branch of a machine is its hub's: what would land there alone would be lost with its next push."""
    member = read_membership(root)
    if member is not None:
        raise LlmcError(f"{root.path} is the machine {member.machine} of a hub: {what}", "type it at the hub")


def write_membership(root: Root, member: Membership) -> None:
    said = {"hub": member.hub, "machine": member.machine, "id": member.id, "epoch": member.epoch}
    with disk_errors(machine_file(root)):
        write_atomically(machine_file(root), json.dumps(said), durable=True)


def ending_file(root: Root) -> Path:
    return Path(root.inside("run", "ending"))


def note_ending(root: Root) -> None:
    """Its allocation is about to end."""
    with disk_errors(ending_file(root)):
        write_atomically(ending_file(root), "")


def is_ending(root: Root) -> bool:
    return ending_file(root).exists()
