"""Where decisions are kept: reload, decide, save, all in one short locked section."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import groupby
from types import MappingProxyType

from llmc.core.lifecycle.events import Event, SessionReady, TaskGiven, WorkMerged, WorkRejected, WorkRestored
from llmc.core.lifecycle.policy import Policy
from llmc.core.lifecycle.table import Decision, decide
from llmc.core.tasks.changes import TaskChange
from llmc.core.tasks.delegation import DelegationBounds
from llmc.core.tasks.ending import end_of_task
from llmc.core.tasks.task import Standing, Task, TaskView, number_of, require_free, title_of, view_of
from llmc.errors import LlmcError
from llmc.host.faults import Moment, reached
from llmc.model import Json, State, Work, Worker
from llmc.store.event_log import EventLog, LoggedEvent
from llmc.store.state_file import StateFile
from llmc.store.tasks import TaskEvent, TaskStore
from llmc.store.worker_log import WorkerLog
from llmc.values import Value

PROMPT_KEPT = 16 << 10
"""Characters of a task that the log keeps: enough to go on with it, little enough for a log."""


STARTED = "started"
"""How the history of a task begins that was never in the queue."""
BEING_STARTED = "being started; if no worker gets it, the start was cut short"


class UnknownWorkerError(LlmcError):
    """There is no worker of that name."""


class Ledger(Value):
    state: StateFile
    events: EventLog
    log: WorkerLog
    policy_of: Callable[[str], Policy]
    tasks: TaskStore

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
                decisions.append(self._decided(state, worker, event, policy))
                worker = decisions[-1].worker
            # Reports that change nothing leave no trace: to read them once more is to read them for the first time.
            if marks is not None and any(decision.changed for decision in decisions):
                worker = replace(worker, kept_reports=marks)
            return _with_worker(state, worker)

        self.state.transact(change)
        for event, decision in zip(events, decisions, strict=True):
            if isinstance(event, TaskGiven | WorkRestored) and decision.worker.task not in ("", decision.before.task):
                reached(Moment.TASK_SAVED)
                with suppress(LlmcError):  # the worker's record says it: what is not kept here is only its history
                    self.tasks.began(decision.worker.task, name, event.at)
                reached(Moment.TASK_NOTED)
        with suppress(LlmcError):
            self._note_moves(events, decisions)
        told = zip(events, decisions, strict=True)
        self.write(*(_entry(event, decision) for event, decision in told if decision.changed))
        return decisions

    def _note_moves(self, events: Sequence[Event], decisions: Sequence[Decision]) -> None:
        """How its task gets on, with the evidence, for the history of that."""
        for event, decision in zip(events, decisions, strict=True):
            before, after = decision.before, decision.worker
            if after.task and after.task == before.task and after.work is not before.work:
                data: dict[str, Json] = {"signal": decision.signal, "work": [before.work.value, after.work.value]}
                told = TaskEvent(event.at, after.work.value, after.name, decision.detail, MappingProxyType(data))
                self.tasks.note(after.task, told)

    def _decided(self, state: State, worker: Worker, event: Event, policy: Policy) -> Decision:
        """With what the tasks have to know before the state is saved: whatever comes then, the worker's word holds."""
        if isinstance(event, WorkRestored) and not self._may_return(state, event.task_id):
            event = replace(event, task_id="")
        decision = decide(worker, event, policy)
        if isinstance(event, TaskGiven):
            admitted = replace(event, task=self._admitted(state, event, worker.name))
            reached(Moment.TASK_ADMITTED)
            return decide(worker, admitted, policy)
        if isinstance(event, WorkRejected) and event.round is not None:
            from llmc.store.comments import CommentStore  # only a reject waits for it

            CommentStore(self.tasks).begin_round(worker, event.round)
        self._end_work(worker, decision.worker, event, event.at)
        return decision

    def _end_work(self, before: Worker, after: Worker | None, event: Event | None, at: float) -> None:
        end = end_of_task(before, after, event)
        if end is not None:
            self.tasks.ended(before.task, before.name, end, at)
            reached(Moment.TASK_ENDED)
        elif not before.task and before.work is not Work.IDLE and (after is None or after.work is Work.IDLE):
            self.tasks.ended_without_task(before.name, at)

    def _admitted(self, state: State, event: TaskGiven, name: str) -> str:
        """The id of a task that no worker has. One that is new is held until a worker's record names it."""
        if event.task:
            require_free(self.tasks.task(event.task), holders_of(state))
            return event.task
        new = Task("", event.prompt, title_of(event.prompt), event.at, worker=name if event.by_name else "")
        new = replace(new, standing=Standing.HELD, reason=BEING_STARTED, request=event.request)
        (made,) = self.tasks.add(new, at=event.at, above=_highest(state), kind=STARTED)
        return made.id

    def _may_return(self, state: State, task_id: str) -> bool:
        """Whether the task is still there, and nobody has it."""
        known = self.tasks.named([task_id] if task_id and task_id not in holders_of(state) else [])
        return task_id in known and known[task_id].standing is not Standing.LANDED

    # --- tasks that no worker has -------------------------------------------------------------------

    def add_tasks(self, make: Callable[[int], Sequence[Task]], at: float) -> list[Task]:
        """All of them or none. `make` is told the number that the first of them gets."""
        return self.tasks.add_numbered(make, at=at, above=_highest(self.load()))

    def delegate(self, task: Task, bounds: DelegationBounds) -> Task:
        return self.tasks.delegate(task, bounds, at=task.created_at_unix, above=_highest(self.load()))

    def change_tasks(self, task_ids: Iterable[str], change: Callable[[TaskView], TaskChange], at: float) -> None:
        """All of them or none, and nobody gives one of them to a worker meanwhile."""

        def changed(state: State) -> State:
            holders = holders_of(state)
            views = [view_of(self.tasks.task(each), holders.get(each)) for each in dict.fromkeys(task_ids)]
            self.tasks.change_all({view.task.id: change(view) for view in views}, at)
            return state

        self.state.transact(changed)

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
            removed = state.workers.get(name)
            if removed is not None:
                self._end_work(removed, None, None, at)
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
        for worker, of_worker in groupby((each for each in entries if each.worker), lambda entry: entry.worker):
            self.log.append(worker, *map(_line, of_worker))


def holders_of(state: State) -> dict[str, Worker]:
    """The worker whose record names a task, by the task's id."""
    return {worker.task: worker for worker in state.workers.values() if worker.task}


def _highest(state: State) -> int:
    return max((number_of(each) or 0 for each in holders_of(state)), default=0)


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
        kept["task"] = after.task
    if isinstance(event, WorkMerged):
        kept["landed"] = event.sha
    if isinstance(event, SessionReady):
        kept["reports_events"] = event.reports_events
    return MappingProxyType(kept)


def _find(state: State, name: str) -> Worker:
    worker = state.workers.get(name)
    if worker is None:
        known = ", ".join(state.workers) or "there are none yet"
        holder = holders_of(state).get(name)
        task = f"the task {name} is with {holder.name}: `llmc explain {holder.name}`; " if holder is not None else ""
        raise UnknownWorkerError(f"there is no worker named {name!r}", f"{task}the workers are: {known}")
    return worker


def _with_worker(state: State, worker: Worker) -> State:
    return replace(state, workers=MappingProxyType({**state.workers, worker.name: worker}))
