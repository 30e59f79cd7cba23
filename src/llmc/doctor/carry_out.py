"""The one place that carries out repairs. Each says what it has done; what could be lost is kept first."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from llmc.core.lifecycle import events as ev
from llmc.doctor import repair_git, repair_landings, repair_worktrees
from llmc.doctor.means import Means, change_worker
from llmc.doctor.mending import careful, mended, without_error
from llmc.doctor.rebuild import rebuilt
from llmc.doctor.repairs import Do, Repair
from llmc.errors import LlmcError
from llmc.model import State, Worker
from llmc.perform.sessions import end_strays
from llmc.perform.steps import Settled, decide_and_run, settle
from llmc.store.event_log import EventLog, LoggedEvent
from llmc.store.lock import FileLock
from llmc.store.own_directory import is_replaced
from llmc.store.state_file import StateFile

DAEMON_LOCK_SECS = 1.0


@dataclass(frozen=True, slots=True)
class Repaired:
    """What came of a repair: done or not, in words."""

    repair: Repair
    done: bool
    words: str
    hint: str = ""


def carry_out(means: Means, repair: Repair) -> Repaired:
    """Whatever goes wrong with one repair does not keep the others from being made."""
    try:
        words = _WAYS[repair.do](means, repair)
    except LlmcError as failure:
        return Repaired(repair, False, failure.what, failure.hint)
    except OSError as failure:
        where = f"{failure.filename}: " if failure.filename else ""
        return Repaired(repair, False, f"{where}{failure.strerror or failure}", "mend that, then repair again")
    _log(means, repair, words)
    return Repaired(repair, True, words)


def _log(means: Means, repair: Repair, words: str) -> None:
    with EventLog(means.root.event_log) as log:
        log.append(LoggedEvent(means.now, repair.worker or "", "repair", detail=f"{repair.words}: {words}"))


# --- files ------------------------------------------------------------------------------------------


def _make_directory(means: Means, repair: Repair) -> str:
    Path(repair.subject).mkdir(mode=0o700)
    return f"made {repair.subject}"


def _replace_directory(means: Means, repair: Repair) -> str:
    path = repair.subject
    if not is_replaced(path):
        return f"{path} is a directory again"
    kept = f"{means.aside}/{os.path.relpath(path, means.root.path).replace('/', '-')}"
    means.host.move(path, kept)
    means.host.make_dir(path)
    return f"what stood there is {kept} now"


def _make_writable(means: Means, repair: Repair) -> str:
    path = Path(repair.subject)
    path.chmod(path.stat().st_mode | 0o700)
    if not os.access(path, os.W_OK):
        raise LlmcError(f"{path} still cannot be written to", "make its disk writable")
    return f"you may write to {path}"


def _close_to_others(means: Means, repair: Repair) -> str:
    path = Path(repair.subject)
    path.chmod(path.stat().st_mode & ~0o077)
    return f"only you may use {path}"


def _set_log_aside(means: Means, repair: Repair) -> str:
    path = Path(repair.subject)
    if str(path) == means.root.event_log:
        EventLog(path).set_aside("set aside by llmc doctor --repair")
        return f"{path} was set aside under another name"
    kept = f"{means.aside}/{path.name}"
    means.host.move(str(path), kept)
    return f"it is {kept} now"


def _remove_files(means: Means, repair: Repair) -> str:
    paths = repair.subject.split("\0")
    for path in paths:
        means.host.remove_tree(path)
    return f"removed {len(paths)}"


def _forget_daemon(means: Means, repair: Repair) -> str:
    with FileLock(means.root.daemon_lock, name="the daemon", timeout=DAEMON_LOCK_SECS):
        pass  # whoever gives the lock back takes the name of the last holder out of it
    return "`llmc up` starts a new one"


# --- the state --------------------------------------------------------------------------------------


def _restore_backup(means: Means, repair: Repair) -> str:
    StateFile(means.root.path).restore_backup(lambda state: _each(state, careful))
    return "state.json is what state.json.bak was; what was there before is kept as state.json.aside-*"


def _rebuild_state(means: Means, repair: Repair) -> str:
    site = means.open_site()
    found = [rebuilt(remains, means.now).worker for remains in means.find_remains(site).values()]
    save_rebuilt(means, State(MappingProxyType({worker.name: worker for worker in found})))
    return f"found {', '.join(worker.name for worker in found) or 'no workers'}"


def save_rebuilt(means: Means, state: State) -> None:
    StateFile(means.root.path).create(state, overwrite=True)


def _fresh_state(means: Means, repair: Repair) -> str:
    StateFile(means.root.path).create(State(), overwrite=True)
    return "there are no workers any more; their worktrees and branches are where they were"


def _mend_records(means: Means, repair: Repair) -> str:
    site = means.open_site()

    def change(state: State) -> State:
        seen = means.look_for_mending(site, state)
        return mended(state, seen, site.root.worktrees, site.config.defaults.agent, means.now)

    site.ledger.state.mend(change)
    return "the records agree with themselves and with git"


def _each(state: State, change: Callable[[Worker], Worker]) -> State:
    return replace(state, workers=MappingProxyType({key: change(worker) for key, worker in state.workers.items()}))


# --- workers ----------------------------------------------------------------------------------------


def _note_session(means: Means, repair: Repair) -> str:
    site, name = means.open_site(), repair.worker or ""
    with site.acting_for(name):
        means.catch_up(site, name)
        worker = site.worker(name)
        pane = site.tmux.panes().get(worker.session_id)
        if pane is not None and pane.dead:
            site.tmux.kill_session(worker.session_id)
    return f"{name} is {worker.status}; `llmc restart {name}` brings it back"


def _take_reports(means: Means, repair: Repair) -> str:
    site, name = means.open_site(), repair.worker or ""
    with site.acting_for(name):
        means.catch_up(site, name)
    return f"{name} is {site.worker(name).status}"


def _take_steps(means: Means, repair: Repair) -> str:
    site, name = means.open_site(), repair.worker or ""
    with site.acting_for(name):
        means.catch_up(site, name)
        return _told(name, settle(site, name))


def _reset(means: Means, repair: Repair) -> str:
    site, name = means.open_site(), repair.worker or ""
    with site.acting_for(name):
        return _told(name, decide_and_run(site, name, ev.ResetAsked(site.now())))


def _told(name: str, settled: Settled) -> str:
    if settled.refusal is not None:
        raise settled.refusal
    return f"{name} is {settled.worker.status}" if settled.worker is not None else f"{name} was removed"


def _clear_error(means: Means, repair: Repair) -> str:
    site, name = means.open_site(), repair.worker or ""
    with site.acting_for(name):
        change_worker(site, name, lambda worker: without_error(worker, means.now), repair.words)
    return f"{name} is {site.worker(name).status}"


def _end_session(means: Means, repair: Repair) -> str:
    site = means.open_site()
    repair_worktrees.end_orphaned_session(site, repair.subject)
    return f"{repair.subject} has ended"


def _end_strays(means: Means, repair: Repair) -> str:
    return f"ended {end_strays(means.open_site(), repair.subject)}"


_WAYS: Mapping[Do, Callable[[Means, Repair], str]] = {
    Do.MAKE_DIRECTORY: _make_directory,
    Do.MAKE_WRITABLE: _make_writable,
    Do.REPLACE_DIRECTORY: _replace_directory,
    Do.CLOSE_TO_OTHERS: _close_to_others,
    Do.SET_LOG_ASIDE: _set_log_aside,
    Do.REMOVE_FILES: _remove_files,
    Do.FORGET_DAEMON: _forget_daemon,
    Do.RESTORE_BACKUP: _restore_backup,
    Do.REBUILD_STATE: _rebuild_state,
    Do.FRESH_STATE: _fresh_state,
    Do.MEND_RECORDS: _mend_records,
    Do.NOTE_SESSION: _note_session,
    Do.TAKE_REPORTS: _take_reports,
    Do.TAKE_STEPS: _take_steps,
    Do.RESET: _reset,
    Do.CLEAR_ERROR: _clear_error,
    Do.END_SESSION: _end_session,
    Do.END_STRAYS: _end_strays,
    Do.MEND_CLONE: repair_git.mend_the_clone,
    Do.WRITE_SETTINGS: repair_git.write_settings,
    Do.TURN_ON: repair_git.turn_on,
    Do.FOLLOW_SOURCE: repair_git.follow_source,
    Do.REMOVE_LOCK: repair_git.remove_lock,
    Do.REMOVE_SOURCE_LOCK: repair_landings.remove_source_lock,
    Do.SETTLE_LANDINGS: repair_landings.settle_the_landings,
    Do.MEND_REF: repair_git.mend_the_ref,
    Do.RESTORE_BRANCH: repair_worktrees.restore_its_branch,
    Do.MAKE_WORKTREE: repair_worktrees.make_again,
    Do.CONNECT_WORKTREE: repair_worktrees.connect,
    Do.LEAVE_OPERATION: repair_worktrees.leave,
    Do.PUT_ON_BRANCH: repair_worktrees.put_back,
    Do.REMOVE_WORKTREE: repair_worktrees.remove_orphan,
    Do.ADOPT_WORKTREE: repair_worktrees.adopt,
    Do.KEEP_BRANCH: repair_worktrees.keep_branch,
}
