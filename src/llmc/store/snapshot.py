"""The state as it stands in the file, for the status line: imports next to nothing, to start in milliseconds."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from llmc.core.screen.assessment import Assessment

SCHEMA = 1
"""That of the model, which would cost more to import than everything here."""
SHOWN = frozenset(("name", "status", "work", "session", "agent", "branch", "worktree_path", "current_prompt"))


_known: dict[str, tuple[tuple[int, int, int], Any]] | None = None
"""What was read of each file, and what it was like then; None where nobody will read it again."""
MOST_KNOWN = 10_000


def remember_files() -> None:
    """From now on a file that has not changed is not parsed again: for processes that look again and again.

    Nobody may change what they are given.
    """
    global _known
    _known = {} if _known is None else _known


def _content(path: str) -> Any:  # noqa: ANN401 - that is what JSON is
    """Files are replaced as a whole: one that was written anew is another one."""
    if _known is None:
        return _parse(_read(path))
    found = os.stat(path, follow_symlinks=False)
    mark = (found.st_ino, found.st_mtime_ns, found.st_size)
    known = _known.get(path)
    if known is None or known[0] != mark:
        if len(_known) >= MOST_KNOWN:
            _known.clear()
        known = _known[path] = mark, _parse(_read(path))
    return known[1]


def read_state(root: str) -> dict[str, Any]:
    """What `state.json` holds, in the form of the present schema, with its values unchecked."""
    try:
        state: dict[str, Any] = _content(os.path.join(root, "state.json"))
        if state["schema"] == SCHEMA and all(worker.keys() >= SHOWN for worker in state["workers"].values()):
            return state
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        pass
    return _read_carefully(root)


def _read_carefully(root: str) -> dict[str, Any]:
    """For whatever is unusual: migrates an old file, and says exactly what is wrong with a broken one."""
    from llmc.store.codec import encode
    from llmc.store.state_file import StateFile

    return dict(encode(StateFile(root).load()))


def _read(path: str) -> str:
    with open(
        path, encoding="utf-8", opener=lambda name, flags: os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK)
    ) as file:
        return file.read()


class _PlainJson:
    """What the scanner behind `json` asks of its decoder."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float


def _parse(text: str) -> Any:  # noqa: ANN401 - that is what JSON is
    """`import json` takes longer than all the rest of this module: it compiles patterns that a scan has no use for."""
    try:
        from _json import make_scanner

        state, end = make_scanner(_PlainJson)(text, 0)  # type: ignore[arg-type]
    except (ImportError, AttributeError, TypeError, StopIteration):
        import json

        return json.loads(text)
    if text[end:].strip():
        raise ValueError("more than one value")
    return state


def _object_in(path: str) -> dict[str, Any]:
    """Empty when there is none; one that is being replaced right now is there at the next look."""
    try:
        found = _content(path)
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def assessment_in(value: Any) -> Assessment | None:  # noqa: ANN401 - that is what JSON is
    """What a file holds, if it is one at all."""
    return value if isinstance(value, dict) and isinstance(value.get("state"), str) else None  # type: ignore[return-value]


def read_told(path: str) -> Assessment | None:
    """What an agent's own reports said last."""
    return assessment_in(_object_in(path))


def told_state(path: str) -> str:
    """`READY`, `BUSY`, `NEEDS_CONFIRMATION` or `ERROR`; empty when it has told nothing."""
    told = read_told(path)
    return told["state"] if told is not None else ""


def read_attention(directory: str) -> dict[str, Assessment]:
    """The same of each worker that has told anything."""
    try:
        names = [name for name in os.listdir(directory) if name.endswith(".json") and not name.startswith(".")]
    except OSError:
        return {}
    found = {name.removesuffix(".json"): read_told(os.path.join(directory, name)) for name in names}
    return {name: told for name, told in found.items() if told is not None}


def read_checks(directory: str) -> dict[str, dict[str, Any]]:
    """How the checks of each worker's work stand."""
    try:
        names = [name.removesuffix(".json") for name in os.listdir(directory) if name.endswith(".json")]
    except OSError:
        return {}
    return {name: _object_in(os.path.join(directory, f"{name}.json")) for name in names if name[0].isalpha()}


def read_radar(path: str) -> dict[str, Any] | None:
    """What the daemon last saw of conflicts to come; None when nobody has looked."""
    seen = _object_in(path)
    return seen if seen.get("schema") == SCHEMA else None


def read_train(path: str) -> dict[str, Any]:
    """The merge train: whether it is paused, and who is in it, in order."""
    seen = _object_in(path)
    return {"paused": bool(seen.get("paused")), "entries": seen.get("entries") or []}


def read_tasks(path: str) -> dict[str, Any]:
    """The tasks that are not done yet, and how many there are of each kind; empty when there never was one."""
    found = _object_in(path)
    return found if found.get("schema") == SCHEMA else {}


def read_usage(path: str) -> dict[str, Any]:
    """What workers and their tasks have cost so far; empty when nothing is counted yet."""
    found = _object_in(path)
    return found if found.get("schema") == SCHEMA else {}


def read_touched(path: str) -> dict[str, list[str]]:
    """The files that each worker's work changes, as the daemon last saw it."""
    return {name: paths for name, paths in _object_in(path).items() if isinstance(paths, list)}


def read_patrol(path: str) -> dict[str, Any]:
    """The report of the last patrol; empty when there is none."""
    return _object_in(path)


def read_landings(path: str, lock: str) -> list[dict[str, Any]]:
    """Those that were cut short: what somebody lands right now is none of them."""
    if not os.path.exists(path) or read_daemon_pid(lock) is not None:
        return []
    found = _object_in(path).get("landings")
    return found if isinstance(found, list) else []  # the doctor tells


def read_object(path: str) -> dict[str, Any]:
    """What a file of ours holds; empty when there is none."""
    return _object_in(path)


def read_statuses(directory: str) -> dict[str, dict[str, Any]]:
    """What is known of each terminal, workers' included; empty for one that nobody has looked at yet."""
    try:
        names = sorted(entry.name for entry in os.scandir(directory) if entry.is_dir(follow_symlinks=False))
    except OSError:
        return {}
    return {name: _object_in(os.path.join(directory, name, "status.json")) for name in names}


def read_daemon_pid(lock: str) -> int | None:
    """The process that holds the daemon's lock, 0 where that is not known; None when nobody does."""
    from llmc.host import was_killed, words_of_holder

    words = words_of_holder(lock)
    if words is None:
        return None
    try:
        pid = int(_parse(words.decode("utf-8"))["pid"])
    except (ValueError, LookupError, TypeError):
        return 0
    return None if was_killed(pid) else pid
