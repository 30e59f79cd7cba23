"""From findings to repairs, and from damaged records to whole ones, without touching anything."""

from __future__ import annotations

from dataclasses import replace

from llmc.core.lifecycle.effects import Deliver, Purpose, StartSession, to_step
from llmc.doctor.checks import KINDS, repairs_for
from llmc.doctor.remains import GitFacts
from llmc.doctor.worker_records import careful, corrected, without_error
from llmc.model import State, Step, Work, Worker

NOW = 1_800_000_000.0
ADAM = Worker("adam", "/r/.worktrees/adam", "llmc/adam", "llmc-adam", "shell", NOW - 9000, NOW - 90)


def found(code, worker=None, subject=""):
    return KINDS[code].finding("what", "why", worker=worker, advice="advice", subject=subject)


# --- the plan -------------------------------------------------------------------------------------


def test_what_says_that_it_is_repaired_is():
    promised = [code for code, kind in KINDS.items() if "doctor --repair" in kind.advice]
    assert [code for code in promised if found(code).repair is None] == []


def test_what_others_need_comes_first():
    codes = ("worktree-missing", "branch-missing-for-worker", "clone-broken", "state-inconsistent", "worktrees-missing")
    planned = repairs_for([found(code, "adam") for code in codes])
    order = ["make a directory", "mend the clone", "mend records", "restore a branch", "make a worktree"]
    assert [each.fix.do for each in planned] == order


def test_what_only_a_person_can_repair_is_not_planned():
    assert repairs_for([found("source-gone"), found("disk-low"), found("git-missing")]) == ()


def test_one_thing_is_done_once():
    planned = repairs_for([found("state-inconsistent", "adam"), found("state-inconsistent", "eve")])
    assert [(each.words, each.worker) for each in planned] == [
        ("put right what contradicts itself in state.json", None)
    ]


def test_what_belongs_to_a_worktree_waits_for_what_becomes_of_it():
    planned = repairs_for(
        [
            found("branch-orphaned", subject="llmc/eve"),
            found("branch-orphaned", subject="llmc/old"),
            found("session-orphaned", subject="llmc-eve"),
            found("process-stray", subject="eve"),
            found("worktree-orphaned", subject="eve"),
        ]
    )
    assert [(each.fix.do, each.subject) for each in planned] == [
        ("remove a worktree", "eve"),
        ("keep a branch as a backup", "llmc/old"),
    ]


def test_every_repair_has_words_of_its_own():
    for code in KINDS:
        for each in repairs_for([found(code, "adam", "thing")]):
            assert "{" not in each.words
            assert each.worker in ("adam", None)


# --- records --------------------------------------------------------------------------------------


def correct(worker, seen=None, key="adam"):
    after = corrected(
        State({key: worker}, patrol_last_run_unix=NOW), {key: seen or GitFacts()}, "/r/.worktrees", "claude", NOW
    )
    assert after.patrol_last_run_unix == NOW
    return after.workers[key]


def test_a_record_that_is_right_stays_as_it_is():
    assert correct(ADAM) == ADAM
    reviewed = replace(ADAM, work=Work.NEEDS_REVIEW, commit_sha="a", base_sha="b", rejected_sha="c")
    assert correct(reviewed, GitFacts("x", "y")) == reviewed


def test_names_that_are_not_its_own():
    broken = replace(ADAM, name="evi", worktree_path="", branch="", session_id="", agent="")
    assert correct(broken) == replace(ADAM, agent="claude")


def test_two_workers_never_share():
    state = State({"adam": ADAM, "eve": replace(ADAM, name="eve", branch="llmc/eve")})
    after = corrected(state, {}, "/r/.worktrees", "claude", NOW).workers
    assert [(w.session_id, w.worktree_path) for w in after.values()] == [
        ("llmc-adam", "/r/.worktrees/adam"),
        ("llmc-eve", "/r/.worktrees/eve"),
    ]


def test_commits_that_do_not_exist():
    named = replace(ADAM, work=Work.NEEDS_REVIEW, commit_sha="a", base_sha="b", rejected_sha="c")
    gone = frozenset("abc")
    after = correct(named, GitFacts("x", "y", gone))
    assert (after.work, after.commit_sha, after.base_sha, after.rejected_sha) == (Work.NEEDS_REVIEW, "x", "y", None)
    lost = correct(named, GitFacts(None, "y", gone))
    assert (lost.work, lost.commit_sha) == (Work.NEEDS_INPUT, None)
    assert lost.evidence.signal == "doctor.repair"


def test_times_in_the_future():
    later = replace(ADAM, created_at_unix=NOW + 1, timers={"restart": NOW + 10**6, "commit_grace": NOW + 60})
    after = correct(later)
    assert after.created_at_unix == NOW
    assert dict(after.timers) == {"restart": NOW, "commit_grace": NOW + 60}


def test_an_error_gives_way_to_what_was_before_it():
    failed = replace(ADAM, work=Work.ERROR, current_prompt="do it", crash_count=4)
    assert without_error(ADAM, NOW) is ADAM
    assert without_error(failed, NOW).work is Work.NEEDS_INPUT
    assert without_error(failed, NOW).crash_count == 0
    assert without_error(replace(failed, resume_work=Work.WORKING), NOW).work is Work.NEEDS_INPUT
    assert without_error(replace(failed, resume_work=Work.NEEDS_REVIEW), NOW).work is Work.NEEDS_INPUT
    assert without_error(replace(failed, commit_sha="a"), NOW).work is Work.NEEDS_REVIEW
    assert without_error(replace(failed, current_prompt=""), NOW).work is Work.IDLE


def test_a_text_that_may_have_been_sent_is_not_sent_again():
    steps = (to_step(StartSession(), "1"), to_step(Deliver("text", Purpose.TASK), "2"), Step("3", "Unheard"))
    assert [(step.id, step.begun) for step in careful(replace(ADAM, pending=steps)).pending] == [
        ("1", False),
        ("2", True),
    ]
