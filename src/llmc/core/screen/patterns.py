"""Regular expressions that cannot take long, whatever stands on the screen.

Python's engine goes back and tries again, and some patterns make it do so without end. Here a pattern is read before
it is used, and what it may cost at worst on the longest line is worked out. One that could cost too much is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

from llmc.core.screen.screen import LONGEST_LINE
from llmc.values import Value

LONGEST_PATTERN = 600
MANY = 40
"""A repetition that may go on for longer counts as one that may fill the line."""
MOST_STEPS = LONGEST_LINE * LONGEST_LINE * 40
ONE_CHARACTER = {op.LITERAL, op.NOT_LITERAL, op.ANY, op.IN}
REPEATS = {op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT}
CATEGORIES = {
    op.CATEGORY_DIGIT: r"\d",
    op.CATEGORY_NOT_DIGIT: r"\D",
    op.CATEGORY_SPACE: r"\s",
    op.CATEGORY_NOT_SPACE: r"\S",
    op.CATEGORY_WORD: r"\w",
    op.CATEGORY_NOT_WORD: r"\W",
}
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
    if _searching(tree) > MOST_STEPS:
        raise UnsafePatternError("it could take too long: use fewer repetitions such as .* or anchor it with ^")
    return compiled


def is_spelled_out(text: str) -> bool:
    """Whether it matches one text alone."""
    return not text.startswith("(?") and all(code in (op.LITERAL, op.AT) for code, _ in parser.parse(text))


def _searching(tree: Any) -> int:  # noqa: ANN401 - what the standard library parses into has no types
    """How many steps it takes at most to look for it on one line."""
    if len(tree) == 1 and tree[0][0] is op.BRANCH:
        return sum(_searching(branch) for branch in tree[0][1][1])
    anchored = bool(len(tree)) and tree[0] == (op.AT, op.AT_BEGINNING)
    return _cost(tree).steps * (1 if anchored else LONGEST_LINE)


class Cost(Value):
    """In how many ways something can match at one place, and how many steps it takes to try them all."""

    ways: int = 1
    steps: int = 1


def _cost(tree: Any) -> Cost:  # noqa: ANN401
    ways, steps = 1, 1
    for (code, value), following in zip(tree, [*list(tree)[1:], None], strict=False):
        each = _cost_of(code, value, following)
        steps += ways * each.steps
        ways *= each.ways
    return Cost(ways, steps)


def _cost_of(code: Any, value: Any, following: Any) -> Cost:  # noqa: ANN401
    if code in ONE_CHARACTER or code is op.AT:
        return Cost()
    if code is op.SUBPATTERN:
        return _cost(value[-1])
    if code is op.ATOMIC_GROUP:
        return _cost(value)
    if code is op.BRANCH:
        branches = [_cost(branch) for branch in value[1]]
        return Cost(sum(each.ways for each in branches), sum(each.steps for each in branches))
    if code in ASSERTIONS:
        return _cost(value[1])
    if code in REPEATS:
        least, most, body = value
        return _repeated(least, most, body, following)
    raise UnsafePatternError("it refers back to what it has matched: that is not possible here")


def _repeated(least: int, most: int, body: Any, following: Any) -> Cost:  # noqa: ANN401
    if int(most) <= 1:
        once = _cost(body)
        return Cost(1 + once.ways, 1 + once.steps)
    parts = _flat(body)
    if any(code not in ONE_CHARACTER for code, _ in parts):
        raise UnsafePatternError("it repeats something that is not of one length: that could take too long")
    times = LONGEST_LINE if int(most) > MANY else int(most) - int(least) + 1
    ends_once = len(parts) == 1 and _never_matches(parts[0], following)
    return Cost(1 if ends_once else times, times)


def _flat(body: Any) -> Any:  # noqa: ANN401
    """What is repeated, without the group around it."""
    while len(body) == 1 and body[0][0] is op.SUBPATTERN:
        body = body[0][1][-1]
    return body


def _never_matches(repeated: Any, following: Any) -> bool:  # noqa: ANN401
    """Whether what follows is a character that is not repeated: then there is only one place where it can go on."""
    if following is None or following[0] is not op.LITERAL:
        return False
    code, value = repeated
    character = chr(following[1])
    if code is op.IN:
        return not re.match(_class_of(value), character, re.IGNORECASE)
    return bool(code is op.LITERAL and chr(value).casefold() != character.casefold())


def _class_of(items: Any) -> str:  # noqa: ANN401
    """The character class, written out again."""
    parts: dict[Any, Callable[[Any], str]] = {
        op.NEGATE: lambda _: "^",
        op.LITERAL: lambda value: re.escape(chr(value)),
        op.RANGE: lambda value: f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}",
        op.CATEGORY: lambda value: CATEGORIES[value],
    }
    return "[" + "".join(parts[code](value) for code, value in items) + "]"
