"""Regular expressions that cannot take long, whatever stands on the screen.

Python's engine goes back and tries again, and some patterns make it do so without end. Here a pattern is read before
it is used, and what it may cost at worst on the longest line is worked out. One that could cost too much is refused.
"""

from __future__ import annotations

import re
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

from llmc.core.screen import LONGEST_LINE

LONGEST_PATTERN = 600
MANY = 40
"""A repetition that may go on for longer counts as one that may fill the line."""
MOST_STEPS = LONGEST_LINE * LONGEST_LINE * 40
ONE_CHARACTER = {op.LITERAL, op.NOT_LITERAL, op.ANY, op.IN}
REPEATS = {op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT}
ASSERTIONS = {op.ASSERT, op.ASSERT_NOT}


class UnsafePatternError(ValueError):
    """The pattern is no regular expression, or could take too long."""


def safe_pattern(text: str) -> re.Pattern[str]:
    if len(text) > LONGEST_PATTERN:
        raise UnsafePatternError(f"it is longer than {LONGEST_PATTERN} characters")
    try:
        tree = parser.parse(text)
        compiled = re.compile(text)
    except (re.error, RecursionError, OverflowError) as wrong:
        raise UnsafePatternError(f"it is no regular expression: {wrong}") from None
    if compiled.flags & (re.MULTILINE | re.DOTALL):
        raise UnsafePatternError("a cue sees one line at a time: leave out (?m) and (?s)")
    starts = 1 if _is_anchored(tree) else LONGEST_LINE
    if starts * _cost(tree) > MOST_STEPS:
        raise UnsafePatternError("it could take too long: use fewer repetitions such as .* or anchor it with ^")
    return compiled


def _is_anchored(tree: Any) -> bool:  # noqa: ANN401 - what the standard library parses into has no types
    return bool(len(tree)) and tree[0] == (op.AT, op.AT_BEGINNING)


def _cost(tree: Any) -> int:  # noqa: ANN401
    """In how many ways it can be tried from one place."""
    ways = 1
    for code, value in tree:
        ways *= _ways(code, value)
    return ways


def _ways(code: Any, value: Any) -> int:  # noqa: ANN401
    if code in ONE_CHARACTER or code is op.AT:
        return 1
    if code is op.SUBPATTERN:
        return _cost(value[-1])
    if code is op.ATOMIC_GROUP:
        return _cost(value)
    if code is op.BRANCH:
        return sum(_cost(branch) for branch in value[1])
    if code in ASSERTIONS:
        return _cost(value[1])
    if code in REPEATS:
        return _repeated(*value)
    raise UnsafePatternError("it refers back to what it has matched: that is not possible here")


def _repeated(least: int, most: int, body: Any) -> int:  # noqa: ANN401
    if int(most) <= 1:
        return 1 + _cost(body)
    if any(code not in ONE_CHARACTER for code, _ in _flat(body)):
        raise UnsafePatternError("it repeats something that is not of one length: that could take too long")
    return LONGEST_LINE if int(most) > MANY else int(most) - int(least) + 1


def _flat(body: Any) -> Any:  # noqa: ANN401
    """What is repeated, without the group around it."""
    while len(body) == 1 and body[0][0] is op.SUBPATTERN:
        body = body[0][1][-1]
    return body
