"""Where decisions are kept: reload, decide, save, all in one short locked section."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from types import MappingProxyType

from llmc.core.lifecycle.events import Event, SessionReady, TaskGiven
from llmc.core.lifecycle.policy import Policy
from llmc.core.lifecycle.table import Decision, decide
from llmc.errors import LlmcError
from llmc.model import Json, State, Worker
from llmc.store.event_log import EventLog, LoggedEvent
from llmc.store.state_file import StateFile
from llmc.store.worker_log import WorkerLog
from llmc.values import Value

PROMPT_KEPT = 16 << 10
"""Characters of a task that the log keeps: enough to go on with it, little enough for a log."""


class UnknownWorkerError(LlmcError):
    """There is no worker of that name."""


class Ledger(Value):
    state: StateFile
    events: EventLog
    log: WorkerLog
    policy_of: Callable[[str], Policy]

    def load(self) -> State:
        return self.state.load()

    def worker(self, name: str) -> Worker:
        return _find(self.load(), name)

    def apply(self, name: str, event: Event) -> Decision:
        """Decides what the event means for the worker and keeps the result before anything else happens."""
        return self.hear(name, (event,))[0]

    def hear(self, name: str, events: Sequence[Event], marks: tuple[str, ...] | None = None) -> list[Decision]:
        """The same for several events of the agent at once, remembering by which reports they came."""
        decisions: list[Decision] = []

        def change(state: State) -> State:
            worker, policy = _find(state, name), self.policy_of(name)
            for event in events:
                decisions.append(decide(worker, event, policy))
                worker = decisions[-1].worker
            # Reports that change nothing leave no trace: to read them once more is to read them for the first time.
            if marks is not None and any(decision.changed for decision in decisions):
                worker = replace(worker, kept_reports=marks)
            return _with_worker(state, worker)

        self.state.transact(change)
        told = zip(events, decisions, strict=True)
        self.write(*(_entry(event, decision) for event, decision in told if decision.changed))
        return decisions

    def add(self, worker: Worker) -> None:
        def change(state: State) -> State:
            if worker.name in state.workers:
                raise LlmcError(
                    f"there is a worker named {worker.name} already",
                    f"choose another name, or `llmc nuke {worker.name}`",
                )
            return _with_worker(state, worker)

        self.state.transact(change)
        self.note_added(worker)

    def note_added(self, worker: Worker) -> None:
        detail = f"agent {worker.agent}, branch {worker.branch}"
        data = MappingProxyType({"agent": worker.agent})
        self.write(LoggedEvent(worker.created_at_unix, worker.name, "added", detail=detail, data=data))

    def remove(self, name: str, at: float) -> None:
        def change(state: State) -> State:
            kept = {key: worker for key, worker in state.workers.items() if key != name}
            last = None if state.last_reviewed_worker == name else state.last_reviewed_worker
            return replace(state, workers=MappingProxyType(kept), last_reviewed_worker=last)

        self.state.transact(change)
        self.note(name, at, "removed", "")

    def remember_reviewed(self, name: str) -> None:
        self.state.transact(lambda state: replace(state, last_reviewed_worker=name))

    def remember_patrol(self, at: float) -> None:
        self.state.transact(lambda state: replace(state, patrol_last_run_unix=at))

    def note(self, worker: str, at: float, kind: str, detail: str) -> None:
        """Something worth knowing that moved no worker."""
        self.write(LoggedEvent(at, worker, kind, detail=detail))

    def write(self, *entries: LoggedEvent) -> None:
        if entries:
            self.events.append(*entries)
        for worker, of_worker in groupby(entries, lambda entry: entry.worker):
            self.log.append(worker, *map(_line, of_worker))


def _entry(event: Event, decision: Decision) -> LoggedEvent:
    before, after = decision.before, decision.worker
    return LoggedEvent(
        event.at,
        after.name,
        type(event).__name__,
        decision.signal,
        before.work.value,
        after.work.value,
        before.session.value,
        after.session.value,
        decision.detail,
        _worth_keeping(event, decision),
    )


def _line(entry: LoggedEvent) -> dict[str, Json]:
    return {
        "at": entry.at_unix,
        "kind": entry.kind,
        "signal": entry.signal,
        "work": [entry.work_before, entry.work_after],
        "session": [entry.session_before, entry.session_after],
        "detail": entry.detail,
    }


def _worth_keeping(event: Event, decision: Decision) -> Mapping[str, Json]:
    """What a lost state could be made again from, and that no other trace tells."""
    before, after = decision.before, decision.worker
    kept: dict[str, Json] = {
        name: getattr(after, name)
        for name in ("rejected_sha", "crash_count")
        if getattr(after, name) != getattr(before, name)
    }
    if isinstance(event, TaskGiven):
        kept["prompt"] = event.prompt[:PROMPT_KEPT]
    if isinstance(event, SessionReady):
        kept["reports_events"] = event.reports_events
    return MappingProxyType(kept)


def _find(state: State, name: str) -> Worker:
    worker = state.workers.get(name)
    if worker is None:
        known = ", ".join(state.workers) or "there are none yet"
        raise UnknownWorkerError(f"there is no worker named {name!r}", f"the workers are: {known}")
    return worker


def _with_worker(state: State, worker: Worker) -> State:
    return replace(state, workers=MappingProxyType({**state.workers, worker.name: worker}))
