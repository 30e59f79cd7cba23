"""The state file, the last one before it, and what the records of the workers say."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from types import MappingProxyType

from llmc.core.display import age, counted, one_line
from llmc.core.lifecycle.clocks import is_future, newest_time
from llmc.doctor.answers import Absent, Answer, Broken, Found, Newer, Unknown, probe
from llmc.doctor.findings import Finding, FindingKind, Topic
from llmc.doctor.health import Health, Looking, StateFacts
from llmc.doctor.remains import backup_is_current, find_remains, rebuilt
from llmc.doctor.repairs import Repair, RepairChoice, RepairContext, RepairStage, change_worker, fix
from llmc.doctor.worker_records import careful, late_timers, records_fix, without_error
from llmc.errors import LlmcError
from llmc.model import State, Work, Worker
from llmc.root import Root
from llmc.store.codec import StateError, StateInvalidError, StateNewerError, check, parse
from llmc.store.state_file import StateFile, StateMissingError
from llmc.values import Value

TOPIC = Topic("state")


# --- look -----------------------------------------------------------------------------------------


class StateSeen(Value):
    state: Answer[StateFacts] = field(metadata=TOPIC.asks("state.json", required=True))
    backup: Answer[float] = field(metadata=TOPIC.asks("state.json.bak"))
    """How many seconds old the last state before this one is."""


def workers_of(health: Health) -> Mapping[str, Worker]:
    """None where the state cannot be read."""
    state = health.of(StateSeen).state
    return state.value.workers if isinstance(state, Found) else {}


def look(looking: Looking, seen: Health) -> StateSeen:
    return StateSeen(looking.state, looking.ask(lambda root: _look_at_backup(root, looking.now)))


def read_state(root: Root, now: float) -> Answer[StateFacts]:
    file = StateFile(root.path)
    try:
        written, state = file.as_written(), file.load()
    except StateMissingError:
        return Absent()
    except StateNewerError as newer:
        return Newer(newer.what)
    except StateInvalidError as invalid:
        facts = _contradicting(file)
        return Broken(invalid.what) if facts is None else Found(facts)
    except StateError as broken:
        return Broken(broken.what)
    ahead = {name: newest_time(worker) - now for name, worker in written.workers.items()}
    future = MappingProxyType({name: secs for name, secs in ahead.items() if is_future(now + secs, now)})
    return Found(StateFacts(state.workers, state.patrol_last_run_unix, future=future))


def _contradicting(file: StateFile) -> StateFacts | None:
    """The state whose every field is right and that is refused for what they say together; None for any other."""
    try:
        state = parse(json.loads(file.path.read_bytes()))
    except (StateError, ValueError):
        return None
    problems = tuple((each.worker or None, str(each)) for each in check(state))
    return StateFacts(state.workers, state.patrol_last_run_unix, problems)


def _look_at_backup(root: Root, now: float) -> Answer[float]:
    file = StateFile(root.path)
    try:
        file.load_backup()
    except StateMissingError:
        return Absent()
    except StateError as broken:
        return Broken(broken.what)
    return Found(max(0.0, now - file.backup_path.stat().st_mtime))


# --- repair ---------------------------------------------------------------------------------------


@fix(RepairStage.STATE, "restore the backup", "restore state.json.bak")
def _restore_backup(context: RepairContext, repair: Repair) -> str:
    StateFile(context.root.path).restore_backup(_all_careful)
    return "state.json is what state.json.bak was; what was there before is kept as state.json.aside-*"


def _all_careful(state: State) -> State:
    return replace(state, workers=MappingProxyType({key: careful(worker) for key, worker in state.workers.items()}))


@fix(RepairStage.STATE, "rebuild the state", "rebuild it from the worktrees, the terminals and the log of events")
def _rebuild_state(context: RepairContext, repair: Repair) -> str:
    found = [rebuilt(remains, context.now).worker for remains in find_remains(context.open_site()).values()]
    save_rebuilt(context.root, found)
    return f"found {', '.join(worker.name for worker in found) or 'no workers'}"


def save_rebuilt(root: Root, workers: list[Worker]) -> None:
    """What is there now is kept aside."""
    state = State(MappingProxyType({worker.name: worker for worker in workers}))
    StateFile(root.path).create(state, overwrite=True)


@fix(
    RepairStage.STATE,
    "begin a fresh state",
    "begin afresh, without any worker; worktrees and branches stay where they are",
)
def _begin_afresh(context: RepairContext, repair: Repair) -> str:
    save_rebuilt(context.root, [])
    return "there are no workers any more; their worktrees and branches are where they were"


def _choose_recovery(context: RepairContext, repair: Repair) -> RepairChoice:
    file = StateFile(context.root.path)
    ways, usual = [_rebuild_state, _begin_afresh], 0
    backup = probe(lambda: _look_at_backup(context.root, context.now))
    if isinstance(backup, Found):
        restore = replace(_restore_backup, words=f"restore state.json.bak, from {age(backup.value)} ago")
        ways, usual = [restore, *ways], 0 if _backup_will_do(context, file) else 1
    editable = str(file.path) if file.path.is_file() else ""
    return RepairChoice("state.json cannot be used:", tuple(ways), usual, editable)


def _backup_will_do(context: RepairContext, file: StateFile) -> bool:
    """Not when anything that can be seen is newer; where nothing can be seen there is nothing to rebuild from."""
    try:
        remains = find_remains(context.open_site())
    except LlmcError:
        return True
    try:
        return backup_is_current(file.load_backup(), remains)
    except StateError:
        return False


@fix(RepairStage.WORKERS, "clear an error", "let {worker} be what it was before its error; its work stays")
def _clear_error(context: RepairContext, repair: Repair) -> str:
    with context.acting_for(repair) as (site, worker):
        change_worker(site, worker.name, lambda worker: without_error(worker, context.now), repair.words)
    return f"{worker.name} is {site.worker(worker.name).status}"


_recover = replace(_rebuild_state, do="recover the state", words="make state.json again", choose=_choose_recovery)


# --- judgement ------------------------------------------------------------------------------------

MISSING = TOPIC.error(
    "state-missing",
    "the root has no `state.json` any more",
    "`llmc doctor --repair` restores the backup; without one, `llmc doctor --rebuild`",
    _recover,
)
BROKEN = TOPIC.error(
    "state-broken",
    "`state.json` is damaged",
    "`llmc doctor --repair` restores the backup; without one, `llmc doctor --rebuild`",
    replace(_recover, words="make state.json again; the damaged one is kept aside"),
)
NEWER = TOPIC.error("state-newer", "`state.json` was written by a newer LLMC", "upgrade llmc")
INCONSISTENT = TOPIC.error(
    "state-inconsistent",
    "`state.json` contradicts itself: work that waits for review without a commit, a session of two workers, ...",
    "`llmc doctor --repair`",
    records_fix("put right what contradicts itself in state.json"),
)
CLOCK_JUMPED = TOPIC.warning(
    "clock-jumped",
    "times in `state.json` lie in the future, because the clock was set back: they count as now",
    "set the clock right, or `llmc doctor --repair` sets these times to now",
    records_fix("set times that lie in the future to now"),
)
WORKER_ERROR = TOPIC.warning(
    "worker-error",
    "a worker has stopped with an error",
    "`llmc restart {worker}`, or `llmc reset {worker}` for a fresh start with a backup",
    _clear_error,
)


def judge(health: Health) -> Iterator[Finding]:
    seen, root = health.of(StateSeen), health.root.path
    match seen.state:
        case Absent():
            yield _unusable(MISSING, f"there is no {root}/state.json", seen.backup)
        case Newer(what):
            yield NEWER.finding(what, "this version would lose what it does not know")
        case Broken(what):
            yield _unusable(BROKEN, what, seen.backup)
        case Found(state):
            yield from _records(health.at_unix, state)


def _unusable(kind: FindingKind, what: str, backup: Answer[float]) -> Finding:
    match backup:
        case Found(float(seconds)):
            why = f"state.json.bak is usable, from {age(seconds)} ago"
            return kind.finding(what, why, advice="`llmc doctor --repair` restores state.json.bak")
        case Broken(trouble):
            why = f"state.json.bak is no help: {trouble}"
        case Absent():
            why = "there is no state.json.bak"
        case Unknown(reason):
            why = f"whether state.json.bak is usable is not known: {reason}"
    return kind.finding(what, why, advice="`llmc doctor --rebuild` makes it from the worktrees and terminals")


def _records(now: float, state: StateFacts) -> Iterator[Finding]:
    for name, what in state.problems:
        yield INCONSISTENT.finding(what, "no command takes a state that contradicts itself", worker=name)
    for name, worker in state.workers.items():
        seconds = state.future.get(name, 0.0)
        if not state.problems and (seconds or late_timers(worker, now)):
            what = f"{name}'s record has times that lie {age(seconds)} or more in the future"
            yield CLOCK_JUMPED.finding(what, "the clock of this machine was set back", worker=name)
        if worker.work is Work.ERROR:
            why = one_line(f"{worker.evidence.signal}: {worker.evidence.detail}", 200)
            yield WORKER_ERROR.finding(f"{name} has stopped with an error", why, worker=worker.name)


def summary(health: Health) -> str:
    return f"state: {counted(len(workers_of(health)), 'worker')}"
