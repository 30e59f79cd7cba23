"""The state as JSON, exact both ways, and every check that a state must pass.

What a field may hold is read from the types of the model, so that a new field needs nothing here.
"""

from __future__ import annotations

import reprlib
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import StrEnum
from functools import cache
from types import MappingProxyType, NoneType
from typing import Any, get_args, get_origin, get_type_hints

from llmc.errors import LlmcError
from llmc.model import SCHEMA, Clock, Json, State, Work, Worker

SHOWN_PROBLEMS = 5


class StateError(LlmcError):
    """The stored state cannot be used as it is."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong; `worker` is empty for the file as a whole."""

    worker: str
    field: str
    what: str

    def __str__(self) -> str:
        return f"worker {self.worker}: {self.field} {self.what}" if self.worker else f"{self.field} {self.what}"


class StateInvalidError(StateError):
    """The file is JSON, but what it says is not a state."""

    def __init__(self, source: str, problems: list[Problem]) -> None:
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
        "clock": _plain(state.clock),
    }


def encode_worker(worker: Worker) -> dict[str, Json]:
    return {"status": worker.status, **_plain_fields(worker)}


def decode(data: object, *, source: str = "state.json") -> State:
    """The state, or StateInvalidError with everything that is wrong, or StateNewerError."""
    state = parse(data, source=source)
    if problems := check(state):
        raise StateInvalidError(source, problems)
    return state


def parse(data: object, *, source: str = "state.json") -> State:
    """As `decode`, but lets pass what only contradicts itself, so that it can be mended."""
    top, wrong = _record(_migrate(data, source), _STATE, frozenset({"schema", "workers"}))
    problems = [Problem("", field, what) for field, what in wrong]
    workers: dict[str, Worker] = {}
    for key, raw in top.get("workers", {}).items():
        values, wrong = _record(raw, _readers(Worker), _WORKER_REQUIRED, ignored="status")
        problems += [Problem(key, field, what) for field, what in wrong]
        if not wrong:
            workers[key] = Worker(**values)
    if problems:
        raise StateInvalidError(source, problems)
    reviewed, patrol, clock = (top.get(name) for name in ("last_reviewed_worker", "patrol_last_run_unix", "clock"))
    return State(MappingProxyType(workers), reviewed, patrol, clock)


def check(state: State) -> list[Problem]:
    """What contradicts itself in a state whose every single field is right."""
    problems = [problem for key, worker in state.workers.items() for problem in _check_worker(key, worker)]
    problems += _shared(state, "session_id")
    problems += _shared(state, "worktree_path")
    return problems


def _check_worker(key: str, worker: Worker) -> Iterator[Problem]:
    if worker.name != key:
        yield Problem(key, "name", f"is {worker.name!r}, but it stands under {key!r}")
    if "/" in key or "\0" in key or key.startswith("."):
        yield Problem(key, "name", "cannot be the name of a file")
    for field in ("name", "worktree_path", "branch", "session_id", "agent"):
        if not getattr(worker, field):
            yield Problem(key, field, "is empty")
    if worker.work is Work.NEEDS_REVIEW and not worker.commit_sha:
        yield Problem(key, "commit_sha", "is missing, although the work is needs_review")


def _shared(state: State, field: str) -> Iterator[Problem]:
    owners: dict[str, str] = {}
    for key, worker in state.workers.items():
        value = getattr(worker, field)
        if value in owners:
            yield Problem(key, field, f"{value!r} belongs to {owners[value]} too")
        owners[value] = key


# Schema 0 is the format before the work and the session were told apart: one `status`, no `schema`.


def _from_one_status(old: dict[str, Any]) -> dict[str, Any]:
    workers = old.get("workers")
    if isinstance(workers, dict):
        workers = {key: _split_status(key, raw) if isinstance(raw, dict) else raw for key, raw in workers.items()}
    return {**{field: old[field] for field in _STATE if field in old}, "schema": 1, "workers": workers}


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
        **{field: value for field, value in raw.items() if field in _readers(Worker)},
    }


MIGRATIONS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {0: _from_one_status}


def _migrate(data: object, source: str) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise StateInvalidError(source, [Problem("", "the file", str(_must_be("an object", data)))])
    try:
        schema = _count(data.get("schema", 0))
    except _MismatchError as mismatch:
        raise StateInvalidError(source, [Problem("", "schema", str(mismatch))]) from None
    if schema > SCHEMA:
        what = f"{source} was made by a newer llmc (schema {schema}; this one knows {SCHEMA})"
        raise StateNewerError(what, "upgrade llmc and try again")
    for version in range(schema, SCHEMA):
        data = MIGRATIONS[version](data)
    return data


def _plain_fields(value: Any) -> dict[str, Json]:  # noqa: ANN401 - any dataclass of the model
    return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}


def _plain(value: Any) -> Json:  # noqa: ANN401 - whatever a field of the model holds
    if value is None or type(value) in _SIMPLE:
        return value  # type: ignore[no-any-return]
    if isinstance(value, StrEnum):
        return str(value)
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return dict(value) if isinstance(value, Mapping) else _plain_fields(value)


# Reading: each reader gives the value, or the end of a sentence that begins with the name of the field.

Reader = Callable[[object], Any]


class _MismatchError(Exception):
    pass


def _must_be(wanted: str, value: object) -> _MismatchError:
    return _MismatchError(f"must be {wanted}, not {reprlib.repr(value)}")


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise _must_be("text", value)
    return value


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise _must_be("true or false", value)
    return value


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise _must_be("a count", value)
    return value


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= sys.float_info.max:
        raise _must_be("a number", value)
    return float(value)


def _json(value: object) -> Json:
    """Refuses only what a file cannot say, such as infinity, which Python's own parser makes of 1e999."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return _number(value)
        case list():
            return [_json(item) for item in value]
        case dict():
            return {_text(key): _json(item) for key, item in value.items()}
    raise _must_be("JSON", value)


_SIMPLE: dict[object, Reader] = {str: _text, bool: _flag, int: _count, float: _number}


def _reader(kind: Any) -> Reader:  # noqa: ANN401 - a type hint has no type of its own
    choices = [choice for choice in get_args(kind) if choice not in (NoneType, Ellipsis)]
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    if get_origin(kind) is tuple:
        return _list_of(_reader(choices[0]))
    if get_origin(kind) is Mapping:
        return _by_name(_reader(choices[1]))
    if not choices:
        return _object_of(kind) if is_dataclass(kind) else _one_of(kind)
    return _optional(_reader(choices[0])) if len(choices) == 1 else _json


def _optional(read: Reader) -> Reader:
    return lambda value: None if value is None else read(value)


def _one_of(kind: type[StrEnum]) -> Reader:
    known = {str(member): member for member in kind}

    def read(value: object) -> StrEnum:
        if not isinstance(value, str) or value not in known:
            raise _must_be(f"one of {', '.join(known)}", value)
        return known[value]

    return read


def _list_of(read: Reader) -> Reader:
    def read_all(value: object) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise _must_be("a list", value)
        return tuple(read(item) for item in value)

    return read_all


def _by_name(read: Reader) -> Reader:
    def read_all(value: object) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            raise _must_be("an object", value)
        return MappingProxyType({_text(key): read(item) for key, item in value.items()})

    return read_all


def _object_of(kind: Any) -> Reader:  # noqa: ANN401 - any dataclass of the model
    def read(value: object) -> object:
        values, wrong = _record(value, _readers(kind), _required(kind))
        if wrong:
            raise _MismatchError("is wrong: its " + ", its ".join(f"{field} {what}" for field, what in wrong))
        return kind(**values)

    return read


def _record(
    value: object, readers: Mapping[str, Reader], required: frozenset[str], ignored: str = ""
) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """The values that could be read, and (field, what is wrong) of the others."""
    if not isinstance(value, dict):
        return {}, [("the record", str(_must_be("an object", value)))]
    values: dict[str, Any] = {}
    wrong = [(field, "is missing") for field in sorted(required - value.keys())]
    wrong += [(field, "is not known to this version") for field in value if field not in readers and field != ignored]
    for field in value.keys() & readers.keys():
        try:
            values[field] = readers[field](value[field])
        except _MismatchError as mismatch:
            wrong.append((field, str(mismatch)))
        except RecursionError:
            wrong.append((field, "is nested too deeply"))
    return values, sorted(wrong)


@cache
def _readers(kind: type) -> dict[str, Reader]:
    return {field: _reader(hint) for field, hint in get_type_hints(kind).items()}


@cache
def _required(kind: Any) -> frozenset[str]:  # noqa: ANN401 - any dataclass of the model
    return frozenset(f.name for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING)


# A worker whose work was lost must not come back as an idle one.
_WORKER_REQUIRED = _required(Worker) | {"work", "session"}
_STATE: dict[str, Reader] = {
    "schema": _count,
    "workers": _by_name(lambda raw: raw),
    "last_reviewed_worker": _optional(_text),
    "patrol_last_run_unix": _optional(_number),
    "clock": _optional(_object_of(Clock)),
}
