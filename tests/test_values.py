"""A value behaves as a frozen dataclass does."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import FrozenInstanceError, asdict, field, fields, replace
from typing import ClassVar, Generic, TypeVar

import pytest

from llmc import values

T = TypeVar("T")


class Ours(values.Value):
    """With words of its own."""

    kind: ClassVar[str] = "ours"
    name: str
    count: int = 3
    among: Mapping[str, int] = field(default_factory=dict)
    seen: float = field(default=0.0, compare=False)

    @property
    def twice(self) -> int:
        return 2 * self.count


class Longer(Ours):
    end: str = ""


class Nothing(values.Value):
    pass


class Named(values.Value):
    name: str

    def __str__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Named) and other.name.lower() == self.name.lower()

    __hash__ = None  # type: ignore[assignment]


class Holds(values.Value, Generic[T]):
    content: T


def test_it_is_made_of_its_fields() -> None:
    assert [each.name for each in fields(Ours)] == ["name", "count", "among", "seen"]
    one = Ours("a", among={"b": 1})
    assert (one.name, one.count, one.among, one.seen, one.kind, one.twice) == ("a", 3, {"b": 1}, 0.0, "ours", 6)
    assert Ours("a").among is not Ours("a").among
    assert Longer("a", 1, {}, 2.0, "z") == Longer(end="z", name="a", count=1)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'name'"):
        Ours()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="unexpected keyword argument 'size'"):
        Ours("a", size=1)  # type: ignore[call-arg]


def test_it_is_told_from_others_by_what_it_compares() -> None:
    assert Ours("a", seen=1.0) == Ours("a", seen=2.0)
    assert Ours("a") != Ours("b")
    assert Ours("a") != Longer("a")
    assert Ours("a") != "a"
    assert Nothing() == Nothing()
    assert {Nothing(), Nothing()} == {Nothing()}
    assert hash(Longer("a", among=frozenset())) == hash(Longer("a", among=frozenset(), seen=5.0))  # type: ignore[arg-type]
    assert Named("A") == Named("a")


def test_it_cannot_be_changed() -> None:
    one = Ours("a")
    with pytest.raises(FrozenInstanceError):
        one.count = 4  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        del one.count  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        one.other = 4  # type: ignore[attr-defined]
    assert not hasattr(one, "__dict__")


def test_the_tools_for_dataclasses_take_it() -> None:
    assert dataclasses.is_dataclass(Ours)
    assert replace(Longer("a"), name="b", end="c") == Longer("b", end="c")
    assert asdict(Ours("a")) == {"name": "a", "count": 3, "among": {}, "seen": 0.0}
    match Longer("a", 5):
        case Longer(name, count, end=end):
            assert (name, count, end) == ("a", 5, "")
        case _:
            pytest.fail("it does not match itself")


def test_it_shows_what_it_holds() -> None:
    assert repr(Ours("a")) == "Ours(name='a', count=3, among={}, seen=0.0)"
    assert (str(Named("a")), repr(Named("a"))) == ("a", "Named(name='a')")
    assert (Ours.__doc__, Nothing.__doc__) == ("With words of its own.", "Nothing")


def test_it_may_hold_any_type() -> None:
    assert Holds[int](3) == Holds(3) != Holds("3")
    assert repr(Holds(3)) == "Holds(content=3)"
