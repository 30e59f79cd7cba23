"""`[mcp]`, and the kinds of tools that an MCP server may offer."""

from __future__ import annotations

from llmc.core.schema import FLAG, MismatchError, ValueType, whole
from llmc.core.setting import option
from llmc.values import Value

TOOL_KINDS = ("read", "delegate", "message", "answer", "review", "accept")
USUAL_KINDS = ("read", "delegate", "message")
WORKER_KINDS = ("read", "delegate", "message", "review")
"""What an agent inside a worker gets at most: it answers for nobody, and accepts nothing."""


def _kinds(value: object) -> tuple[str, ...]:
    """As a list, or as `--allow` takes them."""
    given = value.split(",") if isinstance(value, str) else value
    if not isinstance(given, list) or not all(isinstance(each, str) for each in given):
        raise MismatchError
    names = tuple(dict.fromkeys(each.strip() for each in given if each.strip()))
    if unknown := [each for each in names if each not in TOOL_KINDS]:
        raise MismatchError(f"there are no tools of the kind {unknown[0]!r}")
    return names


KINDS = ValueType(f"a list of {', '.join(TOOL_KINDS)}", _kinds, '["read"]', "list of strings")


class McpSettings(Value):
    """What an agent inside a worker may do by the tools of LLMC."""

    max_depth: int = option(
        whole(1, 10, "2"),
        1,
        "how deep workers may delegate: 1 if what was delegated may not be delegated further",
    )
    max_tasks: int = option(
        whole(1, 1000, "20"),
        20,
        "how many tasks a worker may delegate for one task of its own; without one, how many may be open at once",
    )
    auto_accept: bool = option(
        FLAG,
        False,
        "let work that a worker has delegated, and a supervisor's own, land by `policy.auto_accept` as all other work",
    )
