"""The database of tasks, and whether it and the workers' records know of each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from pathlib import Path

from llmc.core.display import counted, one_line, some
from llmc.core.tasks.task import Task, number_of, title_of
from llmc.doctor.answers import Absent, Answer, Broken, Found, Newer, known
from llmc.doctor.databases import is_locked, read_database
from llmc.doctor.findings import Finding, Topic
from llmc.doctor.health import Health, Looking
from llmc.doctor.repairs import Repair, RepairContext, RepairStage, fix
from llmc.doctor.state import workers_of
from llmc.model import Worker
from llmc.root import Root
from llmc.store.ledger import holders_of
from llmc.store.task_database import TABLES
from llmc.values import Value

TOPIC = Topic("tasks")
_ALL = "SELECT number, title, given_to, standing, given_on FROM tasks ORDER BY number"
_BEFORE_MACHINES = "SELECT number, title, given_to, standing, '' FROM tasks ORDER BY number"
"""Of a database that an older llmc made and no newer one has opened yet."""


class TasksFacts(Value):
    ids: frozenset[str]
    given: Mapping[str, tuple[str, str]]
    """Those that were given to somebody here and have no end: the worker, and the title."""
    open: int
    locked: bool


class TasksSeen(Value):
    tasks: Answer[TasksFacts] = field(metadata=TOPIC.asks("tasks.db"))


# --- look -----------------------------------------------------------------------------------------


def look(looking: Looking, seen: Health) -> TasksSeen:
    return TasksSeen(looking.ask(_look_at_tasks))


def _look_at_tasks(root: Root) -> Answer[TasksFacts]:
    path = Path(root.tasks)
    read = read_database(path, len(TABLES), _ALL)
    if isinstance(read, Broken) and "given_on" in read.what:
        read = read_database(path, len(TABLES), _BEFORE_MACHINES)
    if not isinstance(read, Found):
        return read
    given = {
        f"t{row[0]}": (row[2], row[1]) for row in read.value if row[2] and not row[4] and row[3] in ("queued", "held")
    }
    waiting = sum(row[3] in ("queued", "held") for row in read.value)
    return Found(TasksFacts(frozenset(f"t{row[0]}" for row in read.value), given, waiting, is_locked(path)))


# --- repair ---------------------------------------------------------------------------------------


@fix(RepairStage.RECORDS, "begin tasks.db anew", "set tasks.db aside; a new one begins with the workers' own tasks")
def _begin_anew(context: RepairContext, repair: Repair) -> str:
    aside = context.open_site().ledger.tasks.database.set_aside()
    took = _take_over(context, repair)
    return f"the old one is {aside or 'gone already'}; {took}"


@fix(RepairStage.RECORDS, "take tasks over", "take the workers' tasks into tasks.db, from their records")
def _take_tasks_over(context: RepairContext, repair: Repair) -> str:
    return _take_over(context, repair)


def _take_over(context: RepairContext, repair: Repair) -> str:
    site = context.open_site()
    lost = [_from_record(worker) for worker in holders_of(site.ledger.load()).values()]
    taken = site.ledger.tasks.take_over(lost, context.now)
    return f"took {some(taken)} over from the records" if taken else "it knows all tasks that workers have"


def _from_record(worker: Worker) -> Task:
    text, at = worker.current_prompt, worker.last_activity_unix
    return Task(worker.task, text, title_of(text), at, attempts=1, given_to=worker.name)


# --- judgement ------------------------------------------------------------------------------------

BROKEN = TOPIC.error(
    "tasks-broken",
    "`tasks.db` is damaged: tasks can be neither given out nor landed",
    "`llmc doctor --repair` sets it aside and begins a new one with the tasks that workers have",
    _begin_anew,
)
NEWER = TOPIC.error("tasks-newer", "`tasks.db` was written by a newer LLMC", "upgrade llmc")
LOCKED = TOPIC.warning(
    "tasks-locked",
    "another program holds `tasks.db` for itself, so that no task can be changed",
    "end that program: `fuser {path}` names it",
)
LOST = TOPIC.warning(
    "task-lost",
    "a worker has a task that `tasks.db` does not know",
    "`llmc doctor --repair` takes it over from the worker's record",
    replace(_take_tasks_over, all_at_once=True),
)
ADRIFT = TOPIC.warning(
    "task-adrift",
    "a task was given to a worker whose record names it no longer, and nobody said what came of it",
    "`llmc task show {subject}` has its history; `llmc task retry {subject}` queues it again, or `llmc task cancel`",
)


def judge(health: Health) -> Iterator[Finding]:
    seen = health.of(TasksSeen).tasks
    match seen:
        case Newer(what):
            yield NEWER.finding(what, "this version would lose what it does not know")
        case Broken(what):
            yield BROKEN.finding(f"{health.root.tasks} is damaged: {what}", "tasks that wait in it are not given out")
        case Found(tasks):
            yield from _found(health, tasks)
        case Absent():
            yield from _lost(health, frozenset())


def _found(health: Health, tasks: TasksFacts) -> Iterator[Finding]:
    if tasks.locked:
        why = "it has been written to for longer than LLMC ever does"
        yield LOCKED.finding(f"{health.root.tasks} is locked", why, path=health.root.tasks)
    yield from _lost(health, tasks.ids)
    held = {worker.task for worker in workers_of(health).values()}
    for task, (worker, title) in tasks.given.items():
        if task not in held:
            what = f"{task} ({one_line(title)}) was given to {worker}, whose record names it no longer"
            advice = ADRIFT.advice.format(subject=task)
            yield ADRIFT.finding(what, "the state was restored or rebuilt", subject=task, advice=advice)


def _lost(health: Health, ids: frozenset[str]) -> Iterator[Finding]:
    for name, worker in workers_of(health).items():
        if number_of(worker.task) is not None and worker.task not in ids:
            what = f"{name} has the task {worker.task}, which tasks.db does not know"
            yield LOST.finding(what, "tasks.db was removed or set aside", worker=name)


def summary(health: Health) -> str:
    tasks = known(health.of(TasksSeen).tasks, None)
    return f"tasks: {counted(tasks.open, 'task')} to do" if tasks else "tasks: none yet"
