"""`llmc explain` for every state that a worker can be in, and without waiting for anybody."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import replace
from itertools import product
from pathlib import Path
from types import MappingProxyType

import pytest

from llmc.app import open_site
from llmc.cli.main import main
from llmc.core.lifecycle.effects import LASTING
from llmc.core.lifecycle.next_moves import outlook
from llmc.core.lifecycle.policy import Policy
from llmc.core.lifecycle.transitions.blocked import GO_ON
from llmc.core.lifecycle.transitions.shared import REBASE_ESCALATE, REBASE_HELP, RESTART
from llmc.host.locks import is_held
from llmc.model import Autonomy, Evidence, Session, State, Step, Turn, Work, Worker
from testing.damage import adam as adam
from testing.damage import commit
from testing.damage import git as git
from testing.damage import root as root
from testing.damage import source as source
from testing.roots import add_worker
from testing.waiting import wait_until

SIGNALS = {
    *("terminal", "process", "screen", "attention", "reports", "branch", "worktree", "rebase"),
    *("timers", "lock", "typing", "daemon", "crashes"),
}
NOW = 1_800_000_000.0


@pytest.fixture
def explained(root, capsys):
    def run(name="adam"):
        capsys.readouterr()
        assert main(["--root", root.path, "explain", name, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return run


def every_worker():
    """Every work with every session, step under way, rebase and error."""
    steps = [(), *((Step("adam-1", name, begun=begun),) for name in LASTING for begun in (False, True))]
    for work, session, pending in product(Work, Session, steps):
        yield Worker(
            "adam",
            "/r/.worktrees/adam",
            "llmc/adam",
            "llmc-adam",
            "shell",
            NOW,
            NOW,
            work=work,
            session=session,
            pending=pending,
            commit_sha="a" * 40 if work is Work.NEEDS_REVIEW else None,
            conflicted_files=("README",) if work is Work.REBASING else (),
            rebase_started_at_unix=NOW if work is Work.REBASING else None,
            timers={"restart": NOW + 60} if session is Session.CRASHED else {},
            resume_work=Work.WORKING if work is Work.ERROR else None,
            evidence=Evidence("test", NOW, "why"),
        )


def test_every_step_has_words():
    assert all(kind.words for kind in LASTING.values())


def test_there_is_always_something_that_comes_next_and_something_to_type():
    for worker in every_worker():
        moves = outlook(worker, NOW, Policy(Autonomy.AUTO))
        assert any("`llmc " in move for move in moves), worker
        if worker.pending:
            assert moves[0].startswith(LASTING[worker.pending[0].name].words)
        if worker.session in (Session.DOWN, Session.CRASHED):
            assert any("llmc restart adam" in move for move in moves)
        if worker.session is Session.CRASHED:
            assert any(move.startswith("in 1m: its agent is started again") for move in moves)
        if worker.work is Work.REBASING:
            assert any("README" in move for move in moves)


def test_nothing_is_promised_that_the_policy_leaves_to_the_person(root, adam, capsys):
    """The timers of a rebase run under every policy, and one of them only helps under `auto`."""
    due = time.time() + 90
    timers = dict.fromkeys((REBASE_HELP, REBASE_ESCALATE, RESTART, GO_ON), due)
    steps = (Step("adam-1", "RebaseWork", {"onto": "main"}),)
    record = replace(adam, work=Work.REBASING, session=Session.CRASHED, timers=timers, pending=steps)
    open_site(root).ledger.state.create(State(MappingProxyType({"adam": record})), overwrite=True)
    promised = ("its agent is helped", "its agent is started again", "its agent is told to go on")

    def told(autonomy):
        main(["--root", root.path, "config", "set", "policy.autonomy", autonomy])
        capsys.readouterr()
        assert main(["--root", root.path, "explain", "adam"]) == 0
        return capsys.readouterr().out

    for autonomy in ("manual", "assist"):
        assert not [words for words in promised if words in told(autonomy)]
        assert "the conflicts ask for you" in told(autonomy)
    assert all(words in told("auto") for words in promised)


@pytest.mark.parametrize("work", Work)
def test_every_work_and_session_on_a_real_root(explained, root, git, work):
    worker = add_worker(root, "adam")
    sha = commit(git, worker.worktree_path) if work is Work.NEEDS_REVIEW else None
    steps = (Step("adam-1", "RebaseWork", {"onto": "main"}),) if work is Work.REBASING else ()
    for session in (Session.DOWN, Session.STARTING, Session.CRASHED):
        now = time.time()
        record = replace(worker, work=work, session=session, turn=Turn.OVER, commit_sha=sha, current_prompt="do it")
        record = replace(record, pending=steps, evidence=Evidence("test.signal", now - 90, "because of this"))
        state = State(MappingProxyType({"adam": record}))
        open_site(root).ledger.state.create(state, overwrite=True)
        told = explained()
        assert (told["work"], told["session"]) == (work.value, session.value)
        assert told["evidence"]["detail"] == "because of this"
        assert told["signals"].keys() == SIGNALS
        assert not [reading for reading in told["signals"].values() if reading.startswith("unknown")]
        assert told["next"]


def test_for_people(root, adam, capsys):
    assert main(["--root", root.path, "explain", "adam"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "adam is offline (work idle, session down)"
    assert lines[1].startswith("because: created")
    assert "  lock: nobody acts for it" in lines or any(line.startswith("  lock: pid") for line in lines)
    assert "what comes next:" in lines


HOLD = """
import sys
from llmc.host.locks import FileLock
with FileLock(sys.argv[1]):
    sys.stdin.read()
"""


@pytest.fixture
def busy(root, adam):
    """Somebody acts for adam and does not stop."""
    lock = root.worker_lock("adam")
    with subprocess.Popen([sys.executable, "-c", HOLD, lock], stdin=subprocess.PIPE) as holder:
        wait_until(lambda: is_held(lock))
        yield holder
        holder.kill()


def test_it_does_not_wait_for_whoever_acts_for_the_worker(explained, root, busy):
    told = explained()
    assert f"pid {busy.pid}" in told["signals"]["lock"]


def test_a_review_of_whoever_waits_longest_does_not_wait_for_the_others(root, busy, git, capsys):
    eve = add_worker(root, "eve")
    sha = commit(git, eve.worktree_path)
    state = open_site(root).ledger.state
    record = replace(eve, work=Work.NEEDS_REVIEW, commit_sha=sha)
    state.transact(lambda old: replace(old, workers=MappingProxyType({**old.workers, "eve": record})))
    assert main(["--root", root.path, "review", "--interface", "stat", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["worker"] == "eve"


def test_a_worktree_that_is_gone_is_explained_too(explained, root, adam):
    import shutil

    shutil.rmtree(adam.worktree_path)
    told = explained()
    assert told["signals"]["worktree"].startswith("unknown: ")
    assert told["status"] == "offline"


def test_a_signal_that_waits(explained, root, adam):
    from llmc.host.locks import FileLock

    spool = Path(root.spool("adam"))
    spool.mkdir(parents=True)
    (spool / "1.json").write_text('{"event": "turn_end"}')
    with FileLock(root.pane_lock("adam")):
        told = explained()
    assert told["signals"]["typing"].startswith("pid ")
