"""The state as JSON, exact both ways, and every check that a state must pass.

What a field may hold is read from the types of the model, so that a new field needs nothing here.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterator
from typing import Any

from llmc.core.schema import COUNT, Misfit, MismatchError, path_of, record_of, what_is_wrong
from llmc.errors import LlmcError
from llmc.model import SCHEMA, Json, State, Work, Worker
from llmc.store.json_values import json_object, json_value
from llmc.values import Value

SHOWN_PROBLEMS = 5


class StateError(LlmcError):
    """The stored state cannot be used as it is."""


class StateProblem(Value):
    """One thing that is wrong; `worker` is empty for the file as a whole."""

    worker: str
    field: str
    what: str

    def __str__(self) -> str:
        return f"worker {self.worker}: {self.field} {self.what}" if self.worker else f"{self.field} {self.what}"


class StateInvalidError(StateError):
    """The file is JSON, but what it says is not a state."""

    def __init__(self, source: str, problems: list[StateProblem]) -> None:
        shown = "; ".join(str(problem) for problem in problems[:SHOWN_PROBLEMS])
        more = len(problems) - SHOWN_PROBLEMS
        rest = f"; and {more} more" if more > 0 else ""
        super().__init__(f"{source} does not make sense: {shown}{rest}", "run `llmc doctor --repair`")
        self.problems = tuple(problems)


class StateNewerError(StateError):
    """The state was written by a version that knows more than this one."""


def encode(state: State) -> dict[str, Json]:
    return {
        "schema": SCHEMA,
        "workers": {key: encode_worker(worker) for key, worker in state.workers.items()},
        "last_reviewed_worker": state.last_reviewed_worker,
        "patrol_last_run_unix": state.patrol_last_run_unix,
        "clock": json_value(state.clock),
    }


def encode_worker(worker: Worker) -> dict[str, Json]:
    return {"status": worker.status, **json_object(worker)}


def decode(data: object, *, source: str = "state.json") -> State:
    """The state, or StateInvalidError with everything that is wrong, or StateNewerError."""
    state = parse(data, source=source)
    if problems := check(state):
        raise StateInvalidError(source, problems)
    return state


def parse(data: object, *, source: str = "state.json") -> State:
    """As `decode`, but lets pass what only contradicts itself, so that it can be fixed."""
    try:
        return _STATE.read(_migrate(data, source))
    except MismatchError as wrong:
        raise StateInvalidError(source, [_problem(misfit) for misfit in wrong.misfits]) from None


# A worker whose work was lost must not come back as an idle one. Its status is only written for others to read.
_WORKER = record_of(Worker, required=("work", "session"), ignored=("status",))
_STATE = record_of(State, {Worker: _WORKER.as_type()}, required=("workers",), ignored=("schema",))


def _problem(misfit: Misfit) -> StateProblem:
    match misfit.key:
        case ("workers", str(worker)):
            return StateProblem(worker, "the record", what_is_wrong(misfit))
        case ("workers", str(worker), str(field)):
            return StateProblem(worker, field, what_is_wrong(misfit))
        case ("workers", str(worker), str(field), *inside):
            return StateProblem(worker, field, f"is wrong: {path_of(inside)} {what_is_wrong(misfit)}")
    return StateProblem("", path_of(misfit.key), what_is_wrong(misfit))


def check(state: State) -> list[StateProblem]:
    """What contradicts itself in a state whose every single field is right."""
    problems = [problem for key, worker in state.workers.items() for problem in _check_worker(key, worker)]
    problems += _shared(state, "session_id")
    problems += _shared(state, "worktree_path")
    return problems


def _check_worker(key: str, worker: Worker) -> Iterator[StateProblem]:
    if worker.name != key:
        yield StateProblem(key, "name", f"is {worker.name!r}, but it stands under {key!r}")
    if "/" in key or "\0" in key or key.startswith("."):
        yield StateProblem(key, "name", "cannot be the name of a file")
    for field in ("name", "worktree_path", "branch", "session_id", "agent"):
        if not getattr(worker, field):
            yield StateProblem(key, field, "is empty")
    if worker.work is Work.NEEDS_REVIEW and not worker.commit_sha:
        yield StateProblem(key, "commit_sha", "is missing, although the work is needs_review")


def _shared(state: State, field: str) -> Iterator[StateProblem]:
    owners: dict[str, str] = {}
    for key, worker in state.workers.items():
        value = getattr(worker, field)
        if value in owners:
            yield StateProblem(key, field, f"{value!r} belongs to {owners[value]} too")
        owners[value] = key


# Schema 0 is the format before the work and the session were told apart: one `status`, no `schema`.


def _from_one_status(old: dict[str, Any]) -> dict[str, Any]:
    workers = old.get("workers")
    if isinstance(workers, dict):
        workers = {key: _split_status(key, raw) if isinstance(raw, dict) else raw for key, raw in workers.items()}
    return {**{field: old[field] for field in _STATE.types if field in old}, "schema": 1, "workers": workers}


def _split_status(key: str, raw: dict[str, Any]) -> dict[str, Any]:
    offline = raw.get("status") == "offline"
    # A commit that waits for its review must not be forgotten because the terminal was closed.
    work_when_offline = "needs_review" if raw.get("commit_sha") else "idle"
    return {
        "name": key,
        "branch": f"llmc/{key}",
        "session_id": f"llmc-{key}",
        "agent": "claude",
        "created_at_unix": 0,
        "last_activity_unix": raw.get("created_at_unix", 0),
        "work": work_when_offline if offline else raw.get("status"),
        "session": "down" if offline else "up",
        **{field: value for field, value in raw.items() if field in _WORKER.types},
    }


MIGRATIONS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {0: _from_one_status}


def _migrate(data: object, source: str) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise StateInvalidError(source, [StateProblem("", "the file", f"must be an object, not {reprlib.repr(data)}")])
    try:
        schema = COUNT.read(data.get("schema", 0))
    except MismatchError:
        wrong = f"must be {COUNT.expects}, not {reprlib.repr(data['schema'])}"
        raise StateInvalidError(source, [StateProblem("", "schema", wrong)]) from None
    if schema > SCHEMA:
        what = f"{source} was made by a newer llmc (schema {schema}; this one knows {SCHEMA})"
        raise StateNewerError(what, "upgrade llmc and try again")
    for version in range(schema, SCHEMA):
        data = MIGRATIONS[version](data)
    return data
