"""What is wrong with the time, and what was left behind by somebody who is gone."""

from __future__ import annotations

from collections.abc import Iterator

from llmc.core.display import age
from llmc.doctor.findings import Finding, counted, finding, some
from llmc.doctor.health import Found, RootHealth, StateFacts
from llmc.model import Session, Worker

LONGEST_TIMER_SECS = 86_400.0


def remains_findings(now: float, root: RootHealth) -> Iterator[Finding]:
    if isinstance(root.state, Found) and not root.state.value.problems:
        yield from _clock(now, root.state.value)
    yield from _strays(root)
    yield from _silent(root)
    if isinstance(root.left_over, Found) and root.left_over.value:
        what = f"{counted(len(root.left_over.value), 'file')} belong to nobody: {some(root.left_over.value)}"
        paths = "\0".join(root.left_over.value)  # a name may hold anything else
        yield finding("files-left-over", what, "a worker was removed, or a write was cut short", subject=paths)


def _clock(now: float, state: StateFacts) -> Iterator[Finding]:
    for name, worker in state.workers.items():
        seconds = state.future.get(name, 0.0)
        if seconds or late_timers(worker, now):
            what = f"{name}'s record has times that lie {age(seconds)} or more in the future"
            yield finding("clock-jumped", what, "the clock of this machine was set back", worker=name)


def late_timers(worker: Worker, now: float) -> tuple[str, ...]:
    """Those that nobody would have set so far ahead."""
    return tuple(name for name, due in worker.timers.items() if due > now + LONGEST_TIMER_SECS)


def _strays(root: RootHealth) -> Iterator[Finding]:
    if not isinstance(root.strays, Found) or not isinstance(root.acting, Found):
        return
    for worker in dict.fromkeys(each.worker for each in root.strays.value):
        if worker in root.acting.value:
            continue
        own = [each for each in root.strays.value if each.worker == worker]
        what = f"{counted(len(own), 'program')} of {worker}'s agent still run: {some([s.command for s in own], 3)}"
        pids = " ".join(str(each.pid) for each in own)
        repair = f"`llmc doctor --repair`, or `kill {pids}`"
        why = "the agent itself has ended; they may hold files and ports"
        yield finding("process-stray", what, why, repair=repair, subject=worker)


def _silent(root: RootHealth) -> Iterator[Finding]:
    if not (isinstance(root.agents, Found) and isinstance(root.workers, Found)):
        return
    reporting = {agent.name for agent in root.agents.value if agent.reports_start}
    for each in root.workers.value:
        worker = each.worker
        if worker.session is Session.UP and worker.agent in reporting and not worker.reports_events:
            what = f"{worker.name}'s agent has not reported anything since it started"
            why = "its hooks are missing or not trusted; git, the process and the screen decide instead"
            yield finding("agent-silent", what, why, worker=worker.name)
