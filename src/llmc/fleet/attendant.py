"""One machine's connection, kept up from the daemon of the hub."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from llmc.errors import LlmcError
from llmc.fleet.branches import send_branch
from llmc.fleet.calls import Calls
from llmc.fleet.known import LOST, UNREACHABLE
from llmc.fleet.landing import tell_landings
from llmc.fleet.link import Link, WrongMachineError
from llmc.fleet.notes import note_heard, note_silent
from llmc.fleet.placing import follow_tasks
from llmc.fleet.reach import UnreachableError
from llmc.fleet.registry import Machine, machine_named
from llmc.fleet.returning import fetch_work, take_back
from llmc.site import Site

FIRST_PAUSE_SECS = 0.5
LONGEST_PAUSE_SECS = 15.0
ASKS_WITHIN_SECS = 30.0
LOOKS_EVERY_SECS = 600.0
LEAVES_WITHIN_SECS = 5.0


class Attendant:
    def __init__(self, site: Callable[[], Site], name: str, id: str, complain: Callable[[str, str], object]) -> None:  # noqa: A002
        self._site = site
        self._name = name
        self.id = id
        self._complain = complain
        self._leaving = threading.Event()
        self._news = threading.Event()
        self._tried = threading.Event()
        """Whether it can be reached is known, one way or the other."""
        self._link: Link | None = None
        self._why = UnreachableError(f"{name} was not reached yet", "try again in a moment")
        self._document: dict[str, Any] = {}
        self._fetched: object = None
        self._branch_moved = True
        self._thread = threading.Thread(target=self._run, name=f"attends {name}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stir(self, *, branch: bool = False) -> None:
        self._branch_moved = self._branch_moved or branch
        self._news.set()

    def leave(self) -> None:
        self._leaving.set()
        self._news.set()

    def join_for_a_while(self) -> None:
        self._thread.join(LEAVES_WITHIN_SECS)

    def link_within(self, secs: float) -> Link:
        """Raises UnreachableError: at once, where it is known already."""
        self._tried.wait(secs)
        link = self._link
        if link is None or link.is_over:
            raise self._why
        return link

    # --- in its thread ----------------------------------------------------------------------------------

    def _run(self) -> None:
        pause = FIRST_PAUSE_SECS
        while not self._leaving.is_set():
            try:
                machine = machine_named(self._site().root, self._site().config, self._name)
                link = Link(machine, partial(self._heard, machine))
            except LlmcError as silent:
                self._note_silent(silent)
                self._leaving.wait(pause)
                pause = min(pause * 2, LONGEST_PAUSE_SECS)
                continue
            pause = FIRST_PAUSE_SECS
            try:
                self._attend(machine, link)
            except (LlmcError, OSError) as broken:
                self._complain(self._name, str(broken))
                self._leaving.wait(FIRST_PAUSE_SECS)
            finally:
                self._link = None
                if not self._leaving.is_set():
                    self._note_silent(UnreachableError(f"the connection to {self._name} broke", "it is tried again"))
                link.close()

    def _note_silent(self, silent: LlmcError) -> None:
        self._why = UnreachableError(silent.what, silent.hint)
        self._tried.set()
        try:
            machine = machine_named(self._site().root, self._site().config, self._name)
        except LlmcError as gone:
            self._complain(self._name, gone.what)
            return
        note_silent(self._site().root, machine, silent.what, LOST if machine.member.lost else UNREACHABLE)
        if isinstance(silent, WrongMachineError):
            self._complain(self._name, f"{silent.what}; {silent.hint}")

    def _heard(self, machine: Machine, said: dict[str, Any]) -> None:
        if isinstance(said.get("board"), dict) and not machine.member.lost:
            self._document = note_heard(self._site().root, machine, said)["document"]
            self._news.set()

    def _attend(self, machine: Machine, link: Link) -> None:
        if machine.member.lost or link.greeting.epoch < machine.member.epoch:
            take_back(self._site(), machine, link)
            self._complain(self._name, f"{self._name} is back: what its agents had made is kept, `llmc undo --list`")
            machine = machine_named(self._site().root, self._site().config, self._name)
        self._link = link
        note_heard(self._site().root, machine, {})
        self._tried.set()
        link.ask(ASKS_WITHIN_SECS, op="follow")
        self._branch_moved, self._fetched = True, None
        looked = time.monotonic()
        while self._goes_on(link):
            self._news.clear()
            self._catch_up(machine, look=time.monotonic() - looked > LOOKS_EVERY_SECS)
            while self._goes_on(link) and not self._news.wait(1.0):
                pass

    def _goes_on(self, link: Link) -> bool:
        return not (link.is_over or self._leaving.is_set())

    def _catch_up(self, machine: Machine, *, look: bool) -> None:
        site = self._site()
        with Calls(site) as calls:
            if self._branch_moved:
                self._branch_moved = False
                send_branch(site, machine)
            tell_landings(site, calls, machine)
            if self._document:
                follow_tasks(site, calls, machine, self._document)
                made = [(each["name"], each.get("commit_sha")) for each in self._document.get("workers", ())]
                if made != self._fetched or look:
                    fetch_work(site, machine)
                    self._fetched = made
