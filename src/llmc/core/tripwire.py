"""What agents without a fence have changed where they have no business: judged by two looks, one after the other."""

from __future__ import annotations

from collections.abc import Mapping

from llmc.values import Value

LISTED = 3


class WatchedPlace(Value):
    """The person's checkout, or the worktree of a worker, at one moment."""

    content: frozenset[str]
    """A line for each branch and each file that is not as it was committed: what it is, a tab, and its state."""
    acted: str
    """Another one as soon as LLMC has done anything there."""
    at_rest: bool
    """Nobody has been given work there."""
    is_persons: bool = False
    """A program of the person's is at work there, or may be."""
    intruders: frozenset[str] = frozenset()
    """Workers that have a program in there, and another worktree of their own."""


class TripwireLook(Value):
    places: Mapping[str, WatchedPlace]
    at_work: frozenset[str]
    """The unfenced workers whose agents are in a turn."""


class Trespass(Value):
    place: str
    changed: tuple[str, ...]
    suspects: tuple[str, ...]


def trespasses(before: TripwireLook, now: TripwireLook) -> list[Trespass]:
    """What nobody else can have changed: neither LLMC, nor whoever works there, nor as far as it can be seen a person.

    With a program of an agent's in that place the person may be there as well.
    """
    found = []
    for name, place in now.places.items():
        old = before.places.get(name)
        if old is None or not (old.at_rest and place.at_rest) or old.acted != place.acted:
            continue
        changed = tuple(sorted({line.partition("\t")[0] for line in old.content ^ place.content}))
        suspects = old.intruders | place.intruders or (before.at_work | now.at_work) - {name}
        seen_there = bool(old.intruders | place.intruders)
        if changed and suspects and (seen_there or not place.is_persons):
            found.append(Trespass(name, changed, tuple(sorted(suspects))))
    return found


def trespass_words(found: Trespass, where: str, advice: str) -> str:
    """`where` is whose place it is: your checkout, or the worktree of somebody."""
    shown = ", ".join(found.changed[:LISTED])
    more = len(found.changed) - LISTED
    files = f"{shown} and {more} more" if more > 0 else shown
    who = found.suspects[0] if len(found.suspects) == 1 else f"one of {', '.join(found.suspects)}"
    told = f"{files} changed in {where} while {who} worked; no command of LLMC's did that, perhaps it was you"
    return f"{told}; {advice}"
