"""What a worker is taken for, from what is left of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from llmc.core.program import version_in
from llmc.core.screen.classify import Pack
from llmc.doctor.agent_trial import Check, Trial, TrialVerdict, check_version
from llmc.doctor.remains import Logged, Remains, backup_is_current, rebuilt
from llmc.model import Session, State, Step, Turn, Work, Worker

NOW = 1_800_000_000.0
ADAM = Remains("adam", "/r/.worktrees/adam", "llmc/adam", {"config.toml": "codex"}, True, "base", None)
UP = replace(ADAM, alive=True)


def log(work, **more):
    return Logged(work, NOW - 60, NOW - 600, "do it", **more)


@pytest.mark.parametrize(
    ("remains", "work"),
    [
        (ADAM, Work.IDLE),
        (replace(ADAM, dirty=2), Work.NEEDS_INPUT),
        (replace(ADAM, ahead="tip"), Work.NEEDS_REVIEW),
        (replace(ADAM, ahead="tip", rebasing=True), Work.REBASING),
        (replace(UP, ahead="tip", busy=True), Work.WORKING),
        (replace(UP, busy=True), Work.WORKING),
        (replace(UP, logged=log(Work.WORKING)), Work.WORKING),
        (replace(ADAM, logged=log(Work.WORKING)), Work.NEEDS_INPUT),
        (replace(UP, busy=True, logged=log(Work.REJECTED)), Work.REJECTED),
        (replace(ADAM, ahead="tip", logged=log(Work.REJECTED, rejected_sha="tip")), Work.NEEDS_INPUT),
        (replace(ADAM, ahead="new", logged=log(Work.REJECTED, rejected_sha="tip")), Work.NEEDS_REVIEW),
        (replace(ADAM, logged=log(Work.NEEDS_REVIEW)), Work.NEEDS_INPUT),
        (replace(ADAM, logged=log(Work.REBASING)), Work.NEEDS_INPUT),
        (replace(ADAM, logged=log(Work.ERROR)), Work.ERROR),
        (replace(ADAM, logged=log(Work.IDLE)), Work.IDLE),
    ],
)
def test_the_work(remains, work):
    found = rebuilt(remains, NOW)
    assert found.worker.work is work, found.known_from
    assert found.worker.current_prompt == ("" if work is Work.IDLE or not remains.logged.prompt else "do it")
    assert found.worker.evidence.detail == found.known_from["work"]


def test_the_rest():
    worker = rebuilt(replace(UP, ahead="tip", logged=log(None, crash_count=2)), NOW).worker
    assert (worker.session, worker.turn, worker.agent) == (Session.UP, Turn.UNKNOWN, "codex")
    assert (worker.base_sha, worker.commit_sha, worker.crash_count) == ("base", "tip", 2)
    assert (worker.created_at_unix, worker.last_activity_unix) == (NOW - 600, NOW - 60)
    assert rebuilt(replace(ADAM, agents={}), NOW).known_from["agent"] == "the default"


def test_a_backup_that_nothing_is_newer_than():
    record = Worker("adam", "", "", "", "", NOW - 600, NOW - 60, work=Work.WORKING)
    backup = State({"adam": record})
    seen = {"adam": replace(ADAM, logged=log(Work.WORKING))}
    assert backup_is_current(backup, seen)
    assert backup_is_current(backup, {"adam": ADAM})
    assert not backup_is_current(backup, {**seen, "eve": ADAM})
    assert not backup_is_current(backup, {})
    assert not backup_is_current(backup, {"adam": replace(ADAM, logged=log(Work.NEEDS_REVIEW))})
    waiting = State({"adam": replace(record, pending=(Step("1", "Deliver"),), last_activity_unix=NOW - 90)})
    assert not backup_is_current(waiting, seen)


@pytest.mark.parametrize(
    ("said", "pack", "verdict"),
    [
        ("2.1.197", "2.1", TrialVerdict.OK),
        ("2.10.1", "2.1", TrialVerdict.DRIFTED),
        ("3.0.0", "2.1", TrialVerdict.DRIFTED),
        ("", "2.1", TrialVerdict.UNKNOWN),
        ("2.1.1", "", TrialVerdict.UNKNOWN),
    ],
)
def test_versions(said, pack, verdict):
    assert check_version(said, Pack("x", version=pack)).verdict is verdict


def test_what_a_cli_says_of_its_version():
    assert version_in("codex-cli 0.166.0\n") == "0.166.0"
    assert version_in("2.1.197 (Claude Code)") == "2.1.197"
    assert version_in("usage: x") == ""


def test_a_trial_is_well_unless_something_has_changed_or_failed():
    well = Trial("x", "x", True, checks=(Check("a", TrialVerdict.OK, ""), Check("b", TrialVerdict.UNKNOWN, "")))
    assert (well.ok, well.drifted) == (True, ())
    drifted = replace(well, checks=(*well.checks, Check("c", TrialVerdict.DRIFTED, "")))
    assert (drifted.ok, drifted.drifted) == (False, ("c",))
    assert not replace(well, installed=False).ok
