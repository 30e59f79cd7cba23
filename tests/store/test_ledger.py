"""Where decisions are kept: one at a time, with their reason, before anything else happens."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from llmc.core.lifecycle import events as ev
from llmc.core.lifecycle.policy import Policy
from llmc.core.tasks.task import Standing, Task
from llmc.errors import IllegalEventError, LlmcError
from llmc.model import Session, Work, Worker
from llmc.store.event_log import EventLog
from llmc.store.ledger import Ledger, UnknownWorkerError
from llmc.store.state_file import StateFile
from llmc.store.tasks import TaskStore
from llmc.store.worker_log import WorkerLog


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    StateFile(tmp_path).create()
    return reopened(tmp_path)


def reopened(root: Path) -> Ledger:
    """As another process has it."""
    log = WorkerLog(str(root / "logs"), max_bytes=1_000_000, keep=1)
    return Ledger(StateFile(root), EventLog(root / "status.db"), log, lambda name: Policy(), tasks_in(root))


def tasks_in(root: Path) -> TaskStore:
    return TaskStore(root / "tasks.db", root / "run" / "tasks.json")


def worker(name: str = "adam") -> Worker:
    return Worker(name, f"/worktrees/{name}", f"llmc/{name}", f"llmc-{name}", "demo", 100.0, 100.0)


def started(ledger: Ledger) -> str:
    ledger.add(worker())
    return ledger.apply("adam", ev.StartAsked(101.0)).worker.pending[0].id


def test_a_decision_is_kept_with_what_is_to_be_done(ledger: Ledger, tmp_path: Path) -> None:
    started(ledger)
    kept = reopened(tmp_path).worker("adam")
    assert (kept.session, [step.name for step in kept.pending]) == (Session.STARTING, ["StartSession"])


def test_it_is_logged_with_what_moved(ledger: Ledger) -> None:
    step = started(ledger)
    ledger.apply("adam", ev.SessionReady(102.0, step, True))
    added, asked, ready = ledger.events.recent("adam")
    assert (added.kind, added.detail) == ("added", "agent demo, branch llmc/adam")
    assert (asked.signal, asked.session_before, asked.session_after) == ("command.up", "down", "starting")
    assert (ready.at_unix, ready.kind, ready.signal) == (102.0, "SessionReady", "session.ready")
    assert len(ledger.log.tail("adam", 10)) == 3


def test_what_changes_nothing_is_not_logged(ledger: Ledger) -> None:
    step = started(ledger)
    ledger.apply("adam", ev.SessionReady(102.0, step, True))
    before = len(ledger.events.recent("adam"))
    told_again = ledger.apply("adam", ev.SessionReady(103.0, step, True))
    assert not told_again.changed
    assert len(ledger.events.recent("adam")) == before


def test_what_is_illegal_changes_nothing(ledger: Ledger) -> None:
    ledger.add(worker())
    before = ledger.load()
    with pytest.raises(IllegalEventError):
        ledger.apply("adam", ev.AcceptAsked(102.0))
    assert ledger.load() == before


def test_each_worker_has_a_policy_of_its_own(tmp_path: Path) -> None:
    StateFile(tmp_path).create()
    asked: list[str] = []

    def policy_of(name: str) -> Policy:
        asked.append(name)
        return Policy()

    log = WorkerLog(str(tmp_path / "logs"), max_bytes=1_000_000, keep=1)
    ledger = Ledger(StateFile(tmp_path), EventLog(tmp_path / "status.db"), log, policy_of, tasks_in(tmp_path))
    ledger.add(worker("baker"))
    ledger.apply("baker", ev.StartAsked(101.0))
    assert asked == ["baker"]


def test_nobody_is_added_twice_or_removed_by_halves(ledger: Ledger) -> None:
    ledger.add(worker())
    with pytest.raises(LlmcError, match="there is a worker named adam already"):
        ledger.add(worker())
    ledger.add(worker("baker"))
    ledger.remember_reviewed("adam")
    ledger.remove("adam", 105.0)
    state = ledger.load()
    assert list(state.workers) == ["baker"]
    assert state.last_reviewed_worker is None
    with pytest.raises(UnknownWorkerError, match="no worker named 'adam'") as unknown:
        ledger.apply("adam", ev.StartAsked(106.0))
    assert "baker" in unknown.value.hint
    assert [event.kind for event in ledger.events.recent("adam")] == ["added", "removed"]


def test_the_last_review_of_somebody_else_stays(ledger: Ledger) -> None:
    for name in ("adam", "baker"):
        ledger.add(worker(name))
    ledger.remember_reviewed("baker")
    ledger.remove("adam", 105.0)
    assert ledger.load().last_reviewed_worker == "baker"


def test_the_patrol_is_remembered(ledger: Ledger) -> None:
    ledger.remember_patrol(200.0)
    assert ledger.load().patrol_last_run_unix == 200.0


@pytest.mark.lesson(37, "state changes under one kernel lock, briefly, and never twice at once")
def test_nothing_is_lost_when_many_decide_at_once(ledger: Ledger, tmp_path: Path) -> None:
    names = [f"w{n}" for n in range(6)]
    for name in names:
        ledger.add(worker(name))

    def many_times(name: str) -> None:
        own = reopened(tmp_path)
        for n in range(20):
            own.apply(name, ev.PromptHeard(200.0 + n, f"{name}-{n}"))

    threads = [threading.Thread(target=many_times, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {name: kept.heard_prompts[-1] for name, kept in ledger.load().workers.items()} == {
        name: f"{name}-19" for name in names
    }
    assert all(len(kept.heard_prompts) == 20 for kept in ledger.load().workers.values())
    assert len([event for event in ledger.events.recent(limit=1000) if event.kind == "PromptHeard"]) == 120


def test_threads_may_share_one(ledger: Ledger) -> None:
    names = [f"w{n}" for n in range(4)]
    for name in names:
        ledger.add(worker(name))

    def many_times(name: str) -> None:
        for n in range(20):
            ledger.apply(name, ev.PromptHeard(200.0 + n, f"{name}-{n}"))
            ledger.worker(names[0])

    threads = [threading.Thread(target=many_times, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(len(kept.heard_prompts) == 20 for kept in ledger.load().workers.values())
    assert all(kept.work is Work.IDLE for kept in ledger.load().workers.values())


# --- tasks ------------------------------------------------------------------------------------------


def online(ledger: Ledger, name: str = "adam") -> None:
    ledger.add(worker(name))
    step = ledger.apply(name, ev.StartAsked(101.0)).worker.pending[0].id
    ledger.apply(name, ev.SessionReady(102.0, step, True))


def test_a_start_makes_a_task_and_the_workers_record_names_it(ledger: Ledger, tmp_path: Path) -> None:
    online(ledger)
    assert ledger.apply("adam", ev.TaskGiven(103.0, "Add a page\n\nplease", "...")).worker.task == "t1"
    assert reopened(tmp_path).worker("adam").task == "t1"
    task = ledger.tasks.task("t1")
    assert (task.title, task.text, task.given_to, task.attempts) == ("Add a page", "Add a page\n\nplease", "adam", 1)
    assert [each.kind for each in ledger.tasks.history("t1")] == ["started", "given"]


def test_a_start_that_is_refused_makes_no_task(ledger: Ledger) -> None:
    ledger.add(worker())
    with pytest.raises(IllegalEventError):
        ledger.apply("adam", ev.TaskGiven(103.0, "Add a page", "..."))
    assert ledger.tasks.all() == []


def test_a_task_is_given_to_one_worker_only(ledger: Ledger) -> None:
    online(ledger)
    online(ledger, "baker")
    ledger.tasks.add(Task("", "Add a page", "Add a page", 100.0), at=100.0)
    ledger.apply("adam", ev.TaskGiven(103.0, "Add a page", "...", "t1"))
    with pytest.raises(IllegalEventError, match="a worker has t1 already"):
        ledger.apply("baker", ev.TaskGiven(104.0, "Add a page", "...", "t1"))
    assert ledger.worker("baker").task == ""


def test_a_task_whose_worker_is_reset_or_removed_says_so(ledger: Ledger) -> None:
    for name in ("adam", "baker"):
        online(ledger, name)
        ledger.apply(name, ev.TaskGiven(103.0, "Add a page", "..."))
    step = ledger.apply("adam", ev.ResetAsked(104.0)).worker.pending[-1].id
    ledger.apply("adam", ev.WorktreeReset(105.0, step, "abc"))
    ledger.remove("baker", 106.0)
    reset, removed = ledger.tasks.all()
    assert (reset.standing, reset.reason) == (Standing.FAILED, "its worker adam was reset")
    assert (removed.standing, removed.reason) == (Standing.FAILED, "its worker baker was removed")


def test_an_id_that_a_worker_still_names_goes_to_no_other_task(ledger: Ledger, tmp_path: Path) -> None:
    """Also after `tasks.db` was lost."""
    online(ledger)
    online(ledger, "baker")
    ledger.apply("adam", ev.TaskGiven(103.0, "Add a page", "..."))
    ledger.tasks.database.close()
    for path in tmp_path.glob("tasks.db*"):
        path.unlink()
    assert reopened(tmp_path).apply("baker", ev.TaskGiven(104.0, "Another", "...")).worker.task == "t2"
