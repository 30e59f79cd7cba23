"""The terminals in which agents run, and the programs that outlive them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field, replace

from llmc.care.catch_up import catch_up
from llmc.core.display import counted, some
from llmc.doctor.answers import Answer, Found, both, given, known
from llmc.doctor.daemon import DaemonSeen, acted_for, of_nobody
from llmc.doctor.findings import Finding, Topic
from llmc.doctor.health import SESSIONS, Health, Looking, StateFacts
from llmc.doctor.repairs import Repair, RepairContext, RepairStage, fix
from llmc.doctor.state import workers_of
from llmc.host.locks import is_held
from llmc.host.processes import end_tree, is_running, marked_processes
from llmc.model import Session
from llmc.perform.sessions import end_strays
from llmc.root import Root
from llmc.tmux.parsing import Pane
from llmc.values import Value

TOPIC = Topic("terminals")


# --- look -----------------------------------------------------------------------------------------


class TerminalFacts(Value):
    session: str
    alive: bool
    how: str = ""
    """How its process ended."""


class StrayProcess(Value):
    """A process that an agent of this root has started and that is in no terminal of its worker's."""

    pid: int
    worker: str
    command: str


class SessionsSeen(Value):
    terminals: Answer[tuple[TerminalFacts, ...]] = field(metadata=TOPIC.asks("the tmux server"))
    own: Answer[Mapping[str, TerminalFacts | None]] = field(metadata=TOPIC.asks("the workers' terminals"))
    """The terminal of each worker."""
    strays: Answer[tuple[StrayProcess, ...]] = field(metadata=TOPIC.asks("programs that outlive their agents"))


def look(looking: Looking, seen: Health) -> SessionsSeen:
    terminals = given(looking.tmux, lambda tmux: Found(tuple(map(_terminal, tmux.panes().values()))))
    return SessionsSeen(
        terminals,
        own=given(both(terminals, looking.state), lambda of: _own_terminals(*of)),
        strays=given(terminals, lambda terminals: _find_strays(looking.root, terminals)),
    )


def _terminal(pane: Pane) -> TerminalFacts:
    if not pane.dead and is_running(pane.pid):
        return TerminalFacts(pane.session, alive=True)
    if pane.exit_signal is not None:
        how = f"signal {pane.exit_signal} ended it"
    elif pane.exit_code is not None:
        how = f"it ended with exit code {pane.exit_code}"
    else:
        how = "how it ended is not known"
    return TerminalFacts(pane.session, alive=False, how=how)


def _own_terminals(
    terminals: tuple[TerminalFacts, ...], state: StateFacts
) -> Answer[Mapping[str, TerminalFacts | None]]:
    by_session = {each.session: each for each in terminals}
    return Found({name: by_session.get(worker.session_id) for name, worker in state.workers.items()})


def _find_strays(root: Root, terminals: tuple[TerminalFacts, ...]) -> Answer[tuple[StrayProcess, ...]]:
    """Programs of workers that have no running terminal: of the others, nobody can tell what they still need."""
    live = {each.session for each in terminals if each.alive}
    daemon = is_held(root.daemon_lock)
    found = (
        StrayProcess(each.pid, each.variables["LLMC_WORKER"], each.command)
        for each in marked_processes(LLMC_ROOT=root.path, LLMC_WORKER="")
        if each.pid != (daemon and daemon.pid)
    )
    return Found(tuple(each for each in found if SESSIONS + each.worker not in live))


# --- repair ---------------------------------------------------------------------------------------


@fix(RepairStage.SESSIONS, "note a lost session", "note that {worker} is offline; its work stays")
def _note_session(context: RepairContext, repair: Repair) -> str:
    with context.acting_for(repair) as (site, worker):
        worker = catch_up(site, worker.name)
        pane = site.tmux.panes().get(worker.session_id)
        if pane is not None and pane.dead:
            site.tmux.kill_session(worker.session_id)
    return f"{worker.name} is {worker.status}; `llmc restart {worker.name}` brings it back"


@fix(RepairStage.ORPHANS, "end a session", "end the session {subject} with all that runs in it")
def _end_session(context: RepairContext, repair: Repair) -> str:
    tmux = context.open_site().tmux
    pane = tmux.panes().get(repair.subject)
    if pane is not None and not pane.dead:
        end_tree(pane.pid)
    tmux.kill_session(repair.subject)
    return f"{repair.subject} has ended"


@fix(RepairStage.ORPHANS, "end strays", "end the programs that {subject}'s agent has left behind")
def _end_strays(context: RepairContext, repair: Repair) -> str:
    return f"ended {end_strays(context.open_site(), repair.subject)}"


# --- judgement ------------------------------------------------------------------------------------

MISSING = TOPIC.error(
    "session-missing", "a worker counts as up, but has no terminal", "`llmc restart {worker}`", _note_session
)
DEAD = TOPIC.error(
    "session-dead",
    "a worker counts as up, but its agent has ended",
    "`llmc restart {worker}`",
    replace(_note_session, words="note how {worker}'s agent ended; its work stays"),
)
ORPHANED = TOPIC.warning(
    "session-orphaned",
    "an agent's terminal belongs to no worker",
    "`tmux -L {socket} kill-session -t ={session}`",
    _end_session,
)
STRAY = TOPIC.warning(
    "process-stray",
    "a program that an agent started has outlived it",
    "`llmc doctor --repair`, or `kill {pids}`",
    _end_strays,
)


def judge(health: Health) -> Iterator[Finding]:
    own = known(health.of(SessionsSeen).own, {})
    for name, worker in workers_of(health).items():
        if worker.session is not Session.UP or name not in own or name in acted_for(health):
            continue
        terminal = own[name]
        if terminal is None:
            what = f"{name} counts as up, but there is no session {worker.session_id}"
            yield MISSING.finding(what, "the machine or its tmux server was stopped", worker=name)
        elif not terminal.alive:
            yield DEAD.finding(f"{name} counts as up, but its agent has ended", terminal.how, worker=name)
    yield from _orphans(health)
    yield from _strays(health)


def _orphans(health: Health) -> Iterator[Finding]:
    sessions = [terminal.session for terminal in known(health.of(SessionsSeen).terminals, ())]
    for name in of_nobody(health, sessions, SESSIONS, lambda worker: worker.session_id):
        what, why = f"the session {name} belongs to no worker", "an agent may be at work there unseen"
        yield ORPHANED.finding(what, why, subject=name, socket=health.root.tmux_socket, session=name)


def _strays(health: Health) -> Iterator[Finding]:
    strays, acting = known(health.of(SessionsSeen).strays, ()), health.of(DaemonSeen).acting
    for worker in dict.fromkeys(each.worker for each in strays):
        if not isinstance(acting, Found) or worker in acting.value:
            continue
        own = [each for each in strays if each.worker == worker]
        what = f"{counted(len(own), 'program')} of {worker}'s agent still run: {some([s.command for s in own], 3)}"
        why = "the agent itself has ended; they may hold files and ports"
        pids = " ".join(str(each.pid) for each in own)
        advice = f"`llmc doctor --repair`, or `kill {pids}`"
        yield STRAY.finding(what, why, advice=advice, subject=worker)


def summary(health: Health) -> str:
    terminals = known(health.of(SessionsSeen).terminals, ())
    return f"terminals: {sum(each.alive for each in terminals)} running"
