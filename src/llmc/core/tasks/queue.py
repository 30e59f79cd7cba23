"""Which task goes to which worker, and why the others wait. Pure.

Tasks are taken in the order of their priority, then of their age. One that could go to somebody but for files that
others are at keeps younger ones from the same files: otherwise they might pass it by for ever.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field
from types import MappingProxyType

from llmc.core.display import some
from llmc.core.tasks.pool import is_free
from llmc.core.tasks.task import Standing, Task
from llmc.core.tasks.touches import first_meeting
from llmc.model import Session, Work, Worker
from llmc.values import Value

LOCAL_LABELS: frozenset[str] = frozenset()
"""Every worker runs on this machine, which has no labels."""


NEVER_STARTED = "command.add"
"""The signal of a worker that nobody has brought up yet."""


class Hand(Value):
    """A worker as far as the assignment is concerned."""

    name: str
    agent: str
    free: bool
    present: bool = True
    """It may become free without anybody's help."""
    by_name_only: bool = False
    idle_since_unix: float = 0.0
    labels: frozenset[str] = LOCAL_LABELS
    unfit: str = ""
    """Why it was given nothing, although it is free."""
    at: tuple[str, str] = ("gets another task", "get other tasks")
    """What keeps it, in words: of one, and of several."""


class Flight(Value):
    """Work that is under way, and the files that it changes or is expected to change."""

    words: str
    paths: frozenset[str] = frozenset()
    touches: tuple[str, ...] = ()


class Assignment(Value):
    pairs: tuple[tuple[Task, str], ...] = ()
    """A task, and who gets it."""
    waiting: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """For each of the others, by its id, what it waits for."""


def hand_of(worker: Worker, *, by_name_only: bool, unfit: str = "") -> Hand:
    at_work = worker.work not in (Work.IDLE, Work.ERROR)
    present = worker.session in (Session.UP, Session.STARTING) and worker.work is not Work.ERROR
    return Hand(
        worker.name,
        worker.agent,
        free=is_free(worker) and not worker.worktree_lost and not unfit,
        present=present and (at_work or not unfit),
        by_name_only=by_name_only,
        idle_since_unix=worker.last_activity_unix,
        unfit=unfit,
        at=_what_keeps(worker),
    )


_AT_WORK = {
    Work.NEEDS_REVIEW: ("waits for review", "wait for review"),
    Work.NEEDS_INPUT: ("asks", "ask"),
    Work.ERROR: ("has failed", "have failed"),
}


def _what_keeps(worker: Worker) -> tuple[str, str]:
    if worker.start_dialog:
        return _AT_WORK[Work.NEEDS_INPUT]
    if worker.work is not Work.IDLE:
        return _AT_WORK.get(worker.work, ("works", "work"))
    if worker.evidence.signal == NEVER_STARTED:
        return "is not started yet", "are not started yet"
    if worker.session is Session.STARTING:
        return "is starting", "are starting"
    return ("gets another task", "get other tasks") if is_free(worker) else ("is not running", "are not running")


def somebody_else(task: Task, name: str, hands: Iterable[Hand]) -> bool:
    """Whether there is another worker that may have the task by and by."""
    return any(hand.present and hand.name != name and _suits(task, hand) for hand in hands)


def assign(
    tasks: Iterable[Task], hands: Sequence[Hand], others: Mapping[str, Standing], flights: Sequence[Flight]
) -> Assignment:
    """`tasks`: all that are queued and at no worker, in their order. `others`: how those stand that they come after."""
    desk = _Desk(hands, flights)
    ready, waiting = [], {}
    for task in tasks:
        why = unlanded(task, others)
        if why:
            waiting[task.id] = why
        else:
            ready.append(task)
    desk.wanted = {task.worker for task in ready if task.worker}
    pairs = []
    for task in ready:
        hand, why = desk.take(task)
        if hand is not None:
            pairs.append((task, hand.name))
        else:
            waiting[task.id] = why
    return Assignment(tuple(pairs), MappingProxyType(waiting))


def unlanded(task: Task, others: Mapping[str, Standing]) -> str:
    """What keeps the task waiting among those that it comes after; empty when all of them have landed."""
    missing = [each for each in task.after if others.get(each) is not Standing.LANDED]
    if not missing:
        return ""
    hopeless = [words for each in missing if (words := _hopeless(each, others.get(each)))]
    return hopeless[0] if hopeless else f"{some(missing)} must land first"


def _hopeless(task_id: str, standing: Standing | None) -> str:
    if standing is None:
        return f"{task_id} must land first, and there is no such task"
    became = {Standing.FAILED: "has failed", Standing.CANCELLED: "was cancelled"}.get(standing)
    return f"{task_id} must land first, and {became}; `llmc task retry {task_id}` tries it again" if became else ""


class _Desk:
    """Where tasks are given out one by one; what was given or kept back before is remembered."""

    def __init__(self, hands: Sequence[Hand], flights: Sequence[Flight]) -> None:
        self.wanted: Collection[str] = ()
        """Workers that tasks ask for by name: others get somebody else, where they can."""
        self._hands = {hand.name: hand for hand in hands}
        self._free = {hand.name: hand for hand in hands if hand.free}
        self._flights = list(flights)
        self._kept_back: list[Task] = []
        self._suiting: dict[tuple[str, str, str], tuple[list[Hand], str]] = {}

    def take(self, task: Task) -> tuple[Hand | None, str]:
        """Who gets it, or why nobody does."""
        able, nobody = self._able(task)
        if not any(hand.free or hand.present for hand in able):
            return None, nobody
        free = [hand for hand in able if hand.name in self._free] if self._free else []
        why = self._in_the_way(task) if self._free else ""
        if why or not free:
            if task.touches:
                self._kept_back.append(task)
            return None, why or nobody
        chosen = min(free, key=lambda hand: (hand.name == task.avoid, self._is_wanted(task, hand), *_rank(hand)))
        del self._free[chosen.name]
        self._flights.append(Flight(f"{task.id} ({chosen.name})", touches=task.touches))
        return chosen, ""

    def _able(self, task: Task) -> tuple[list[Hand], str]:
        """Whom the task suits, and what it waits for while none of them is free. Thousands have the same wishes."""
        wishes = (task.worker, task.agent, task.machine)
        if wishes not in self._suiting:
            able = [hand for hand in self._hands.values() if _suits(task, hand)]
            self._suiting[wishes] = able, _nobody(task, able)
        return self._suiting[wishes]

    def _is_wanted(self, task: Task, hand: Hand) -> bool:
        return hand.name in self.wanted and task.worker != hand.name

    def _in_the_way(self, task: Task) -> str:
        if not task.touches:
            return ""
        for flight in self._flights:
            met = first_meeting(task.touches, (*flight.touches, *sorted(flight.paths)))
            if met:
                return f"{flight.words} is at {met}"
        for older in self._kept_back:
            met = first_meeting(task.touches, older.touches)
            if met:
                return f"{older.id} comes first: it touches {met}, too"
        return ""


def _rank(hand: Hand) -> tuple[float, str]:
    return hand.idle_since_unix, hand.name


def _suits(task: Task, hand: Hand) -> bool:
    if task.worker:
        return hand.name == task.worker
    if hand.by_name_only or (task.machine and task.machine not in hand.labels):
        return False
    return not task.agent or hand.agent == task.agent


def _nobody(task: Task, able: Sequence[Hand]) -> str:
    unfit = next((hand.unfit for hand in able if hand.unfit), "")
    if unfit:
        return unfit
    wanted = _wanted(task)
    if not able:
        return f"there is no {wanted}"
    names: dict[tuple[str, str], list[str]] = {}
    for hand in able:
        names.setdefault(hand.at, []).append(hand.name)
    kept = "; ".join(f"{some(each)} {words[len(each) > 1]}" for words, each in names.items())
    return f"{'nobody is free' if wanted == 'worker' else f'waits for {wanted}'}: {kept}"


def _wanted(task: Task) -> str:
    if task.worker:
        return f"worker {task.worker}"
    if task.machine:
        return f"worker on a machine with the label {task.machine}"
    return f"worker that runs {task.agent}" if task.agent else "worker"


def flights_of(
    workers: Iterable[Worker], tasks: Mapping[str, Task], paths: Mapping[str, Collection[str]]
) -> list[Flight]:
    """`tasks`: those at workers, by id. `paths`: what each worker's work changes, as far as it was seen."""
    return [
        Flight(
            f"{worker.task} ({worker.name})" if worker.task else worker.name,
            frozenset(paths.get(worker.name, ())),
            tasks[worker.task].touches if worker.task in tasks else (),
        )
        for worker in workers
        if worker.work is not Work.IDLE
    ]


def waits(task: Task, named: Collection[str]) -> bool:
    """Whether it is for the queue to give out. `named`: the tasks that workers' records name."""
    return task.standing is Standing.QUEUED and task.id not in named and not task.given_to


def find_cycle(after: Mapping[str, Sequence[str]]) -> list[str]:
    """Tasks that wait for each other, in a row that ends where it began; empty when there are none."""
    done: set[str] = set()
    for start in after:
        trail: dict[str, None] = {}  # in the order in which it was gone
        stack: list[tuple[str, bool]] = [(start, False)]
        while stack:
            task, left = stack.pop()
            if left:
                del trail[task]
                done.add(task)
            elif task in trail:
                gone = [*trail]
                return [*gone[gone.index(task) :], task]
            elif task not in done:
                trail[task] = None
                stack += [(task, True), *((each, False) for each in after.get(task, ()))]
    return []
