"""A plan: many tasks in one Markdown or TOML file. All of it is right, or none of it is taken. Pure."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from llmc.core.display import one_line
from llmc.core.names import nearest_word
from llmc.core.schema import MismatchError, UnknownKey, record_of, whole
from llmc.core.tasks.queue import find_cycle
from llmc.core.tasks.task import LONGEST_TITLE, Task, number_of, title_of
from llmc.core.tasks.touches import is_inside
from llmc.errors import LlmcError
from llmc.values import Value

_HEADING = re.compile(r"##[ \t]+(?P<title>\S.*?)(?:[ \t]+#+)?[ \t]*")
_FIELD = re.compile(r"(?P<name>[A-Za-z_-]+):[ \t]*(?P<value>.*)")
_FENCE = re.compile(r" {0,3}(?P<fence>`{3,}(?!.*`)|~{3,})")
"""Three backticks with another one behind them are code within a line."""
_LISTS = ("after", "touches")


class PlanError(LlmcError):
    """Something in the plan is wrong; none of its tasks was queued."""


class PlannedTask(Value):
    title: str = ""
    text: str = ""
    after: tuple[str, ...] = ()
    """Titles, or ids of tasks that are there already."""
    worker: str = ""
    agent: str = ""
    machine: str = ""
    priority: int = 0
    touches: tuple[str, ...] = ()
    hold: bool = False
    auto_accept: bool = False


_RECORD = record_of(PlannedTask, {"priority": whole(-999_999, 999_999)})
_FIELDS = frozenset(_RECORD.types) - {"title", "text"}
_MEANT = {"prio": "priority", "dep": "after", "deps": "after", "depends": "after", "depends_on": "after"}
_LIKENESS = 0.8
"""Of a slip of the pen; other words with a colon behind them are text."""
_SHORTEST = 4
"""Shorter words are near to a field by chance: `old: ...`."""


def read_plan(text: str, name: str) -> list[PlannedTask]:
    """`name` is that of the file: TOML by its ending, Markdown otherwise."""
    text = text.removeprefix("\ufeff")
    raw = _from_toml(text, name) if name.lower().endswith(".toml") else _from_markdown(text)
    if not raw:
        wants = "[[task]] tables" if name.lower().endswith(".toml") else "headings such as `## Add a login page`"
        raise PlanError(f"{name} has no tasks", f"it needs {wants}; `llmc task import --help` shows an example")
    planned = [_read(each, f"task {_named(each) or number} of {name}") for number, each in enumerate(raw, 1)]
    _refuse_doubles(planned, name)
    return planned


def _named(raw: Mapping[str, object]) -> str:
    words = str(raw.get("title") or raw.get("text") or "")[:LONGEST_TITLE]
    return repr(words) if words else ""


def _read(raw: Mapping[str, object], where: str) -> PlannedTask:
    try:
        task = _RECORD.read(dict(raw))
    except MismatchError as wrong:
        raise PlanError(f"{where}: {wrong}", f"{_advice(wrong)}; nothing was queued") from None
    if not (task.title.strip() or task.text.strip()):
        raise PlanError(f"{where} has neither a title nor a text", "write what is to be done; nothing was queued")
    outside = next((each for each in task.touches if not is_inside(each)), None)
    if outside is not None:
        hint = "name paths or patterns inside the repository; nothing was queued"
        raise PlanError(f"{where}: it cannot touch {outside!r}", hint)
    title = one_line(task.title, LONGEST_TITLE) if task.title.strip() else title_of(task.text)
    return replace(task, title=title, text=task.text.strip() or task.title.strip())


def _advice(wrong: MismatchError) -> str:
    names = [str(each.key[0]) for each in wrong.misfits if isinstance(each, UnknownKey)]
    if not names:
        return "`llmc task import --help` shows a plan"
    meant = _field_meant(names[0])
    return f"did you mean `{meant}`?" if meant else f"a task has {', '.join(sorted(_RECORD.types))}"


def _field_meant(word: str) -> str | None:
    """The field that a word that is none was to be."""
    name = word.lower().replace("-", "_")
    near = nearest_word(name, _FIELDS, _LIKENESS) if len(name) >= _SHORTEST else None
    return _MEANT.get(name) or near


# --- the two forms ----------------------------------------------------------------------------------


def _from_toml(text: str, name: str) -> list[dict[str, object]]:
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as wrong:
        raise PlanError(f"{name} is not valid TOML: {wrong}", "fix it; nothing was queued") from None
    rows = document.pop("task", [])
    if document or not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        found = next(iter(document), "task")
        raise PlanError(f"{name} has {found!r} where only [[task]] tables may be", "fix it; nothing was queued")
    return [{key: _listed(value) if key in _LISTS else value for key, value in row.items()} for row in rows]


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


def _from_markdown(text: str) -> list[dict[str, object]]:
    """What stands above the first heading is for people; a heading inside a fenced block is none."""
    found: list[dict[str, object]] = []
    lines: list[str] = []
    fence = ""
    for line in text.splitlines():
        heading = _HEADING.fullmatch(line) if not fence else None
        if heading is not None:
            _end(found, lines)
            found.append({"title": heading["title"]})
            lines = []
            continue
        fence = _fence_after(fence, line)
        lines.append(line)
    _end(found, lines)
    if fence and found:
        hint = f"close it by a line of {fence}, or the tasks below it are its text; nothing was queued"
        raise PlanError(f"task {found[-1]['title']!r} has a code block that does not end", hint)
    return found


def _fence_after(fence: str, line: str) -> str:
    mark = _FENCE.match(line)
    if mark is None:
        return fence
    if not fence:
        return mark["fence"]
    closes = mark["fence"].startswith(fence) and not line.strip().strip(fence[0])
    return "" if closes else fence


def _end(found: list[dict[str, object]], lines: Sequence[str]) -> None:
    """The fields right below the heading, then the text."""
    if not found:
        return
    task, rest = found[-1], [*lines]
    while rest and not rest[0].strip():
        rest.pop(0)
    while rest and (field := _FIELD.fullmatch(rest[0].strip())) and _is_field(field["name"], task):
        task[field["name"].lower()] = _value(field["name"].lower(), field["value"].strip())
        rest.pop(0)
    task["text"] = "\n".join(rest)


def _is_field(name: str, task: Mapping[str, object]) -> bool:
    meant = None if name.lower() in _FIELDS else _field_meant(name)
    if meant is not None:
        raise PlanError(
            f"task {task['title']!r} has no field {name!r}",
            f"write `{meant}: ...`, or begin its text with another word; nothing was queued",
        )
    return name.lower() in _FIELDS


def _value(name: str, value: str) -> object:
    if name in _LISTS:
        return [part.strip() for part in value.split(",") if part.strip()]
    if name == "priority":
        return int(value) if re.fullmatch(r"[+-]?\d{1,9}", value) else value
    if name in ("hold", "auto_accept"):
        return {"true": True, "yes": True, "false": False, "no": False}.get(value.lower(), value)
    return value


# --- all of them together ---------------------------------------------------------------------------


def _refuse_doubles(planned: Sequence[PlannedTask], name: str) -> None:
    titles = [each.title for each in planned]
    double = (
        next((title for title in titles if titles.count(title) > 1), None) if len({*titles}) < len(titles) else None
    )
    if double is not None:
        raise PlanError(f"the title {double!r} is there twice in {name}", "give each task its own; nothing was queued")


def after_ids(planned: Sequence[PlannedTask], known: Collection[str], first: int) -> list[tuple[str, ...]]:
    """What each comes after, by id, when the first of them is numbered `first`. `known`: tasks that are there."""
    ids = {each.title: f"t{number}" for number, each in enumerate(planned, first)}  # as `_read` has cut them
    spaced = {_spaced(title): task_id for title, task_id in ids.items()}
    found = [tuple(dict.fromkeys(_ids_of(each, spaced, known))) for each in planned]
    titles = {task_id: title for title, task_id in ids.items()}
    cycle = find_cycle(dict(zip(ids.values(), found, strict=True)))
    if cycle:
        words = " -> ".join(repr(titles[each]) for each in cycle)
        raise PlanError(f"these tasks wait for each other: {words}", "leave one `after` out; nothing was queued")
    return found


def _ids_of(task: PlannedTask, ids: Mapping[str, str], known: Collection[str]) -> Iterator[str]:
    """A title may have commas of its own: what is none by itself is read on to the next of them."""
    rest = task.after
    while rest:
        heads = ((many, _id_of(", ".join(rest[:many]), ids, known)) for many in range(1, len(rest) + 1))
        many, found = next((each for each in heads if each[1]), (0, ""))
        if not found:
            hint = "name a title of the plan, or the id of a task that is there; nothing was queued"
            raise PlanError(f"task {task.title!r} comes after {rest[0]!r}, but there is no such task", hint)
        yield found
        rest = rest[many:]


def _id_of(named: str, ids: Mapping[str, str], known: Collection[str]) -> str:
    title = _spaced(one_line(named, LONGEST_TITLE))
    return ids.get(title, named if number_of(named) is not None and named in known else "")


def _spaced(title: str) -> str:
    return ", ".join(part.strip() for part in title.split(","))


def as_task(planned: PlannedTask, after: tuple[str, ...], at: float) -> Task:
    from llmc.core.tasks.changes import new_task

    fields = {name: getattr(planned, name) for name in ("worker", "agent", "machine", "priority", "touches")}
    return new_task(
        planned.text, at, title=planned.title, after=after, hold=planned.hold, auto_accept=planned.auto_accept, **fields
    )
