from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from llmc.model import SCHEMA, Evidence, Session, State, Step, Turn, Work, Worker
from llmc.store.codec import (
    MIGRATIONS,
    StateError,
    StateInvalidError,
    StateNewerError,
    check,
    decode,
    encode,
    parse,
)

NOW = 1_800_000_000.0
DAY = 86_400.0

patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # on a busy machine
texts = st.text(st.characters(), max_size=20)  # lone surrogates too: a file name may be any bytes
times = st.floats(0, NOW)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
steps = st.builds(Step, texts, texts, st.dictionaries(texts, values, max_size=3), st.booleans())
workers = st.builds(
    Worker,
    name=texts,
    worktree_path=texts,
    branch=texts,
    session_id=texts,
    agent=texts,
    created_at_unix=times,
    last_activity_unix=times,
    work=st.sampled_from(Work),
    session=st.sampled_from(Session),
    turn=st.sampled_from(Turn),
    current_prompt=texts,
    base_sha=st.none() | texts,
    commit_sha=st.none() | texts,
    rejected_sha=st.none() | texts,
    resume_work=st.none() | st.sampled_from(Work),
    reports_events=st.booleans(),
    stopped_by_user=st.booleans(),
    crash_count=st.integers(0),
    last_crash_unix=st.none() | times,
    rebase_started_at_unix=st.none() | times,
    conflicted_files=st.lists(texts, max_size=3).map(tuple),
    resolution_attempts=st.integers(0),
    pending=st.lists(steps, max_size=3).map(tuple),
    timers=st.dictionaries(texts, st.floats(allow_nan=False, allow_infinity=False), max_size=3),
    step_count=st.integers(0),
    heard_prompts=st.lists(texts, max_size=3).map(tuple),
    evidence=st.builds(Evidence, texts, times, texts),
)
states = st.builds(State, st.dictionaries(texts, workers, max_size=3), st.none() | texts, st.none() | times)


def worker(name: str = "adam", **fields) -> Worker:
    return replace(Worker(name, f"/srv/{name}", f"llmc/{name}", f"llmc-{name}", "claude", NOW, NOW), **fields)


def state(*of: Worker) -> State:
    return State({one.name: one for one in of})


def written(of: State) -> dict:
    return json.loads(json.dumps(encode(of)))


def raw(**fields) -> dict:
    """A state file of one worker, with these fields set by hand."""
    data = written(state(worker()))
    data["workers"]["adam"] |= fields
    return data


def problems(data: object) -> list[tuple[str, str]]:
    with pytest.raises(StateInvalidError) as caught:
        decode(data)
    return [(problem.worker, problem.field) for problem in caught.value.problems]


@patient
@given(states)
def test_what_was_written_comes_back_exactly(original: State) -> None:
    back = parse(written(original))
    assert back == original
    assert repr(back).replace("mappingproxy", "") == repr(parse(encode(original))).replace("mappingproxy", "")


@patient
@given(states)
def test_every_state_that_passes_the_check_can_be_decoded(original: State) -> None:
    if check(original):
        with pytest.raises(StateInvalidError):
            decode(written(original))
    else:
        assert decode(written(original)) == original


@patient
@given(values.filter(lambda data: not isinstance(data, dict) or "workers" not in data))
def test_any_other_json_is_refused_with_a_state_error(data: object) -> None:
    with pytest.raises(StateError):
        decode(data)


@patient
@given(st.sampled_from(sorted(set(written(state(worker()))["workers"]["adam"]) - {"status"})), values)
def test_any_value_in_any_field_is_taken_or_refused_by_name(field: str, value: object) -> None:
    try:
        taken = parse(raw(**{field: value})).workers["adam"]
        refused = None
    except StateInvalidError as error:
        refused = error
    if refused is None:
        assert written(state(replace(worker(), **{field: getattr(taken, field)})))["workers"]
    else:
        assert {(problem.worker, problem.field) for problem in refused.problems} == {("adam", field)}
        assert f"worker adam: {field} " in refused.what


def test_the_file_has_the_words_of_the_documents_and_the_derived_status() -> None:
    data = encode(State({"adam": worker(work=Work.WORKING, current_prompt="x", session=Session.UP)}, "baker", 12.5))
    assert (data["schema"], data["last_reviewed_worker"], data["patrol_last_run_unix"]) == (SCHEMA, "baker", 12.5)
    adam = written(state(worker(work=Work.WORKING, session=Session.DOWN)))["workers"]["adam"]
    assert (adam["status"], adam["work"], adam["session"]) == ("offline", "working", "down")
    assert adam["session_id"] == "llmc-adam"


@pytest.mark.lesson(23, "status tells what is there, and how old that knowledge is")
def test_the_written_status_is_ignored() -> None:
    assert decode(raw(status="nonsense")).workers["adam"].status == "offline"


@pytest.mark.parametrize("field", ["name", "worktree_path", "branch", "session_id", "agent", "work", "session"])
def test_a_missing_field_is_named(field: str) -> None:
    data = raw()
    del data["workers"]["adam"][field]
    assert problems(data) == [("adam", field)]


def test_a_field_with_a_default_may_be_missing() -> None:
    data = raw(crash_count=3)
    del data["workers"]["adam"]["heard_prompts"]
    assert decode(data).workers["adam"] == worker(crash_count=3)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("work", "sleeping"),
        ("session", None),
        ("turn", 1),
        ("created_at_unix", "yesterday"),
        ("created_at_unix", True),
        ("last_activity_unix", float("inf")),
        ("last_activity_unix", 10**400),
        ("crash_count", -1),
        ("crash_count", 1.5),
        ("current_prompt", None),
        ("reports_events", 1),
        ("conflicted_files", "a.txt"),
        ("conflicted_files", [1]),
        ("pending", [{"id": "1"}]),
        ("pending", [{"id": "1", "name": "n", "args": {"deep": [float("nan")]}}]),
        ("pending", [{"id": "1", "name": "n", "later": 1}]),
        ("timers", {"retry": "soon"}),
        ("evidence", []),
        ("comit_sha", "a typing error"),
    ],
)
def test_a_wrong_value_is_named(field: str, value: object) -> None:
    assert problems(raw(**{field: value})) == [("adam", field)]


def test_everything_that_is_wrong_is_listed_and_the_text_stays_short() -> None:
    data = written(state(*(worker(f"w{number}") for number in range(9))))
    for one in data["workers"].values():
        one["work"] = "x" * 500
    with pytest.raises(StateInvalidError) as caught:
        decode(data, source="there/state.json")
    assert len(caught.value.problems) == 9
    assert caught.value.what.startswith("there/state.json does not make sense: worker w0: work must be one of idle, ")
    assert caught.value.what.endswith("; and 4 more")
    assert len(caught.value.what) < 1000
    assert "doctor --repair" in caught.value.hint


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"work": "needs_review", "commit_sha": None}, "commit_sha"),
        ({"name": "baker"}, "name"),
        ({"worktree_path": ""}, "worktree_path"),
    ],
)
def test_a_contradiction_is_named_and_can_still_be_parsed_for_repair(fields: dict, field: str) -> None:
    assert problems(raw(**fields)) == [("adam", field)]
    assert "adam" in parse(raw(**fields)).workers


@pytest.mark.parametrize("field", ["created_at_unix", "last_activity_unix", "last_crash_unix"])
def test_a_clock_that_is_wrong_is_no_reason_to_refuse_a_state(field: str) -> None:
    assert getattr(decode(raw(**{field: NOW + 900 * DAY})).workers["adam"], field) == NOW + 900 * DAY


def test_a_timer_may_be_due_in_the_future() -> None:
    assert decode(raw(timers={"retry": NOW + 9 * DAY})).workers["adam"].timers == {"retry": NOW + 9 * DAY}


@pytest.mark.parametrize("field", ["session_id", "worktree_path"])
def test_two_workers_cannot_share(field: str) -> None:
    data = written(state(worker("adam"), worker("baker")))
    data["workers"]["baker"][field] = data["workers"]["adam"][field]
    assert problems(data) == [("baker", field)]


@pytest.mark.parametrize("name", ["../etc", "a/b", ".hidden", "a\0b"])
def test_a_name_that_leads_elsewhere_is_refused(name: str) -> None:
    assert problems(written(state(replace(worker(), name=name)))) == [(name, "name")]


@pytest.mark.parametrize("data", [None, [], "state", {}, {"schema": 1}, {"schema": 1, "workers": []}])
def test_what_is_no_state_at_all_is_refused(data: object) -> None:
    assert problems(data)


def test_deep_nesting_is_refused_without_a_crash() -> None:
    deep: list = []
    for _ in range(100_000):
        deep = [deep]
    assert problems(raw(pending=[{"id": "1", "name": "n", "args": {"deep": deep}}])) == [("adam", "pending")]


@pytest.mark.parametrize("schema", ["1", -1, 1.0, True, None])
def test_a_schema_that_is_no_version_is_refused(schema: object) -> None:
    assert problems({**raw(), "schema": schema}) == [("", "schema")]


def test_a_newer_schema_is_refused_with_advice() -> None:
    with pytest.raises(StateNewerError) as caught:
        decode({**raw(), "schema": SCHEMA + 1})
    assert "made by a newer llmc" in caught.value.what
    assert "upgrade" in caught.value.hint


def test_there_is_a_migration_from_every_older_schema() -> None:
    assert sorted(MIGRATIONS) == list(range(SCHEMA))


def old(**fields) -> dict:
    """The plain format: no schema, one status."""
    return {
        "workers": {
            "adam": {
                "name": "adam",
                "worktree_path": "/srv/llmc/.worktrees/adam",
                "branch": "llmc/adam",
                "status": "working",
                "current_prompt": "Implement the login page",
                "created_at_unix": 1704567890,
                "last_activity_unix": 1704568890,
                "commit_sha": None,
                "session_id": "llmc-adam",
                **fields,
            }
        },
        "last_reviewed_worker": "baker",
        "patrol_last_run_unix": 1704568800,
    }


def test_an_old_file_loads() -> None:
    loaded = decode(old())
    adam = loaded.workers["adam"]
    assert (loaded.last_reviewed_worker, loaded.patrol_last_run_unix) == ("baker", 1704568800.0)
    assert (adam.work, adam.session, adam.status, adam.agent) == (Work.WORKING, Session.UP, "working", "claude")
    assert (adam.current_prompt, adam.created_at_unix) == ("Implement the login page", 1704567890.0)
    assert decode(written(loaded)) == loaded


@pytest.mark.parametrize("status", [work.value for work in Work])
def test_an_old_status_stays_the_word_that_users_see(status: str) -> None:
    adam = decode(old(status=status, commit_sha="c0ffee")).workers["adam"]
    assert (adam.status, adam.work, adam.session) == (status, status, "up")


def test_an_old_offline_worker_is_idle_with_its_session_down() -> None:
    adam = decode(old(status="offline")).workers["adam"]
    assert (adam.work, adam.session, adam.status) == (Work.IDLE, Session.DOWN, "offline")
    assert adam.current_prompt == "Implement the login page"


def test_an_old_offline_worker_keeps_its_commit_for_review() -> None:
    adam = decode(old(status="offline", commit_sha="c0ffee")).workers["adam"]
    assert (adam.work, adam.commit_sha) == (Work.NEEDS_REVIEW, "c0ffee")


def test_an_old_file_keeps_what_is_still_known_and_drops_the_rest() -> None:
    rebasing = old(status="rebasing", conflicted_files=["a.rs"], resolution_attempts=1, rebase_started_at_unix=5, x=1)
    adam = decode(rebasing).workers["adam"]
    assert (adam.conflicted_files, adam.resolution_attempts, adam.rebase_started_at_unix) == (("a.rs",), 1, 5.0)


def test_an_old_record_of_the_bare_minimum_loads() -> None:
    adam = decode({"workers": {"adam": {"worktree_path": "/srv/adam", "status": "idle"}}}).workers["adam"]
    assert (adam.name, adam.branch, adam.session_id, adam.created_at_unix) == ("adam", "llmc/adam", "llmc-adam", 0.0)


@pytest.mark.parametrize("status", [None, "sleeping", 3])
def test_an_old_file_with_an_unknown_status_is_refused(status: object) -> None:
    assert problems(old(status=status)) == [("adam", "work")]


def test_losing_the_schema_by_hand_does_not_lose_the_work() -> None:
    data = raw(work="needs_review", commit_sha="c0ffee", session="down", status="offline")
    del data["schema"]
    assert decode(data).workers["adam"].work is Work.NEEDS_REVIEW
