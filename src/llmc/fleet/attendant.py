"""One machine's connection, kept up from the daemon of the hub."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from llmc.core.display import counted
from llmc.core.notice import plain_notice
from llmc.errors import LlmcError
from llmc.fleet.branches import send_branch
from llmc.fleet.calls import Calls
from llmc.fleet.joining import settings_for
from llmc.fleet.known import LOST, UNREACHABLE
from llmc.fleet.landing import tell_landings
from llmc.fleet.link import MachineLink, WrongMachineError
from llmc.fleet.notes import note_heard, note_silent
from llmc.fleet.placing import follow_tasks
from llmc.fleet.reach import UnreachableError
from llmc.fleet.registry import Machine, Member, machine_named, read_fleet
from llmc.fleet.returning import call_for_person, fetch_work, take_back, take_usage
from llmc.fleet.shapes import number, shaped_board
from llmc.fleet.wire import answer_in
from llmc.fleet.words import complaint_in
from llmc.perform.notices import call
from llmc.site import Site
from llmc.store.event_log import LoggedEvent

FIRST_PAUSE_SECS = 0.5
LONGEST_PAUSE_SECS = 15.0
ASKS_WITHIN_SECS = 30.0
LOOKS_EVERY_SECS = 600.0
LEAVES_WITHIN_SECS = 5.0
LOAD_MOVES, LOAD_EVERY_SECS = 0.2, 30.0


class Attendant:
    def __init__(self, site: Callable[[], Site], member: Member, complain: Callable[[str, str], object]) -> None:
        self._site = site
        self.member = member
        """As the list of machines had it last."""
        self._name = name = member.name
        self.id = member.id
        self._complain = complain
        self._leaving = threading.Event()
        self._news = threading.Event()
        self._tried = threading.Event()
        """Whether it can be reached is known, one way or the other."""
        self._link: MachineLink | None = None
        self._why = UnreachableError(f"{name} was not reached yet", "try again in a moment")
        self._document: dict[str, Any] = {}
        self._fetched: object = None
        self._is_ending = False
        """It is an allocation that ends soon, and says so every few seconds."""
        self._branch_moved = True
        self._settings_sent = ""
        self._spent: object = []
        self._load = (0.0, 0.0)
        """As it was noted last, and when."""
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

    def link_within(self, secs: float) -> MachineLink:
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
                pause = FIRST_PAUSE_SECS if self._was_attended() else min(pause * 2, LONGEST_PAUSE_SECS)
            except Exception as broken:  # whatever that machine is like, it is attended again
                self._complain(self._name, str(broken) or type(broken).__name__)
            self._leaving.wait(pause)

    def _was_attended(self) -> bool:
        """False when it could not even be reached."""
        try:
            machine = machine_named(self._site().root, self._site().config, self._name)
            link = MachineLink(machine, partial(self._heard, machine), self._news.set)
        except LlmcError as silent:
            self._note_silent(silent)
            return False
        try:
            self._attend(machine, link)
        finally:
            self._link = None
            link.close()
            if not self._leaving.is_set():
                broke = UnreachableError(f"the connection to {self._name} broke", "it is tried again")
                self._note_silent(broke, link.heard_unix)
        return True

    def _note_silent(self, silent: LlmcError, heard_unix: float | None = None) -> None:
        self._why = UnreachableError(silent.what, silent.hint)
        self._tried.set()
        try:
            machine = machine_named(self._site().root, self._site().config, self._name)
        except LlmcError as gone:
            self._complain(self._name, gone.what)
            return
        state = LOST if machine.member.lost else getattr(silent, "state", UNREACHABLE)
        was_heard = note_silent(self._site().root, machine, silent.what, state, heard_unix)
        if was_heard and state != LOST:
            self._tell(f"{self._name} does not answer: {silent.what}; `llmc machine check {self._name}`")
        if isinstance(silent, WrongMachineError):
            self._complain(self._name, f"{silent.what}; {silent.hint}")

    def _tell(self, words: str) -> None:
        """The person, and the log."""
        site = self._site()
        site.ledger.events.append(LoggedEvent(site.now(), "", "machine", detail=words))
        call(site, plain_notice(self._name, "machine", words))

    def _heard(self, machine: Machine, said: dict[str, Any]) -> None:
        """In the thread that reads. Of what is said again and again, only what is new is written down."""
        if self._link is None:
            return  # it was given up, and is not one of ours yet
        self._is_ending = bool(said.get("ending"))
        load, now = number(said.get("load")), time.monotonic()
        noted, at = self._load
        has_moved = abs(load - noted) > LOAD_MOVES * max(1.0, noted) and now - at > LOAD_EVERY_SECS
        if isinstance(said.get("board"), dict) or said.get("ending") or has_moved:
            before, self._load = self._document, (load, now)
            known = note_heard(self._site().root, machine, said)
            self._document = known.get("document", {})
            call_for_person(self._site(), machine.name, before, self._document)
            self._news.set()

    def _attend(self, machine: Machine, link: MachineLink) -> None:
        if machine.member.lost or link.greeting.epoch < machine.member.epoch:
            kept = take_back(self._site(), machine, link)
            words = f"is back, and its agents were stopped: {counted(len(kept), 'new backup')} here; `llmc undo --list`"
            self._tell(f"{self._name} {words}")
            machine = machine_named(self._site().root, self._site().config, self._name)
        self._link = link
        before = note_heard(self._site().root, machine, {}).get("document")
        self._document = shaped_board(before) if before else {}
        self._tried.set()
        link.ask(ASKS_WITHIN_SECS, op="follow")
        self._branch_moved, self._fetched, self._settings_sent = True, None, ""
        looked = time.monotonic()
        while self._goes_on(machine, link):
            self._news.clear()
            is_time = time.monotonic() - looked > LOOKS_EVERY_SECS
            looked = time.monotonic() if is_time else looked
            self._catch_up(machine, link, look=is_time)
            if self._goes_on(machine, link):
                self._news.wait(LOOKS_EVERY_SECS)

    def _goes_on(self, machine: Machine, link: MachineLink) -> bool:
        """Until it is given up, or joins anew: then it is greeted as another one."""
        if link.is_over or self._leaving.is_set():
            return False
        return read_fleet(self._site().root).members.get(self._name) == machine.member

    def _catch_up(self, machine: Machine, link: MachineLink, *, look: bool) -> None:
        site = self._site()
        with Calls(site) as calls:
            if self._branch_moved:
                self._branch_moved = False
                send_branch(site, machine)
            self._send_settings(site, machine, link)
            tell_landings(site, calls, machine)
            if self._document:
                follow_tasks(site, calls, machine, self._document)
                made = [(each["name"], each["commit_sha"], each["base_sha"]) for each in self._document["workers"]]
                if made != self._fetched or look or self._is_ending:  # its backups come last
                    fetch_work(site, machine)
                    self._fetched = made
                self._take_usage(site, calls)

    def _send_settings(self, site: Site, machine: Machine, link: MachineLink) -> None:
        """Those that hold there too, whenever they change here."""
        settings = settings_for(site.root, machine.member)
        if settings == self._settings_sent:
            return
        words = ["remote-join", "--hub", machine.hub, "--name", machine.name]
        words += ["--epoch", str(machine.member.epoch), "--json"]
        answer = answer_in(link.ask(ASKS_WITHIN_SECS, op="run", words=words, stdin=settings, board=False))
        if answer.code:
            self._complain(machine.name, f"{machine.name} does not take the settings: {complaint_in(answer.err)[0]}")
        self._settings_sent = settings

    def _take_usage(self, site: Site, calls: Calls) -> None:
        spent = [(each["name"], each["usage"]) for each in self._document["workers"]]
        if spent != self._spent:
            take_usage(site, calls, self._name)
            self._spent = spent
