"""The board: which column a card is in, in what order, what it offers, and what changes are told of it."""

from __future__ import annotations

import pytest

from llmc.core.board.board import board_of
from llmc.core.board.feed import BoardFeed


def worker(name="adam", work="working", session="up", **more):
    status = "offline" if session in ("down", "crashed") and work != "error" else work
    return {
        "name": name,
        "status": status,
        "work": work,
        "session": session,
        "agent": "demo",
        "turn": "open",
        "reports_events": True,
        "current_prompt": "Add a login page\n\nwith a form",
        "task": "t1",
        "last_activity_unix": 5.0,
        "attention": {"state": "BUSY"},
        "evidence": {"signal": "hook.prompt", "detail": "", "at_unix": 3.0},
        "conflicts": None,
        "troubles": [],
        "asked": None,
        "checks": {"state": "none"},
        **more,
    }


def task(number, state="queued", **more):
    return {"id": f"t{number}", "title": f"Task {number}", "state": state, "after": [], "priority": 0, **more}


def document(*workers, tasks=(), train=(), daemon=True):
    return {
        "root": "/somewhere",
        "daemon": {"running": daemon, "pid": 7},
        "branch": "main",
        "landings": [],
        "workers": list(workers),
        "tasks": list(tasks),
        "task_counts": {},
        "train": {"paused": False, "entries": [{"worker": name, "state": "waiting"} for name in train]},
    }


def columns(*workers, **more):
    return {each["name"]: each["keys"] for each in board_of(document(*workers, **more))["columns"] if each["keys"]}


ASKED = {"id": "d1", "text": "Run it?", "options": ["Yes", "No"]}
ASKS = {"asked": ASKED, "attention": {"state": "NEEDS_CONFIRMATION"}}


@pytest.mark.lesson(54, "Columns are named after the person's next act")
@pytest.mark.parametrize(
    ("column", "who"),
    [
        ("needs_you", worker(work="needs_input")),
        ("needs_you", worker(work="error")),
        ("needs_you", worker(**ASKS)),
        ("needs_you", worker(attention={"state": "ERROR"})),
        ("needs_you", worker(session="crashed")),
        ("needs_you", worker(blocked={"kind": "auth", "until_unix": None})),
        ("working", worker(blocked={"kind": "rate_limit", "until_unix": 9.0}, attention={"state": "ERROR"})),
        ("review", worker(work="needs_review")),
        ("review", worker(work="needs_review", session="down")),
        ("working", worker()),
        ("working", worker(work="idle", session="starting")),
        ("idle", worker(work="idle")),
        ("idle", worker(session="down")),
    ],
)
def test_each_worker_stands_where_a_person_would_look(column, who):
    assert columns(who) == {column: ["worker/adam"]}


def test_who_is_in_the_train_is_landing_in_its_order():
    waiting = [worker(name, "needs_review") for name in ("adam", "baker")]
    assert columns(*waiting, train=("baker", "adam")) == {"landing": ["worker/baker", "worker/adam"]}
    board = board_of(document(*waiting, train=("baker",)))
    assert board["head"]["waiting"] == len(waiting) - 1  # what was accepted does not wait for a person
    assert board["cards"]["worker/baker"]["does"] == "in the merge train, waiting"
    stopped = [{**each, "status": "offline", "session": "down"} for each in waiting]
    assert board_of(document(*stopped))["head"]["waiting"] == len(stopped)  # a review needs no agent
    shown = document(*waiting, train=("baker",))
    shown["train"]["paused"] = True
    assert "paused" in board_of(shown)["cards"]["worker/baker"]["does"]


def test_who_asks_comes_before_who_failed_and_who_waits_longer_comes_first():
    late = {"evidence": {"signal": "x", "at_unix": 9.0}}
    found = columns(
        worker("adam", "error"),
        worker("baker", **ASKS, **late),
        worker("carl", "needs_input", **late),
        tasks=[task(1, "failed"), task(2), task(3, "held")],
    )
    assert found["needs_you"] == ["worker/baker", "worker/adam", "worker/carl", "task/t1"]
    assert found["queued"] == ["task/t2", "task/t3"]


def card(who, **more):
    return board_of(document(who, **more))["cards"][f"worker/{who['name']}"]


def test_a_card_says_what_is_asked():
    told = card(worker(**ASKS))
    assert told["does"] == "asks: Run it? (1 Yes; 2 No)"
    assert told["asked"] == ASKED
    assert told["title"] == "Add a login page", "as the task is called"


def offers(who, **more):
    return [action["name"] for action in card(who, **more)["actions"]]


def test_a_card_offers_what_can_be_done_now():
    assert offers(worker(**ASKS)) == ["answer", "interrupt", "attach", "explain"]
    assert offers(worker()) == ["message", "interrupt", "attach", "explain"]
    assert offers(worker(work="needs_review"))[:4] == ["review", "accept", "reject", "comment"]
    assert "accept" not in offers(worker(work="needs_review"), train=("adam",))
    assert offers(worker(work="idle"))[:2] == ["start", "message"]
    assert offers(worker(session="down")) == ["restart", "explain"]


def test_conflicts_to_come_are_known_only_to_a_daemon():
    conflicts = {"with_branch": ["a.py"], "with_workers": {"baker": ["b.py"]}, "age_secs": 1.0}
    told = card(worker(conflicts=conflicts))["conflicts"]
    assert [(each["with"], each["files"]) for each in told] == [("main", ["a.py"]), ("baker", ["b.py"])]
    assert card(worker(conflicts=conflicts), daemon=False)["conflicts"] == []


# --- the feed ---------------------------------------------------------------------------------------


def boards():
    yield board_of(document(worker(), worker("baker", "idle")))
    yield board_of(document(worker(work="needs_review"), worker("baker", "idle")))
    yield board_of(document(worker(work="needs_review")))


def test_only_what_is_different_is_told():
    feed = BoardFeed("f")
    first, second, third = boards()
    assert feed.take(first, []) is None
    assert feed.take(first, []) is None
    change = feed.take(second, [])
    assert change is not None
    assert [each["key"] for each in change["cards"]] == ["worker/adam"]
    assert {each["name"] for each in change["columns"]} == {"review", "working"}
    assert change["gone"] == []
    last = feed.take(third, [{"id": 1}])
    assert last is not None
    assert (last["gone"], last["cards"], last["events"]) == (["worker/baker"], [], [{"id": 1}])


def test_who_was_away_goes_on_or_begins_anew():
    feed = BoardFeed("f", kept=2)
    first, second, third = boards()
    feed.take(first, [])
    begun = feed.last_id
    for board in (second, third):
        feed.take(board, [])
    missed = feed.since(begun)
    assert missed is not None
    assert [each["id"] for each in missed] == ["f.1", "f.2"]
    assert feed.since(feed.last_id) == []
    feed.take(first, [])
    assert feed.since(begun) is None
    for never in ("", "g.1", "f.99", "f.x", "f.-1"):
        assert feed.since(never) is None


def test_a_change_makes_the_earlier_board_the_later_one():
    first, second, third = boards()
    feed = BoardFeed("f")
    feed.take(first, [])
    cards, order = dict(first["cards"]), {each["name"]: each["keys"] for each in first["columns"]}
    for board in (second, third):
        change = feed.take(board, [])
        assert change is not None
        cards |= {each["key"]: each for each in change["cards"]}
        cards = {key: each for key, each in cards.items() if key not in change["gone"]}
        order |= {each["name"]: each["keys"] for each in change["columns"]}
        assert cards == board["cards"]
        assert order == {each["name"]: each["keys"] for each in board["columns"]}
