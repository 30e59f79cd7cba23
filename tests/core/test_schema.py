"""One reader for what files say: values that fit become dataclasses, everything else is told with its place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import pytest

from llmc.core.schema import FLAG, MismatchError, MissingKey, UnknownKey, WrongValue, by_name, record_of, whole
from llmc.core.setting import option, required, rows, seconds, settings_record


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True)
class Wheel:
    size: int
    colour: Colour | None = None


@dataclass(frozen=True)
class Cart:
    name: str
    wheels: tuple[Wheel, ...] = ()
    loads: Mapping[str, float] = field(default_factory=dict)
    covered: bool = False


CART = record_of(Cart, ignored=("weight",))


def misfits(raw: object) -> list[str]:
    with pytest.raises(MismatchError) as caught:
        CART.read(raw)
    return str(caught.value).split("; ")


def test_what_fits_becomes_the_dataclass() -> None:
    raw = {"name": "a", "wheels": [{"size": 3, "colour": "red"}], "loads": {"hay": 2}, "weight": "?"}
    assert CART.read(raw) == Cart("a", (Wheel(3, Colour.RED),), {"hay": 2.0})
    assert CART.read({"name": "a", "wheels": [{"size": 0, "colour": None}]}).wheels == (Wheel(0),)


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        ({"name": 3}, ["name must be text, not 3"]),
        ({}, ["name is missing"]),
        ({"name": "a", "colour": 1}, ["colour is not known to this version"]),
        ({"name": "a", "covered": 1}, ["covered must be true or false, not 1"]),
        ({"name": "a", "loads": {"hay": "much"}}, ["loads.hay must be a number, not 'much'"]),
        ({"name": "a", "loads": []}, ["loads must be an object, not []"]),
        (
            {"name": "a", "wheels": [{"size": 1}, {"size": -1, "colour": []}, 3]},
            [
                "wheels[1].size must be a count, not -1",
                "wheels[1].colour must be one of red, blue, not []",
                "wheels[2] must be an object, not 3",
            ],
        ),
    ],
)
def test_everything_that_does_not_fit_is_told_with_its_place(raw: object, told: list[str]) -> None:
    assert misfits(raw) == told


def test_what_is_nested_too_deeply_is_told() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    assert misfits({"name": "a", "wheels": deep})


@dataclass(frozen=True)
class Row:
    on: bool = required(FLAG, "whether")


@dataclass(frozen=True)
class Section:
    wait: float = option(seconds("5"), 5, "how long")
    count: int = option(whole(1, 3, "2"), 2, "how many")
    each: tuple[Row, ...] = rows(Row, "[{ on = true }]", "which")


def test_settings_have_a_stand_in_for_what_is_wrong_so_that_all_of_it_can_be_checked() -> None:
    sections = by_name(settings_record(Section).as_type("a table"))
    with pytest.raises(MismatchError) as caught:
        sections.read({"a": {"wait": 0, "count": 3, "each": [{"on": True}, {}], "x": 1}, "b": 3})
    assert caught.value.instead == {"a": Section(5, 3, (Row(True), Row(None))), "b": Section()}  # type: ignore[arg-type]
    assert [(type(misfit), misfit.key) for misfit in caught.value.misfits] == [
        (WrongValue, ("a", "wait")),
        (MissingKey, ("a", "each", 1, "on")),
        (UnknownKey, ("a", "x")),
        (WrongValue, ("b",)),
    ]
