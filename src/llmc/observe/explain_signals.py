"""Every signal's reading at this moment, in words. What cannot be read says so, and keeps no other from being read."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from llmc.core.display import age, one_line
from llmc.core.lifecycle.next_moves import reporting
from llmc.core.screen.classify import read_screen
from llmc.core.screen.screen import Screen
from llmc.errors import LlmcError
from llmc.git.rebase import rebase_in_progress
from llmc.git.repository import branch_tip, current_branch, status
from llmc.host.locks import is_held
from llmc.host.processes import is_running
from llmc.model import Worker
from llmc.observe.branches import work_ahead
from llmc.site import Site
from llmc.store.snapshot import read_told
from llmc.store.spool import peek

TURNS = {"open": "a turn is open", "over": "no turn is open", "unknown": "whether a turn is open is not known"}


def read_signals(site: Site, worker: Worker) -> dict[str, str]:
    found = {}
    for name, reader in _READERS.items():
        try:
            found[name] = reader(site, worker)
        except LlmcError as unknown:
            found[name] = f"unknown: {unknown.what}"
        except OSError as unknown:
            found[name] = f"unknown: {unknown.strerror or unknown}"
    return found


def _terminal(site: Site, worker: Worker) -> str:
    pane = site.tmux.panes().get(worker.session_id)
    if pane is None:
        return "no session"
    if pane.dead:
        return f"the process has ended (exit code {pane.exit_code}, signal {pane.exit_signal})"
    people = f", {pane.attached} attached" if pane.attached else ""
    return f"{pane.session} runs{people}{', in copy mode' if pane.in_mode else ''}"


def _process(site: Site, worker: Worker) -> str:
    pane = site.tmux.panes().get(worker.session_id)
    if pane is None:
        return "none"
    return f"pid {pane.pid} ({one_line(pane.command, 40)}) {'runs' if is_running(pane.pid) else 'has ended'}"


def _screen(site: Site, worker: Worker) -> str:
    pane = site.tmux.panes().get(worker.session_id)
    if pane is None or pane.dead:
        return "nothing to read"
    reading = read_screen(site.agent_of(worker).pack, Screen(site.tmux.capture(pane.id), pane.title))
    detail = f" ({reading.detail})" if reading.detail else ""
    typed = ", something is typed and not sent" if reading.composer else ""
    return f"{reading.state}{detail}, by the cue {reading.cue or 'none'}{typed}"


def _attention(site: Site, worker: Worker) -> str:
    last = read_told(site.root.attention_file(worker.name))
    if last is None:
        return "no reading yet"
    detail = f" ({last['detail']})" if last.get("detail") else ""
    at = last.get("at_unix")
    since = f"{age(site.now() - at)} ago" if isinstance(at, int | float) else "nobody knows when"
    return f"{last.get('state')}{detail}, from the {last.get('source')}, {since}"


def _branch(site: Site, worker: Worker) -> str:
    if branch_tip(site.git, site.root.path, worker.branch) is None:
        return f"{worker.branch} is gone; `llmc doctor --repair` brings it back"
    tip = work_ahead(site, worker)
    return f"work at {tip[:12]}" if tip else "no work ahead of the branch"


def _worktree(site: Site, worker: Worker) -> str:
    changes = len(status(site.git, worker.worktree_path))
    there = current_branch(site.git, worker.worktree_path)
    place = "" if there == worker.branch else f", {there or 'no branch'} checked out"
    return (f"{changes} uncommitted files" if changes else "clean") + place


def _rebase(site: Site, worker: Worker) -> str:
    progress = rebase_in_progress(site.git, worker.worktree_path)
    if progress is None:
        return "none under way"
    began = worker.rebase_started_at_unix
    since = f", for {age(site.now() - began)}" if began is not None else ""
    left = f", {progress.remaining} commits to go" if progress.remaining else ""
    files = f", conflicts in {', '.join(worker.conflicted_files)}" if worker.conflicted_files else ""
    return f"under way{since}{left}{files}"


def _reports(site: Site, worker: Worker) -> str:
    agent = site.agent_of(worker)
    heard = reporting(worker, can_report=agent.reports_events, reports_start=agent.reports_start)
    waiting = len(peek(site.root.spool(worker.name)))
    spool = f"; {waiting} reports wait to be taken" if waiting else ""
    return f"{heard}; {TURNS[worker.turn.value]}{spool}"


def _timers(site: Site, worker: Worker) -> str:
    now = site.now()
    due = (f"{name} {f'in {age(at - now)}' if at > now else 'is due'}" for name, at in worker.timers.items())
    return ", ".join(due) or "none"


def _held_by(site: Site, lock: str, nobody: str) -> str:
    holder = is_held(lock)
    return nobody if holder is None else f"{holder}, for {age(site.now() - holder.since_unix)}"


def _crashes(site: Site, worker: Worker) -> str:
    if worker.last_crash_unix is None:
        return "none"
    return f"{worker.crash_count}, the last one {age(site.now() - worker.last_crash_unix)} ago"


_READERS: Mapping[str, Callable[[Site, Worker], str]] = {
    "terminal": _terminal,
    "process": _process,
    "screen": _screen,
    "attention": _attention,
    "reports": _reports,
    "branch": _branch,
    "worktree": _worktree,
    "rebase": _rebase,
    "timers": _timers,
    "lock": lambda site, worker: _held_by(site, site.root.worker_lock(worker.name), "nobody acts for it"),
    "typing": lambda site, worker: _held_by(site, site.root.pane_lock(worker.name), "nobody types into its terminal"),
    "daemon": lambda site, worker: _held_by(site, site.root.daemon_lock, "no daemon runs"),
    "crashes": _crashes,
}
