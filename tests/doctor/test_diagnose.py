"""What the doctor makes of what was seen, without looking at anything."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import pytest

from llmc.doctor.diagnose import checked, diagnose
from llmc.doctor.findings import KINDS, TOPICS, codes_table, finding
from llmc.doctor.health import (
    SUBJECTS,
    Absent,
    Broken,
    Clone,
    Daemon,
    Found,
    Health,
    Newer,
    RootHealth,
    Settings,
    Source,
    Space,
    Spool,
    StateFacts,
    Terminal,
    Unknown,
    WorkerHealth,
    WorktreeRecord,
)
from llmc.doctor.kinds import NOTE
from llmc.model import Session, Step, Work, Worker

NOW = 1_800_000_000.0
MB = 1 << 20
SHA = "a" * 40
ADAM = Worker("adam", "/r/.worktrees/adam", "llmc/adam", "llmc-adam", "shell", NOW - 9000, NOW, session=Session.UP)
RUNNING = Daemon(4711, NOW - 5000, running=True)


def healthy_worker(**changes):
    worker = replace(ADAM, **changes.pop("worker", {}))
    seen = WorkerHealth(
        worker,
        directory=Found(worker.worktree_path),
        record=Found(WorktreeRecord(worker.worktree_path, worker.branch)),
        tip=Found(SHA),
        operations=Found(()),
        dirty=Found(()),
        lost_commits=Found(()),
        terminal=Found(Terminal(worker.session_id, alive=True)),
        spool=Found(Spool()),
    )
    return replace(seen, **changes)


def healthy(worker=None, **changes):
    """A machine and a root with nothing wrong, but for the changes to the root."""
    each = worker or healthy_worker()
    state = StateFacts({each.worker.name: each.worker}, patrol_last_run_unix=NOW - 10)
    root = RootHealth(
        "/r",
        "llmc-0",
        open_paths=Found(()),
        read_only=Found(()),
        replaced=Found(()),
        space=Found(Space(5000 * MB, 10**6)),
        directories=Found(("adam",)),
        settings=Found(Settings("/s", "main", "shell", 60.0)),
        state=Found(state),
        backup=Found(7200.0),
        clone=Found(Clone({"llmc/adam": SHA}, (WorktreeRecord("/r/.worktrees/adam", "llmc/adam"),), (), "/s", "")),
        source=Found(Source(has_branch=True)),
        follows_source=Found(True),
        uses_lfs=Found(False),
        agents=Found(()),
        terminals=Found((Terminal("llmc-adam", alive=True),)),
        daemon=Absent(),
        acting=Found(frozenset()),
        unreadable=Found(()),
        broken_refs=Found(()),
        git_locks=Found(()),
        landings=Found(()),
        source_locks=Found(()),
        strays=Found(()),
        left_over=Found(()),
        workers=Found((each,)),
        broken_packs=Found(()),
    )
    tools = dict.fromkeys(("git-lfs", "difft", "delta"), True)
    minimum = {"git": (2, 38), "tmux": (3, 2)}
    root = replace(root, **changes)
    return Health(NOW, "/r", Found((2, 39)), Found((3, 3)), minimum, tools, Found(root))


def codes(health):
    return [each.code for each in diagnose(health)]


def with_state(health, **changes):
    root = health.root.value
    return replace(health, root=Found(replace(root, state=Found(replace(root.state.value, **changes)))))


def test_nothing_is_wrong_with_the_healthy():
    health = healthy()
    assert diagnose(health) == ()
    assert [group.topic for group in checked(health, ()) if group.well] == list(TOPICS)


ANSWERS = {kind: [each.name for each in fields(kind) if each.name in SUBJECTS] for kind in (Health, RootHealth)}


def test_every_answer_has_words_for_when_it_is_unknown():
    asked = [
        each.name for kind in (Health, RootHealth, WorkerHealth) for each in fields(kind) if "Answer[" in str(each.type)
    ]
    assert sorted(asked) == sorted(SUBJECTS)
    assert {topic for topic, _ in SUBJECTS.values()} <= set(TOPICS)


def unknowns():
    yield from ((name, lambda unknown, name=name: replace(healthy(), **{name: unknown})) for name in ANSWERS[Health])
    yield from ((name, lambda unknown, name=name: healthy(**{name: unknown})) for name in ANSWERS[RootHealth])
    rest = [name for name in SUBJECTS if name not in ANSWERS[Health] + ANSWERS[RootHealth]]
    yield from ((name, lambda unknown, name=name: healthy(healthy_worker(**{name: unknown}))) for name in rest)


@pytest.mark.parametrize(("name", "make"), [pytest.param(*each, id=each[0]) for each in unknowns()])
def test_what_is_unknown_is_said_to_be_unknown_and_nothing_else(name, make):
    health = make(Unknown("the disk is on fire"))
    (found,) = diagnose(health)
    assert (found.code, found.why) == ("not-checked", "the disk is on fire")
    assert SUBJECTS[name][1] in found.what
    assert SUBJECTS[name][0] not in [group.topic for group in checked(health, (found,)) if group.well]


@pytest.mark.parametrize(("name", "make"), [pytest.param(*each, id=each[0]) for each in unknowns()])
def test_what_is_unknown_by_reason_of_another_finding_is_not_told_twice(name, make):
    assert diagnose(make(Unknown("git is missing", covered=True))) == ()


def test_unknown_answers_with_one_reason_are_one_finding():
    unknown = Unknown("tmux hangs")
    worker = healthy_worker(terminal=unknown)
    (found,) = diagnose(healthy(worker, terminals=unknown))
    assert found.what == "could not check the tmux server, adam: its terminal"


@pytest.mark.parametrize("name", ["settings", "state", "clone"])
def test_not_knowing_what_everything_stands_on_is_an_error(name):
    assert diagnose(healthy(**{name: Unknown("permission denied")}))[0].severity == "error"


def test_the_worst_comes_first():
    worker = healthy_worker(worker={"work": Work.ERROR}, spool=Found(Spool(bad=1)), directory=Absent())
    assert [each.severity for each in diagnose(healthy(worker))] == ["error", "warning", "note"]


@pytest.mark.parametrize(
    ("space", "severity"),
    [
        (Space(101 * MB, 10**6), None),
        (Space(99 * MB, 10**6), "warning"),
        (Space(4 * MB, 10**6), "error"),
        (Space(5000 * MB, 999), "warning"),
        (Space(5000 * MB, None), None),
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
    health = healthy(state=Absent(), workers=Unknown("", covered=True), backup=backup)
    found = next(each for each in diagnose(health) if each.code == "state-missing")
    assert why in found.why
    assert repair in found.repair


def test_a_newer_state_is_not_a_broken_one():
    assert codes(healthy(state=Newer("made by a newer llmc"), workers=Unknown("", covered=True))) == ["state-newer"]


def test_without_a_usable_state_nothing_counts_as_orphaned():
    assert codes(healthy(state=Broken("damaged"), workers=Unknown("", covered=True))) == ["state-broken"]


@pytest.mark.parametrize("made", ["directories", "branch", "session"])
def test_what_is_being_made_is_no_orphan(made):
    changes = {
        "directories": {"directories": Found(("adam", "eve"))},
        "branch": {"clone": Found(Clone({"llmc/adam": SHA, "llmc/eve": SHA}, (), (), "/s", ""))},
        "session": {"terminals": Found((Terminal("llmc-eve", alive=True),))},
    }[made]
    assert len(codes(healthy(**changes))) == 1
    assert codes(healthy(**changes, acting=Found(frozenset({"eve"})))) == []


def test_other_branches_and_sessions_are_none_of_ours():
    clone = Clone({"llmc/adam": SHA, "feature": SHA}, (WorktreeRecord("/elsewhere/x", "feature"),), (), "/s", "")
    assert codes(healthy(clone=Found(clone), terminals=Found((Terminal("notes", alive=True),)))) == []


def test_a_worker_that_somebody_acts_for_is_not_judged():
    half_done = healthy_worker(
        worker={"pending": (Step("adam-1", "ResetWorktree"),), "work": Work.IDLE},
        directory=Absent(),
        terminal=Absent(),
    )
    assert set(codes(healthy(half_done))) == {"worktree-missing", "session-missing", "steps-waiting"}
    assert codes(healthy(half_done, acting=Found(frozenset({"adam"})))) == []


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
    worker = healthy_worker(
        worker=facts,
        operations=Found(("rebase",)),
        record=Found(WorktreeRecord(ADAM.worktree_path, None)),
        dirty=Found(("README",)),
    )
    assert codes(healthy(worker)) == (["rebase-left-over"] if left_over else [])


@pytest.mark.parametrize("work", [Work.WORKING, Work.NEEDS_INPUT, Work.REJECTED, Work.NEEDS_REVIEW])
def test_only_an_idle_worker_must_be_clean(work):
    dirty = healthy_worker(worker={"work": work, "current_prompt": "x", "commit_sha": SHA}, dirty=Found(("README",)))
    assert codes(healthy(dirty)) == []


def test_steps_are_taken_where_a_daemon_runs():
    waiting = healthy_worker(worker={"pending": (Step("adam-1", "StartSession"),)})
    assert codes(healthy(waiting)) == ["steps-waiting"]
    assert codes(healthy(waiting, daemon=Found(RUNNING))) == []
    assert codes(healthy(waiting, daemon=Unknown("permission denied"))) == ["not-checked"]


@pytest.mark.parametrize(("oldest", "found"), [(59.0, []), (61.0, ["events-waiting"])])
def test_reports_may_wait_a_minute(oldest, found):
    worker = healthy_worker(spool=Found(Spool(waiting=3, oldest_secs=oldest)))
    assert codes(healthy(worker, daemon=Found(RUNNING))) == found


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
    health = healthy(
        healthy_worker(worker={"created_at_unix": created}), daemon=Found(replace(RUNNING, since_unix=since))
    )
    assert codes(with_state(health, patrol_last_run_unix=last)) == (["daemon-stuck"] if stuck else [])


def test_a_daemon_that_was_killed_matters_while_agents_run():
    killed = Found(replace(RUNNING, running=False))
    assert codes(healthy(daemon=killed)) == ["daemon-stale"]
    down = healthy_worker(worker={"session": Session.DOWN}, terminal=Absent())
    assert codes(healthy(down, daemon=killed)) == []


def test_a_repair_can_be_pasted_into_a_shell():
    found = finding("modes-open", "open", path="/home of mine/it's")
    assert found.repair == """`chmod go= '/home of mine/it'"'"'s'`"""


def test_every_code_says_what_it_means_and_how_it_is_mended():
    assert all(kind.meaning and kind.repair for kind in KINDS.values())
    assert [code for code in KINDS if KINDS[code].topic not in TOPICS] == ["not-checked"]
    assert NOTE in {kind.severity for kind in KINDS.values()}


def test_the_page_lists_every_code():
    page = Path(__file__).parents[2].joinpath("docs", "doctor.md").read_text("utf-8")
    assert codes_table() in page
    listed = [line.split("`")[1] for line in page.partition("## Every code")[2].splitlines() if line.startswith("| `")]
    assert listed == list(KINDS)
