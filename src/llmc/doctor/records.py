"""What is kept about the workers: agents' reports, logs, and files that belong to nobody any more."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import partial
from pathlib import Path

from llmc.care.catch_up import catch_up
from llmc.core.display import age, counted, some
from llmc.core.lifecycle.clocks import elapsed, is_older
from llmc.doctor.agents import AgentsSeen
from llmc.doctor.answers import Answer, Broken, Found, OfWorker, Unknown, given, known, probe
from llmc.doctor.clone import CloneSeen
from llmc.doctor.daemon import DaemonSeen, files_in
from llmc.doctor.databases import file_trouble, read_database
from llmc.doctor.findings import NOTE, Finding, Topic
from llmc.doctor.health import BRANCHES, Health, Looking
from llmc.doctor.repairs import Repair, RepairContext, RepairStage, fix
from llmc.doctor.root_files import RootFilesSeen
from llmc.doctor.state import workers_of
from llmc.errors import LlmcError
from llmc.host.files import is_own_directory
from llmc.host.locks import is_held
from llmc.model import Session, Worker
from llmc.root import Root
from llmc.store.event_log import EventLog
from llmc.store.landing_journal import LandingJournal
from llmc.store.spool import look_into
from llmc.values import Value

TOPIC = Topic("records")
WAITING_SECS = 60.0
OLD_WRITE_SECS = 60.0
CUT_SHORT = (".state.json.new", ".state.json.bak.new", ".config.toml.new", ".landings.json.new")


# --- look -----------------------------------------------------------------------------------------


class ReportsWaiting(Value):
    """An agent's reports that nobody has taken yet, and those that were not understood."""

    waiting: int = 0
    oldest_secs: float = 0.0
    bad: int = 0


class ReportsSeen(OfWorker):
    reports: Answer[ReportsWaiting] = field(metadata=TOPIC.asks("its agent's reports"))


class RecordsSeen(Value):
    of_workers: Answer[tuple[ReportsSeen, ...]] = field(metadata=TOPIC.asks("the agents' reports"))
    unreadable: Answer[Mapping[str, str]] = field(metadata=TOPIC.asks("the logs"))
    """Why each cannot be read."""
    left_over: Answer[tuple[str, ...]] = field(metadata=TOPIC.asks("files that belong to nobody"))


def look(looking: Looking, seen: Health) -> RecordsSeen:
    look_at = partial(_look_at_reports, looking)
    return RecordsSeen(
        given(looking.state, lambda _: Found(tuple(map(look_at, looking.workers.values())))),
        unreadable=looking.ask(_find_unreadable),
        left_over=given(looking.state, lambda _: _find_left_over(looking.root, seen)),
    )


def _look_at_reports(looking: Looking, worker: Worker) -> ReportsSeen:
    def reports() -> Answer[ReportsWaiting]:
        times, bad = look_into(looking.root.spool(worker.name))
        return Found(ReportsWaiting(len(times), elapsed(min(times, default=looking.now), looking.now), bad))

    return ReportsSeen(worker, probe(reports))


def _find_unreadable(root: Root) -> Answer[Mapping[str, str]]:
    troubles = {root.event_log: _event_log_trouble(Path(root.event_log))}
    troubles |= {str(path): file_trouble(path) for path in files_in(root.logs, ".log")}
    troubles[root.landings] = _journal_trouble(root)
    return Found({path: why for path, why in troubles.items() if why})


def _journal_trouble(root: Root) -> str:
    try:
        LandingJournal(root.landings).read()
    except LlmcError as broken:
        return broken.what
    return ""


def _event_log_trouble(path: Path) -> str:
    read = read_database(path, sys.maxsize, "SELECT max(id) FROM events")
    return read.what if isinstance(read, Broken) else ""


def _find_left_over(root: Root, seen: Health) -> Answer[tuple[str, ...]]:
    """Names that somebody acts for, or that have a worktree or a branch, are in use though no worker may have them."""
    acting, directories = seen.of(DaemonSeen).acting, seen.of(RootFilesSeen).directories
    if isinstance(acting, Unknown):
        return acting
    if isinstance(directories, Unknown):
        return directories
    clone = known(seen.of(CloneSeen).clone, None)
    branches = (branch.removeprefix(BRANCHES) for branch in clone.heads) if clone else ()
    wanted = {*workers_of(seen), *known(acting, ()), *known(directories, ()), *branches}
    files = (path for path in _files_of_workers(root) if path.name.partition(".")[0] not in wanted)
    return Found((*(str(path) for path in files if not _is_in_use(path)), *_cut_short(root)))


def _files_of_workers(root: Root) -> Iterator[Path]:
    for directory, pattern in (("spool", "*"), ("agents", "*"), ("attention", "*.json"), ("locks", "*")):
        if is_own_directory(root.inside("run", directory)):  # through a link they would be somebody else's
            yield from sorted(Path(root.run, directory).glob(pattern))


def _is_in_use(path: Path) -> bool:
    return path.suffix in (".lock", ".pane") and is_held(path) is not None


def _cut_short(root: Root) -> Iterator[str]:
    for path in (Path(root.inside(name)) for name in CUT_SHORT):
        if path.is_file() and is_older(path.stat().st_mtime, time.time(), OLD_WRITE_SECS):
            yield str(path)


# --- repair ---------------------------------------------------------------------------------------


@fix(RepairStage.REPORTS, "take reports", "take the reports of {worker}'s agent")
def _take_reports(context: RepairContext, repair: Repair) -> str:
    with context.acting_for(repair) as (site, worker):
        worker = catch_up(site, worker.name)
    return f"{worker.name} is {worker.status}"


@fix(RepairStage.RECORDS, "set a log aside", "set {subject} aside; a new one begins")
def _set_log_aside(context: RepairContext, repair: Repair) -> str:
    path = Path(repair.subject)
    if str(path) == context.root.event_log:
        EventLog(path).set_aside("set aside by llmc doctor --repair")
        return f"{path} was set aside under another name"
    kept = f"{context.aside}/{path.name}"
    context.host.move(str(path), kept)
    return f"it is {kept} now"


@fix(RepairStage.RECORDS, "remove files", "remove the files that belong to nobody")
def _remove_files(context: RepairContext, repair: Repair) -> str:
    paths = repair.subject.split("\0")
    for path in paths:
        context.host.remove_tree(path)
    return f"removed {len(paths)}"


# --- judgement ------------------------------------------------------------------------------------

AGENT_SILENT = TOPIC.note(
    "agent-silent",
    "an agent that reports what it does has reported nothing, so that only git, its process and its screen tell",
    "`llmc doctor --agents` finds out why",
)
WAITING = TOPIC.warning(
    "events-waiting",
    "an agent's reports have not been taken for more than a minute; a note while no daemon runs",
    "`llmc up`; if the daemon runs, `llmc down` first",
    _take_reports,
)
BAD = TOPIC.note(
    "events-bad", "an agent's reports were not understood and set aside", "read the notes in {path}, then remove it"
)
UNREADABLE = TOPIC.warning(
    "log-unreadable", "a log cannot be read", "move {path} away; a new one is begun by itself", _set_log_aside
)
LEFT_OVER = TOPIC.note(
    "files-left-over",
    "files of workers that are gone, or of a write that was cut short",
    "`llmc doctor --repair` removes them",
    _remove_files,
)


def judge(health: Health) -> Iterator[Finding]:
    seen = health.of(RecordsSeen)
    for each in known(seen.of_workers, ()):
        yield from _reports(health, each.worker.name, known(each.reports, ReportsWaiting()))
    yield from _silent(health)
    for path, why in known(seen.unreadable, {}).items():
        yield UNREADABLE.finding(f"{path} cannot be read", why, path=path)
    if left_over := known(seen.left_over, ()):
        what = f"{counted(len(left_over), 'file')} belong to nobody: {some(left_over)}"
        subject = "\0".join(left_over)  # a name may hold anything else
        yield LEFT_OVER.finding(what, "a worker was removed, or a write was cut short", subject=subject)


def _reports(health: Health, name: str, reports: ReportsWaiting) -> Iterator[Finding]:
    if reports.waiting and reports.oldest_secs > WAITING_SECS:
        what = f"{name}: {counted(reports.waiting, 'report')} of its agent waiting, for {age(reports.oldest_secs)}"
        if health.of(DaemonSeen).is_absent:
            why, severity = "no daemon runs; the next command for this worker takes them too", NOTE
        else:
            why, severity = "the daemon does not take them", None
        yield WAITING.finding(what, why, worker=name, severity=severity)
    if reports.bad:
        what = f"{name}: {counted(reports.bad, 'report')} of its agent could not be understood"
        path = f"{health.root.spool(name)}/bad"
        yield BAD.finding(what, "they were set aside and hold up nothing", worker=name, path=path)


def _silent(health: Health) -> Iterator[Finding]:
    reporting = {agent.name for agent in known(health.of(AgentsSeen).agents, ()) if agent.reports_start}
    for name, worker in workers_of(health).items():
        if worker.session is Session.UP and worker.agent in reporting and not worker.reports_events:
            what = f"{name}'s agent has not reported anything since it started"
            why = "its hooks are missing or not trusted; git, the process and the screen decide instead"
            yield AGENT_SILENT.finding(what, why, worker=name)


def summary(health: Health) -> str:
    return "logs and reports"
