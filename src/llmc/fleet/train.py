"""The merge train's passengers from other machines: their work is fetched when it joins, and lands like any other."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace

from llmc.care.accepting import Accepted
from llmc.care.acting import newest_tip
from llmc.core.lifecycle.effects import MergeWork
from llmc.core.tasks.train import TrainEntry, is_being_rebased
from llmc.errors import LlmcError
from llmc.fleet.branches import send_branch
from llmc.fleet.calls import Calls
from llmc.fleet.hands import workers_elsewhere
from llmc.fleet.known import machine_of
from llmc.fleet.landing import accept_there, fetch_head, offer_of
from llmc.fleet.registry import Machine, machine_named
from llmc.fleet.transport import machine_ref
from llmc.fleet.words import complaint_in
from llmc.model import Worker
from llmc.site import Site
from llmc.store.ledger import UnknownWorkerError

REBASES_WITHIN_SECS = 20.0
LOOKS_EVERY_SECS = 0.2


class TrainElsewhere:
    def __init__(self, site: Site) -> None:
        self._site = site

    def workers(self) -> Mapping[str, Worker]:
        return workers_elsewhere(self._site.root, set(self._site.ledger.load().workers))

    def head_ref(self, worker: str) -> str:
        machine, name = self._place(worker)
        return machine_ref(machine.name, "train", name)

    def checks_there(self, worker: str) -> bool:
        return self._place(worker)[0].options.checks == "machine"

    def entry(self, worker: str, wanted: MergeWork, *, ordered: bool) -> TrainEntry:
        site, (machine, name) = self._site, self._place(worker)
        tip = newest_tip(site)
        send_branch(site, machine, tip)
        with Calls(site) as calls:
            offer = offer_of(site, calls, machine, name, tip, wanted)
        fetch_head(site, machine, name, offer["head"])
        ref = machine_ref(machine.name, "train", name)
        site.git.run(site.root.path, "update-ref", "--no-deref", ref, offer["head"])
        (tree,) = site.git.objects(site.root.path, f"{offer['head']}^{{tree}}")
        record = self.workers().get(worker)
        task, only = record.task if record is not None else "", wanted.tree or tree
        return TrainEntry(
            worker, task, site.now(), wanted.message, wanted.changed, only, wanted.unattended, ordered=ordered
        )

    def accept(self, worker: str, wanted: MergeWork) -> Accepted:
        """Its machine rebases it whenever the branch moves: what lands is what was accepted, wherever that stands."""
        site, (machine, name) = self._site, self._place(worker)
        accepted, tree = site.git.objects(
            site.root.path, *(f"{self.head_ref(worker)}{what}" for what in ("", "^{tree}"))
        )
        is_it = accepted is not None and wanted.tree == tree
        self._wait_for_rebase(worker)
        with Calls(site) as calls:
            if is_it:
                return accept_there(site, calls, machine, name, replace(wanted, tree=None), accepted or "")
            return accept_there(site, calls, machine, name, wanted)

    def _wait_for_rebase(self, worker: str) -> None:
        until = time.monotonic() + REBASES_WITHIN_SECS
        while time.monotonic() < until and (record := self.workers().get(worker)) and is_being_rebased(record):
            self._site.leaving.wait(LOOKS_EVERY_SECS)

    def send_back(self, worker: str, words: str) -> str:
        machine, name = self._place(worker)
        try:
            with Calls(self._site) as calls:
                answer = calls.do(machine.name, "reject", name, "-", stdin=words)
        except LlmcError as silent:
            return silent.what
        return complaint_in(answer.err)[0] or "its machine has refused it" if answer.code else ""

    def _place(self, worker: str) -> tuple[Machine, str]:
        found = machine_of(self._site.root, worker)
        if found is None:
            raise UnknownWorkerError(f"no machine has a worker named {worker}", "`llmc status` shows all of them")
        return machine_named(self._site.root, self._site.config, found[0]), found[1]
