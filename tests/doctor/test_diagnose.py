"""What the doctor makes of what was seen, without looking at anything."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import pytest

from llmc.config.load import parse_config
from llmc.doctor.agents import AgentsSeen
from llmc.doctor.answers import Absent, Broken, Found, Newer, Unknown
from llmc.doctor.checks import KINDS, TOPICS, checked, diagnose
from llmc.doctor.clone import CloneFacts, CloneSeen, WorktreeRecord
from llmc.doctor.daemon import DaemonFacts, DaemonSeen
from llmc.doctor.findings import NOTE
from llmc.doctor.health import Health
from llmc.doctor.machine import ProgramsSeen
from llmc.doctor.other_machines import OtherMachinesSeen, SilentMachine
from llmc.doctor.records import RecordsSeen, ReportsSeen, ReportsWaiting
from llmc.doctor.root_files import MODES_OPEN, DiskSpace, RootFilesSeen
from llmc.doctor.scratch import ScratchSeen
from llmc.doctor.sessions import SessionsSeen, TerminalFacts
from llmc.doctor.settings import SettingsSeen
from llmc.doctor.source import SourceSeen
from llmc.doctor.state import StateFacts, StateSeen
from llmc.doctor.tasks import TasksFacts, TasksSeen
from llmc.doctor.worktrees import WorktreeSeen, WorktreesSeen
from llmc.model import Session, Step, Work, Worker
from llmc.root import Root
from llmc.store.config_file import default_config_text
from testing.doctor_codes import codes_table

NOW = 1_800_000_000.0
MB = 1 << 20
SHA = "a" * 40
ADAM = Worker("adam", "/r/.worktrees/adam", "llmc/adam", "llmc-adam", "shell", NOW - 9000, NOW, session=Session.UP)
RUNNING = DaemonFacts(4711, NOW - 5000, running=True)


CONFIG = parse_config(default_config_text("/s", "main"))
CLONE = CloneFacts({"llmc/adam": SHA}, (WorktreeRecord(ADAM.worktree_path, "llmc/adam"),), (), "/s", "")


def healthy(worker=None, **answers):
    """A machine and a root with one worker and nothing wrong, but for what is said of the worker and these answers."""
    adam = replace(ADAM, **(worker or {}))
    worktree = WorktreeSeen(
        adam,
        directory=Found(adam.worktree_path),
        record=Found(WorktreeRecord(adam.worktree_path, adam.branch)),
        operations=Found(()),
        dirty=Found(()),
        lost_commits=Found(()),
    )
    reports = ReportsSeen(adam, Found(ReportsWaiting()))
    terminal = TerminalFacts("llmc-adam", alive=True)
    space = DiskSpace(5000 * MB, 10**6)
    parts = (
        ProgramsSeen(Found((2, 39)), Found((3, 3)), frozenset(("git-lfs", "difft", "delta")), Absent()),
        RootFilesSeen(Found(Root("/r")), Found({}), Found(()), Found(()), Found(space), directories=Found(("adam",))),
        SettingsSeen(Found(CONFIG), broken_packs=Found(()), broken_prices=Found("")),
        StateSeen(Found(StateFacts({"adam": adam}, patrol_last_run_unix=NOW - 10)), backup=Found(7200.0)),
        DaemonSeen(Absent(), acting=Found(frozenset())),
        AgentsSeen(Found(())),
        CloneSeen(Found(CLONE), uses_lfs=Found(False), broken_refs=Found(()), git_locks=Found({})),
        SourceSeen(has_branch=Found(True), is_followed=Found(True), locks=Found(()), landings=Found(())),
        WorktreesSeen(Found((answered(worktree, answers),))),
        ScratchSeen(Found({}), left_running=Found(0)),
        OtherMachinesSeen(Found(())),
        SessionsSeen(Found((terminal,)), own=Found({"adam": terminal}), strays=Found(())),
        TasksSeen(Found(TasksFacts(frozenset(), {}, 0, locked=False))),
        RecordsSeen(Found((answered(reports, answers),)), unreadable=Found({}), left_over=Found(())),
    )
    return Health(NOW, Root("/r"), {type(part): answered(part, answers) for part in parts})


def answered(part, answers):
    return replace(part, **{each.name: answers[each.name] for each in fields(part) if each.name in answers})


def questions():
    """Every field that holds an answer, with its topic and the words for it."""
    health = healthy()
    of_workers = (health.of(kind).of_workers.value[0] for kind in (WorktreesSeen, RecordsSeen))
    for part in (*health.parts.values(), *of_workers):
        yield from ((each.name, *each.metadata["gap"][:2]) for each in fields(part) if "Answer[" in str(each.type))


def codes(health):
    return [each.code for each in diagnose(health)]


def test_nothing_is_wrong_with_the_healthy():
    health = healthy()
    assert diagnose(health) == ()
    assert [topic for topic, summary in checked(health, ()).items() if summary] == list(TOPICS)


def test_every_answer_has_a_topic_that_is_shown():
    assert {topic for _, topic, _ in questions()} == set(TOPICS)


@pytest.mark.parametrize(("name", "topic", "words"), list(questions()))
def test_what_is_unknown_is_said_to_be_unknown_and_nothing_else(name, topic, words):
    health = healthy(**{name: Unknown("the disk is on fire")})
    (found,) = diagnose(health)
    assert (found.code, found.why) == ("not-checked", "the disk is on fire")
    assert words in found.what
    assert not checked(health, (found,)).get(topic)


@pytest.mark.parametrize(("name", "topic", "words"), list(questions()))
def test_what_is_unknown_by_reason_of_another_finding_is_not_told_twice(name, topic, words):
    assert diagnose(healthy(**{name: Unknown("git is missing", covered=True)})) == ()


def test_unknown_answers_with_one_reason_are_one_finding():
    unknown = Unknown("git hangs")
    (found,) = diagnose(healthy(dirty=unknown, broken_refs=unknown))
    assert found.what == "could not check the refs of the clone, adam: uncommitted changes"


@pytest.mark.parametrize("name", ["config", "state", "clone"])
def test_not_knowing_what_everything_stands_on_is_an_error(name):
    assert diagnose(healthy(**{name: Unknown("permission denied")}))[0].severity == "error"


def test_the_worst_comes_first():
    health = healthy({"work": Work.ERROR}, reports=Found(ReportsWaiting(bad=1)), directory=Absent())
    assert [each.severity for each in diagnose(health)] == ["error", "warning", "note"]


@pytest.mark.parametrize(
    ("space", "severity"),
    [
        (DiskSpace(101 * MB, 10**6), None),
        (DiskSpace(99 * MB, 10**6), "warning"),
        (DiskSpace(4 * MB, 10**6), "error"),
        (DiskSpace(5000 * MB, 999), "warning"),
        (DiskSpace(5000 * MB, None), None),
    ],
)
def test_a_disk_that_fills_up(space, severity):
    found = diagnose(healthy(space=Found(space)))
    assert [(each.code, each.severity) for each in found] == ([("disk-low", severity)] if severity else [])


@pytest.mark.parametrize(
    ("backup", "why", "repair"),
    [
        (Found(7200.0), "usable, from 2h ago", "--repair"),
        (Absent(), "there is no state.json.bak", "--rebuild"),
        (Broken("state.json.bak is damaged"), "no help: state.json.bak is damaged", "--rebuild"),
        (Unknown("permission denied"), "not known: permission denied", "--rebuild"),
    ],
)
def test_a_lost_state_tells_whether_the_backup_helps(backup, why, repair):
    health = healthy(state=Absent(), backup=backup)
    found = next(each for each in diagnose(health) if each.code == "state-missing")
    assert why in found.why
    assert repair in found.advice


def test_a_newer_state_is_not_a_broken_one():
    assert codes(healthy(state=Newer("made by a newer llmc"))) == ["state-newer"]


def test_without_a_usable_state_nothing_counts_as_orphaned():
    assert codes(healthy(state=Broken("damaged"))) == ["state-broken"]


@pytest.mark.parametrize("made", ["directories", "branch", "session"])
def test_what_is_being_made_is_no_orphan(made):
    changes = {
        "directories": {"directories": Found(("adam", "eve"))},
        "branch": {"clone": Found(replace(CLONE, heads={"llmc/adam": SHA, "llmc/eve": SHA}))},
        "session": {"terminals": Found((TerminalFacts("llmc-eve", alive=True),))},
    }[made]
    assert len(codes(healthy(**changes))) == 1
    assert codes(healthy(**changes, acting=Found(frozenset({"eve"})))) == []


def test_other_branches_and_sessions_are_none_of_ours():
    clone = CloneFacts({"llmc/adam": SHA, "feature": SHA}, (WorktreeRecord("/elsewhere/x", "feature"),), (), "/s", "")
    assert codes(healthy(clone=Found(clone), terminals=Found((TerminalFacts("notes", alive=True),)))) == []


def test_a_worker_that_somebody_acts_for_is_not_judged():
    half_done = {"pending": (Step("adam-1", "ResetWorktree"),), "work": Work.IDLE}
    gone = {"directory": Absent(), "own": Found({"adam": None})}
    assert set(codes(healthy(half_done, **gone))) == {"worktree-missing", "session-missing", "steps-waiting"}
    assert codes(healthy(half_done, **gone, acting=Found(frozenset({"adam"})))) == []


@pytest.mark.parametrize(
    ("work", "session", "left_over"),
    [
        (Work.IDLE, Session.UP, True),
        (Work.NEEDS_REVIEW, Session.UP, True),
        (Work.WORKING, Session.UP, False),
        (Work.WORKING, Session.DOWN, True),
        (Work.REBASING, Session.DOWN, False),
    ],
)
def test_a_rebase_is_left_over_when_nobody_can_be_at_it(work, session, left_over):
    facts = {"work": work, "session": session, "current_prompt": "x", "commit_sha": SHA}
    health = healthy(
        facts,
        operations=Found(("rebase",)),
        record=Found(WorktreeRecord(ADAM.worktree_path, None)),
        dirty=Found(("README",)),
    )
    assert codes(health) == (["rebase-left-over"] if left_over else [])


@pytest.mark.parametrize("work", [Work.WORKING, Work.NEEDS_INPUT, Work.REJECTED, Work.NEEDS_REVIEW])
def test_only_an_idle_worker_must_be_clean(work):
    worker = {"work": work, "current_prompt": "x", "commit_sha": SHA}
    assert codes(healthy(worker, dirty=Found(("README",)))) == []


def test_steps_are_taken_where_a_daemon_runs():
    waiting = {"pending": (Step("adam-1", "StartSession"),)}
    assert codes(healthy(waiting)) == ["steps-waiting"]
    assert codes(healthy(waiting, daemon=Found(RUNNING))) == []
    assert codes(healthy(waiting, daemon=Unknown("permission denied"))) == ["not-checked"]


@pytest.mark.parametrize(("oldest", "found"), [(59.0, []), (61.0, ["events-waiting"])])
def test_reports_may_wait_a_minute(oldest, found):
    reports = ReportsWaiting(waiting=3, oldest_secs=oldest)
    assert codes(healthy(reports=Found(reports), daemon=Found(RUNNING))) == found


@pytest.mark.parametrize(
    ("last", "since", "created", "stuck"),
    [
        (NOW - 170, NOW - 5000, 0.0, False),
        (NOW - 190, NOW - 5000, 0.0, True),
        (NOW - 190, NOW - 100, 0.0, False),  # since it started there was none, perhaps by `--no-patrol`
        (NOW - 190, NOW - 5000, NOW - 10, False),  # there was nobody to look after
        (None, NOW - 5000, 0.0, False),
    ],
)
def test_a_daemon_that_does_not_go_on_patrol_any_more(last, since, created, stuck):
    adam = replace(ADAM, created_at_unix=created)
    state = StateFacts({"adam": adam}, patrol_last_run_unix=last)
    health = healthy(state=Found(state), daemon=Found(replace(RUNNING, since_unix=since)))
    assert codes(health) == (["daemon-stuck"] if stuck else [])


def test_a_daemon_that_was_killed_matters_while_agents_run():
    killed = Found(replace(RUNNING, running=False))
    assert codes(healthy(daemon=killed)) == ["daemon-stale"]
    assert codes(healthy({"session": Session.DOWN}, own=Found({"adam": None}), daemon=killed)) == []


def test_a_repair_can_be_pasted_into_a_shell():
    found = MODES_OPEN.finding("open", path="/home of mine/it's")
    assert found.advice == """`chmod go= '/home of mine/it'"'"'s'`"""


def test_every_code_says_what_it_means_and_how_it_is_repaired():
    assert all(kind.meaning and kind.advice for kind in KINDS.values())
    assert [code for code in KINDS if KINDS[code].topic not in TOPICS] == ["not-checked"]
    assert NOTE in {kind.severity for kind in KINDS.values()}


def test_the_page_lists_every_code():
    page = Path(__file__).parents[2].joinpath("docs", "doctor.md").read_text("utf-8")
    assert codes_table() in page
    listed = [line.split("`")[1] for line in page.partition("## Every code")[2].splitlines() if line.startswith("| `")]
    assert listed == list(KINDS)


def test_a_machine_that_is_silent_is_told_with_its_age_and_one_that_is_lost_is_no_alarm():
    silent = (SilentMachine("box", "unreachable", "cut off", 0.0), SilentMachine("big", "lost", "given up by you", 0.0))
    found = diagnose(healthy(silent=Found(silent)))
    assert [(each.code, each.severity, each.subject) for each in found] == [
        ("machine-silent", "warning", "box"),
        ("machine-silent", "note", "big"),
    ]
    assert "llmc machine check box" in found[0].advice
