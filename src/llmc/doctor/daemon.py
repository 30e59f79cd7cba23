"""The daemon, the locks of whoever acts for a worker, and steps that nobody takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import field
from pathlib import Path

from llmc.care.catch_up import catch_up
from llmc.core.display import age, counted, some
from llmc.daemon.process import daemon_lock
from llmc.doctor.answers import Absent, Answer, Found, known
from llmc.doctor.findings import Finding, Topic
from llmc.doctor.health import Health, Looking, StateFacts
from llmc.doctor.repairs import Repair, RepairContext, RepairStage, fix
from llmc.doctor.settings import SettingsSeen
from llmc.doctor.state import StateSeen, workers_of
from llmc.host.locks import is_held, read_holder
from llmc.model import Session, Worker
from llmc.perform.steps import Settled, settle
from llmc.root import Root
from llmc.values import Value

TOPIC = Topic("daemon")
MISSED_PATROLS = 3
PATROL_SECS = 60.0
"""How often the daemon goes on patrol when the settings do not tell."""


# --- look -----------------------------------------------------------------------------------------


class DaemonFacts(Value):
    pid: int
    since_unix: float
    running: bool
    """False when it was ended without a chance to sign off."""


class DaemonSeen(Value):
    daemon: Answer[DaemonFacts] = field(metadata=TOPIC.asks("the daemon"))
    acting: Answer[frozenset[str]] = field(metadata=TOPIC.asks("which workers somebody acts for"))
    """The workers that a command or the daemon does something for right now."""

    @property
    def is_absent(self) -> bool:
        """Whether no daemon runs, for sure."""
        return isinstance(self.daemon, Absent) or (isinstance(self.daemon, Found) and not self.daemon.value.running)


def look(looking: Looking, seen: Health) -> DaemonSeen:
    return DaemonSeen(looking.ask(_look_at_daemon), looking.ask(_names_acted_for))


def _look_at_daemon(root: Root) -> Answer[DaemonFacts]:
    holder = is_held(root.daemon_lock)
    if holder is not None:
        return Found(DaemonFacts(holder.pid, holder.since_unix, running=True))
    # Whoever ends in good order takes the name out of the file.
    last = read_holder(root.daemon_lock)
    return Found(DaemonFacts(last.pid, last.since_unix, running=False)) if last.pid else Absent()


def _names_acted_for(root: Root) -> Answer[frozenset[str]]:
    locks = files_in(root.inside("run", "locks"), ".lock")
    return Found(frozenset(path.stem for path in locks if is_held(path) is not None))


def files_in(directory: str, ending: str) -> list[Path]:
    """Unlike `glob`, which finds nothing in a directory that may not be read, this raises then."""
    try:
        there = list(Path(directory).iterdir())
    except FileNotFoundError:
        return []
    return [each for each in there if each.name.endswith(ending) and not each.name.startswith(".")]


# --- repair ---------------------------------------------------------------------------------------


@fix(RepairStage.RECORDS, "forget a daemon", "forget the daemon that was ended by force")
def _forget_daemon(context: RepairContext, repair: Repair) -> str:
    with daemon_lock(context.root):
        pass  # whoever gives the lock back takes the name of the last holder out of it
    return "`llmc up` starts a new one"


@fix(RepairStage.STEPS, "take steps", "take the steps that {worker} was left with")
def _take_steps(context: RepairContext, repair: Repair) -> str:
    with context.acting_for(repair) as (site, worker):
        catch_up(site, worker.name)
        return settled_status(worker.name, settle(site, worker.name))


def settled_status(name: str, settled: Settled) -> str:
    if settled.refusal is not None:
        raise settled.refusal
    return f"{name} is {settled.worker.status}" if settled.worker is not None else f"{name} was removed"


# --- judgement ------------------------------------------------------------------------------------

STALE = TOPIC.warning(
    "daemon-stale", "the daemon was ended by force, and nobody looks after the workers", "`llmc up`", _forget_daemon
)
STUCK = TOPIC.warning(
    "daemon-stuck",
    "the daemon runs, but has not been on patrol for long",
    "`kill {pid}`, then `llmc up`; the agents go on meanwhile",
)
STEPS_WAITING = TOPIC.warning(
    "steps-waiting", "something was decided for a worker and nobody carries it out", "`llmc up`", _take_steps
)


def names_in_use(health: Health) -> frozenset[str] | None:
    """The workers, and whom somebody makes or removes right now; None where that is not known."""
    state, acting = health.of(StateSeen).state, health.of(DaemonSeen).acting
    if isinstance(state, Found) and isinstance(acting, Found):
        return acting.value | state.value.workers.keys()
    return None


def of_nobody(health: Health, things: Iterable[str], prefix: str, own: Callable[[Worker], str]) -> list[str]:
    """Those that are named as a worker's would be and belong to none; empty where it is not known who there is."""
    names = names_in_use(health)
    if names is None:
        return []
    taken = {*map(own, workers_of(health).values()), *(prefix + name for name in names)}
    return sorted(thing for thing in things if thing.startswith(prefix) and thing not in taken)


def acted_for(health: Health) -> frozenset[str]:
    """While somebody acts for a worker, what is half done is not wrong."""
    return known(health.of(DaemonSeen).acting, frozenset())


def judge(health: Health) -> Iterator[Finding]:
    seen, state = health.of(DaemonSeen), health.of(StateSeen).state
    if isinstance(seen.daemon, Found) and isinstance(state, Found):
        yield from _daemon(health, seen.daemon.value, state.value)
    for name, worker in workers_of(health).items():
        if worker.pending and seen.is_absent and name not in acted_for(health):
            steps = some([step.name for step in worker.pending])
            what = f"{name} has {counted(len(worker.pending), 'step')} to take: {steps}"
            yield STEPS_WAITING.finding(what, "nobody acts for it and no daemon runs", worker=name)


def _daemon(health: Health, daemon: DaemonFacts, state: StateFacts) -> Iterator[Finding]:
    up = [name for name, worker in state.workers.items() if worker.session in (Session.UP, Session.STARTING)]
    if daemon.running:
        yield from _stuck(health, daemon, state)
    elif up:
        yield STALE.finding(f"the daemon (pid {daemon.pid}) was ended by force", f"nobody looks after {some(up)}")


def _stuck(health: Health, daemon: DaemonFacts, state: StateFacts) -> Iterator[Finding]:
    now, last = health.at_unix, state.patrol_last_run_unix
    # A daemon that never went may have been told not to (`--no-patrol`), and without workers there is no need.
    if last is None or last < daemon.since_unix or not state.workers:
        return
    newest = max(worker.created_at_unix for worker in state.workers.values())
    config = known(health.of(SettingsSeen).config, None)
    interval = max(PATROL_SECS, config.defaults.patrol_interval_secs) if config else PATROL_SECS
    if now - max(last, newest) > MISSED_PATROLS * interval:
        what = f"the daemon (pid {daemon.pid}) was last on patrol {age(now - last)} ago"
        yield STUCK.finding(what, "what its workers do goes unnoticed", pid=str(daemon.pid))


def summary(health: Health) -> str:
    daemon = known(health.of(DaemonSeen).daemon, None)
    return f"daemon runs (pid {daemon.pid})" if daemon and daemon.running else "no daemon"
