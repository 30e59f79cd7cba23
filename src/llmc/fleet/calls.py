"""Asking a machine: over the daemon's connection where one runs, else over one of our own."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any, Self
from uuid import uuid4

from llmc.errors import LlmcError
from llmc.fleet.link import GREETS_WITHIN_SECS, MachineLink
from llmc.fleet.notes import note_heard, note_silent
from llmc.fleet.reach import UnreachableError
from llmc.fleet.registry import Machine, machine_named
from llmc.fleet.switchboard_socket import ask_switchboard
from llmc.fleet.wire import MachineAnswer, answer_in
from llmc.site import Site

ANSWERS_WITHIN_SECS = 3600.0
LOOKS_WITHIN_SECS = 60.0
ASKS_AGAIN_SECS = 20.0
PAUSE_SECS = 0.5


class LostMachineError(LlmcError):
    """A person has given the machine up."""


class UnknownOutcomeError(LlmcError):
    """The connection broke after the question and before the answer. The machine keeps that."""

    exit_code = 4


class Calls:
    """As a context: connections of our own end with it.

    `anew`: the daemon is not asked. It may not know yet that a machine has joined, or can be reached again.
    """

    def __init__(self, site: Site, greets_within: float = GREETS_WITHIN_SECS, *, anew: bool = False) -> None:
        self._site = site
        self._anew = anew
        self._greets_within = greets_within
        self._links: dict[str, MachineLink] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for link in self._links.values():
            link.close()

    def machine(self, name: str) -> Machine:
        return machine_named(self._site.root, self._site.config, name)

    def look(self, name: str, *words: str, stdin: str = "") -> MachineAnswer:
        """A command that changes nothing: it may be carried out twice."""
        return self._answer(name, {"words": words, "stdin": stdin}, LOOKS_WITHIN_SECS)

    def do(self, name: str, *words: str, stdin: str = "", request: str = "", repeatable: bool = False) -> MachineAnswer:
        """A command that is carried out once, however often it has to be asked.

        `repeatable`: it finds by itself what an earlier one of the same request has done before it was cut short.
        """
        order = {"words": words, "stdin": stdin, "request": request or uuid4().hex, "repeatable": repeatable}
        until, was_sent = time.monotonic() + ASKS_AGAIN_SECS, False
        while True:
            try:
                return self._answer(name, order, ANSWERS_WITHIN_SECS)
            except UnreachableError as silent:
                was_sent = was_sent or silent.was_sent
                if time.monotonic() < until and was_sent:
                    time.sleep(PAUSE_SECS)
                    continue
                if was_sent:
                    raise _unknown(name, words[0]) from silent
                raise

    def _answer(self, name: str, order: dict[str, Any], within: float) -> MachineAnswer:
        return answer_in(self.ask(name, {"op": "run", **order}, within))

    def ask(self, name: str, order: dict[str, Any], within: float) -> dict[str, Any]:
        """Whatever the machine says to it."""
        machine = self.machine(name)
        if machine.member.lost:
            raise LostMachineError(
                f"{name} was given up as lost", f"`llmc machine check {name}` takes it back when it answers again"
            )
        said = None if self._anew else ask_switchboard(self._site.root, name, order, within)
        return said if said is not None else self._by_own_link(machine, order, within)

    def _by_own_link(self, machine: Machine, order: dict[str, Any], within: float) -> dict[str, Any]:
        root, name = self._site.root, machine.name
        link = self._links.get(name)
        try:
            if link is None or link.is_over:
                link = self._links[name] = MachineLink(machine, greets_within=self._greets_within)
            said = link.ask(within, **order)
        except UnreachableError as silent:
            note_silent(root, machine, silent.what, silent.state)
            raise
        note_heard(root, machine, said)
        return said


def _unknown(name: str, verb: str) -> UnknownOutcomeError:
    return UnknownOutcomeError(
        f"{name} was cut off before it answered: nobody knows yet what came of `{verb}` there",
        "look with `llmc status` when it answers again, before you do it once more",
    )
