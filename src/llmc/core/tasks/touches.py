"""Whether two tasks may change the same files, by the patterns of paths that they are expected to touch. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import lru_cache

_WILD = "*?["
_ANY_DEPTH = "**"


def is_inside(pattern: str) -> bool:
    """Whether it can mean a file of the repository."""
    return not pattern.startswith(("/", "~")) and ".." not in pattern.split("/")


def first_meeting(ours: Iterable[str], theirs: Iterable[str]) -> str:
    """A pattern of theirs that may mean a file of ours; empty when there is none. A path is a pattern, too."""
    mine = tuple(ours)
    return next((their for their in theirs for our in mine if may_meet(our, their)), "")


@lru_cache(maxsize=20_000)
def may_meet(one: str, other: str) -> bool:
    """Never False where a file fits both. What names a directory means all that is in it."""
    return _meet(_parts(one), _parts(other), {})


def _parts(pattern: str) -> tuple[str, ...]:
    return tuple(part for part in pattern.split("/") if part not in ("", "."))


Known = dict[tuple[tuple[str, ...], tuple[str, ...]], bool]


def _meet(one: tuple[str, ...], other: tuple[str, ...], known: Known) -> bool:
    """Each pair of rests is looked at once: with many `**` there are few pairs, and no end of ways to them."""
    pair = (one, other)
    if pair not in known:
        known[pair] = _rests_meet(one, other, known)
    return known[pair]


def _rests_meet(one: tuple[str, ...], other: tuple[str, ...], known: Known) -> bool:
    if not one or not other:
        return True  # one of them is a directory above the other
    if other[0] == _ANY_DEPTH and one[0] != _ANY_DEPTH:
        one, other = other, one
    if one[0] != _ANY_DEPTH:
        return _part_meets(one[0], other[0]) and _meet(one[1:], other[1:], known)
    if _meet(one[1:], other, known):
        return True
    return _meet(one, other[1:], known) if len(other) > 1 else _may_be_directory(other[0])


def _may_be_directory(part: str) -> bool:
    """The last part of a path: with an ending it names a file."""
    return "." not in part and not _is_wild(part)


def _part_meets(one: str, other: str) -> bool:
    if not _is_wild(other):
        return fnmatchcase(other, one) or one == other
    if not _is_wild(one):
        return fnmatchcase(one, other)
    return _agree(_before_wild(one), _before_wild(other)) and _agree(_after_wild(one)[::-1], _after_wild(other)[::-1])


def _is_wild(part: str) -> bool:
    return any(sign in part for sign in _WILD)


def _before_wild(part: str) -> str:
    return part[: min(part.index(sign) for sign in _WILD if sign in part)]


def _after_wild(part: str) -> str:
    return part[max(part.rindex(sign) for sign in (*_WILD, "]") if sign in part) + 1 :]


def _agree(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)
