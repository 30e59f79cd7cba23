"""Tasks and what they come after, drawn: for a terminal, for Mermaid and for Graphviz. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

from llmc.core.display import one_line
from llmc.core.tasks.task import TaskView, number_of

_INSTEAD = {'"': "'", "\\": "/", "<": "(", ">": ")", "#": "no. "}


def _as_text(views: Sequence[TaskView]) -> str:
    """Each below the first of those that it comes after; the others of them are named beside it."""
    below: dict[str, list[TaskView]] = {}
    known = {view.task.id for view in views}
    for view in sorted(views, key=lambda view: number_of(view.task.id) or 0):
        parents = [each for each in view.task.after if each in known]
        below.setdefault(parents[0] if parents else "", []).append(view)
    return "\n".join(_tree(below))


def _tree(below: Mapping[str, Sequence[TaskView]]) -> Iterator[str]:
    stack = [(view, 0) for view in reversed(below.get("", ()))]
    while stack:
        view, depth = stack.pop()
        others = view.task.after[1:]
        after = f" (also after {', '.join(others)})" if others else ""
        yield f"{'  ' * depth}{view.task.id} {view.state.value}: {one_line(view.task.title)}{after}"
        stack += [(each, depth + 1) for each in reversed(below.get(view.task.id, ()))]


def _as_mermaid(views: Sequence[TaskView]) -> str:
    nodes = [f'  {view.task.id}["{_label(view)}"]' for view in views]
    edges = [f"  {each} --> {view.task.id}" for view in views for each in view.task.after]
    return "\n".join(["graph TD", *nodes, *edges])


def _as_dot(views: Sequence[TaskView]) -> str:
    nodes = [f'  {view.task.id} [label="{_label(view)}"];' for view in views]
    edges = [f"  {each} -> {view.task.id};" for view in views for each in view.task.after]
    return "\n".join(["digraph tasks {", *nodes, *edges, "}"])


def _label(view: TaskView) -> str:
    """Without what either language would take for its own."""
    title = "".join(_INSTEAD.get(sign, sign) for sign in one_line(view.task.title))
    return f"{view.task.id}: {title} ({view.state.value})"


FORMATS: Mapping[str, Callable[[Sequence[TaskView]], str]] = MappingProxyType(
    {"text": _as_text, "mermaid": _as_mermaid, "dot": _as_dot}
)
