"""Who gets which task: rules by example, and what must hold whatever comes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmc.core.tasks.queue import Flight, Hand, assign, find_cycle, flights_of, hand_of, unlanded
from llmc.core.tasks.task import Standing, Task
from llmc.core.tasks.touches import may_meet
from llmc.model import Evidence, Session, Work, Worker


def task(number, **fields):
    return Task(f"t{number}", f"Task {number}", f"Task {number}", float(number), **fields)


def hand(name="adam", *, free=True, **fields):
    return Hand(name, fields.pop("agent", "demo"), free, **fields)


def given_out(tasks, hands, others=(), flights=()):
    plan = assign(tasks, hands, {each.id: each.standing for each in (*tasks, *others)}, flights)
    return {each.id: name for each, name in plan.pairs}, dict(plan.waiting)


# --- by example -------------------------------------------------------------------------------------


def test_the_first_task_goes_to_who_has_been_idle_for_longest():
    hands = [hand("adam", idle_since_unix=3.0), hand("eve", idle_since_unix=1.0)]
    assert given_out([task(1), task(2), task(3)], hands) == (
        {"t1": "eve", "t2": "adam"},
        {"t3": "nobody is free: adam, eve get other tasks"},
    )


def test_a_task_waits_until_those_before_it_have_landed():
    done = task(1, standing=Standing.LANDED)
    assert given_out([task(3, after=("t1",))], [hand()], [done])[0] == {"t3": "adam"}
    pairs, waiting = given_out([task(3, after=("t1", "t2"))], [hand()], [done, task(2)])
    assert (pairs, waiting) == ({}, {"t3": "t2 must land first"})


@pytest.mark.parametrize(
    ("before", "words"),
    [
        (task(1, standing=Standing.FAILED), "t1 must land first, and has failed; `llmc task retry t1` tries it again"),
        (task(1, standing=Standing.CANCELLED), "t1 must land first, and was cancelled"),
        (None, "t1 must land first, and there is no such task"),
    ],
)
def test_a_task_after_one_that_will_not_land_says_so(before, words):
    assert words in unlanded(task(2, after=("t1",)), {"t1": before.standing} if before is not None else {})


def test_who_is_left_out_of_the_pool_gets_only_what_names_it():
    hands = [hand("adam", by_name_only=True)]
    assert given_out([task(1)], hands) == ({}, {"t1": "there is no worker"})
    assert given_out([task(1), task(2, worker="adam")], hands)[0] == {"t2": "adam"}


def test_wishes_are_heard_and_say_what_they_wait_for():
    hands = [hand("adam"), hand("eve", free=False, agent="codex", at=("works", "work"))]
    wishes = [task(1, agent="codex"), task(2, worker="eve"), task(3, agent="kimi"), task(4, machine="gpu"), task(5)]
    pairs, waiting = given_out(wishes, hands)
    assert pairs == {"t5": "adam"}
    assert list(waiting.values()) == [
        "waits for worker that runs codex: eve works",
        "waits for worker eve: eve works",
        "there is no worker that runs kimi",
        "there is no worker on a machine with the label gpu",
    ]


def test_a_task_that_names_nobody_leaves_a_worker_to_one_that_does():
    hands = [hand("adam", idle_since_unix=1.0), hand("eve", idle_since_unix=2.0)]
    assert given_out([task(1), task(2, worker="adam")], hands)[0] == {"t1": "eve", "t2": "adam"}


def test_who_failed_at_it_gets_it_only_where_there_is_no_other():
    again = task(1, avoid="adam")
    assert given_out([again], [hand("adam"), hand("eve", idle_since_unix=9.0)])[0] == {"t1": "eve"}
    assert given_out([again], [hand("adam")])[0] == {"t1": "adam"}


def test_a_task_waits_for_files_that_somebody_is_at():
    flights = [Flight("t9 (eve)", frozenset({"src/app.py"}), ("docs/**",))]
    tasks = [task(1, touches=("src/*.py",)), task(2, touches=("docs",)), task(3, touches=("tests",))]
    pairs, waiting = given_out(tasks, [hand("adam")], flights=flights)
    assert pairs == {"t3": "adam"}
    assert waiting == {"t1": "t9 (eve) is at src/app.py", "t2": "t9 (eve) is at docs/**"}


def test_two_that_touch_the_same_are_not_given_out_together():
    pairs, waiting = given_out([task(1, touches=("a",)), task(2, touches=("a/b",))], [hand("adam"), hand("eve")])
    assert (pairs, waiting) == ({"t1": "adam"}, {"t2": "t1 (adam) is at a"})


def test_a_younger_task_does_not_pass_an_older_one_by():
    flights = [Flight("eve", frozenset({"a.txt"}))]
    pairs, waiting = given_out([task(1, touches=("*.txt",)), task(2, touches=("b.txt",))], [hand()], flights=flights)
    assert (pairs, waiting["t2"]) == ({}, "t1 comes first: it touches *.txt, too")


def test_a_task_that_nobody_can_do_keeps_no_other_back():
    """Not even one that comes after the younger one: they would wait for each other."""
    tasks = [task(1, touches=("a",), worker="gone"), task(2, touches=("a",), after=("t3",)), task(3, touches=("a",))]
    assert given_out(tasks, [hand()])[0] == {"t3": "adam"}


def test_who_takes_nothing_although_it_is_free_says_why():
    worker = Worker("adam", "/w", "llmc/adam", "llmc-adam", "demo", 0.0, 0.0, session=Session.UP)
    unfit = hand_of(worker, by_name_only=False, unfit="adam's worktree has changes")
    assert given_out([task(1)], [unfit]) == ({}, {"t1": "adam's worktree has changes"})
    assert hand_of(replace(worker, work=Work.WORKING), by_name_only=False).free is False
    assert given_out([task(1)], [hand_of(replace(worker, session=Session.DOWN), by_name_only=False)])[1] == {
        "t1": "nobody is free: adam is not running"
    }


def test_a_task_that_waits_says_what_keeps_the_workers():
    worker = Worker("adam", "/w", "llmc/adam", "llmc-adam", "demo", 0.0, 0.0, session=Session.UP)
    known = [
        replace(worker, work=Work.NEEDS_REVIEW, commit_sha="a" * 40),
        replace(worker, name="baker", work=Work.NEEDS_REVIEW, commit_sha="a" * 40),
        replace(worker, name="carol", work=Work.NEEDS_INPUT),
        replace(worker, name="dave", session=Session.DOWN, evidence=Evidence("command.add", 0.0)),
    ]
    waiting = given_out([task(1)], [hand_of(each, by_name_only=False) for each in known])[1]
    assert waiting == {
        "t1": "nobody is free: adam, baker wait for review; carol asks; dave is not started yet",
    }


def test_work_in_flight_is_what_its_task_is_to_touch_and_what_it_has_touched():
    busy = Worker("adam", "/w", "llmc/adam", "llmc-adam", "demo", 0.0, 0.0, work=Work.WORKING, task="t1")
    idle = replace(busy, name="eve", work=Work.IDLE, task="")
    (flight,) = flights_of([busy, idle], {"t1": task(1, touches=("a",))}, {"adam": ["b"], "eve": ["c"]})
    assert flight == Flight("t1 (adam)", frozenset({"b"}), ("a",))


# --- patterns ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("src/app.py", "src/app.py"),
        ("src", "src/app.py"),
        ("src/", "src/deep/er.py"),
        ("src/*.py", "src/app.py"),
        ("**/*.py", "src/deep/app.py"),
        ("src/**", "src/deep/app.py"),
        ("src/**/app.py", "src/app.py"),
        ("src/a*", "src/*.py"),
        ("*", "anything/below"),
        ("**", "a"),
        ("s[rt]c/x", "src/x"),
        ("./src/x", "src//x"),
        ("**/a", "**/b/a"),
    ],
)
def test_patterns_that_may_mean_the_same_file(one, other):
    assert may_meet(one, other)
    assert may_meet(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("src/app.py", "src/app.pyc"),
        ("src/*.py", "src/app.c"),
        ("src/*.py", "docs/app.py"),
        ("**/tests.py", "src/bar.py"),
        ("src/a*", "src/b*"),
        ("src/*.py", "src/*.md"),
        ("docs/**", "src/docs/x"),
    ],
)
def test_patterns_that_mean_different_files(one, other):
    assert not may_meet(one, other)
    assert not may_meet(other, one)


PART = st.text("ab", min_size=1, max_size=2)
PATTERN_PART = st.one_of(PART, st.sampled_from(["*", "**", "a*", "*b", "?", "a?"]))


@given(st.lists(PART, min_size=1, max_size=4), st.lists(PATTERN_PART, min_size=1, max_size=4), st.data())
def test_a_file_that_fits_both_is_never_missed(path, pattern, data):
    from pathlib import PurePosixPath

    other = data.draw(st.lists(PATTERN_PART, min_size=1, max_size=4))

    def fits(parts):
        return _matches(parts, PurePosixPath("/".join(path)).parts)

    if fits(pattern) and fits(other):
        assert may_meet("/".join(pattern), "/".join(other))


def _matches(pattern, parts):
    from fnmatch import fnmatchcase

    if not pattern:
        return True
    if pattern[0] == "**":
        return _matches(pattern[1:], parts) or (bool(parts) and _matches(pattern, parts[1:]))
    return bool(parts) and fnmatchcase(parts[0], pattern[0]) and _matches(pattern[1:], parts[1:])


# --- cycles -----------------------------------------------------------------------------------------


def test_a_cycle_is_named_in_its_order():
    assert find_cycle({"a": ["b"], "b": ["c", "d"], "d": ["a"]}) == ["a", "b", "d", "a"]
    assert find_cycle({"a": ["a"]}) == ["a", "a"]
    assert find_cycle({"a": ["b", "c"], "b": ["c"], "c": []}) == []
    assert find_cycle({str(n): [str(n + 1)] for n in range(20_000)}) == []


# --- what must always hold --------------------------------------------------------------------------

FILES = ("a", "b", "a/x", "*/x", "c")


@st.composite
def queues(draw):
    """Tasks that come after older ones, with all kinds of wishes."""
    tasks = []
    for number in range(1, draw(st.integers(1, 14)) + 1):
        older = [f"t{n}" for n in range(1, number)]
        tasks.append(
            task(
                number,
                after=tuple(draw(st.lists(st.sampled_from(older), max_size=2, unique=True)) if older else ()),
                priority=draw(st.integers(-1, 1)),
                touches=tuple(draw(st.lists(st.sampled_from(FILES), max_size=2))),
                worker=draw(st.sampled_from(["", "", "", "w1"])),
                agent=draw(st.sampled_from(["", "", "codex"])),
            )
        )
    return tasks


@given(queues(), st.integers(1, 4), st.randoms())
def test_every_task_is_given_once_never_too_early_and_none_starves(tasks, workers, chance):
    """A day in the queue: work ends in any order, and every piece of it lands."""
    names = [f"w{n}" for n in range(1, workers + 1)]
    agents = {name: "codex" if name == "w1" else "demo" for name in names}
    waiting = sorted(tasks, key=lambda each: (-each.priority, each.created_at_unix))
    landed: dict[str, Task] = {}
    at_work: dict[str, Task] = {}
    given_to: dict[str, str] = {}
    rounds = 0
    while waiting or at_work:
        rounds += 1
        assert rounds < 200, f"these starve: {[each.id for each in waiting]}"
        hands = [hand(name, free=name not in at_work, agent=agents[name]) for name in names]
        flights = [Flight(name, frozenset(), each.touches) for name, each in at_work.items()]
        plan = assign(
            waiting,
            hands,
            {each.id: each.standing for each in (*waiting, *at_work.values(), *landed.values())},
            flights,
        )
        assert {each.id for each, _ in plan.pairs} | plan.waiting.keys() == {each.id for each in waiting}
        for each, name in plan.pairs:
            assert each.id not in given_to
            assert name not in at_work
            assert all(other in landed for other in each.after)
            assert each.worker in ("", name)
            assert each.agent in ("", agents[name]) or each.worker == name
            busy = [pattern for other in at_work.values() for pattern in other.touches]
            assert not any(may_meet(mine, theirs) for mine in each.touches for theirs in busy)
            at_work[name], given_to[each.id] = each, name
        waiting = [each for each in waiting if each.id not in given_to]
        assert at_work, f"nobody works, and these wait: {plan.waiting}"
        name = chance.choice(sorted(at_work))
        done = at_work.pop(name)
        landed[done.id] = replace(done, standing=Standing.LANDED)
    assert given_to.keys() == {each.id for each in tasks}


def test_patterns_of_any_depth_are_compared_quickly():
    """Each pair of rests once: by all ways to them this would take longer than anybody lives."""
    deep = "**/a/" * 40
    assert may_meet(f"{deep}x", f"{deep}x")
    assert not may_meet(f"b/{deep}x", "c/y")
    assert may_meet(f"{deep}x", f"{deep}y"), "y may be below x"
    assert not may_meet(f"{deep}x.py", f"{deep}y.py")
    assert may_meet("**/*.py", "src")
    assert not may_meet("**/*.py", "src/page.html")
