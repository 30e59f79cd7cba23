"""Keeping what a machine has told, for `fleet.known` to show."""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from typing import Any

from llmc.fleet.known import ENDED, OK, UNREACHABLE, moved
from llmc.fleet.registry import Machine
from llmc.fleet.shapes import number, shaped_board
from llmc.host.files import make_own_directory, write_atomically
from llmc.root import Root
from llmc.store.snapshot import read_object


def note_heard(root: Root, machine: Machine, said: dict[str, Any]) -> dict[str, Any]:
    """The machine has answered, with its board where it told that. What is known now."""
    now = time.time()
    state = {"state": ENDED, "why": "its allocation ends"} if said.get("ending") else {"state": OK, "why": ""}
    known = {**_told(root, machine), **state, "heard_unix": now}
    if "load" in said:
        known["load"] = round(number(said["load"]), 2)
    if isinstance(said.get("board"), dict):
        by = now - number(said.get("now_unix"), now)
        known |= {"document": moved(shaped_board(said["board"]), by), "ahead_secs": -by}
    return _write(root, machine.name, known)


def note_silent(
    root: Root, machine: Machine, why: str, state: str = UNREACHABLE, heard_unix: float | None = None
) -> bool:
    """It cannot be reached: what was known stays, and grows old. `heard_unix`: when it said its last word, if not
    since what is known of it was noted. Whether it did answer before."""
    before = _told(root, machine)
    known = {**before, "state": state, "why": why, **({"heard_unix": heard_unix} if heard_unix is not None else {})}
    if known != before:
        _write(root, machine.name, known)
    return before.get("state") == OK


def forget_machine(root: Root, name: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(_file(root, name))


def _told(root: Root, machine: Machine) -> dict[str, Any]:
    options = machine.options
    fixed = {"name": machine.name, "reach": machine.reach.words, "labels": list(options.labels), "slots": options.slots}
    return {**read_object(_file(root, machine.name)), **fixed}


def _write(root: Root, name: str, known: dict[str, Any]) -> dict[str, Any]:
    make_own_directory(root.known_machines)
    write_atomically(_file(root, name), json.dumps(known))
    return known


def _file(root: Root, name: str) -> str:
    return os.path.join(root.known_machines, f"{name}.json")
