"""The prompts that reached the model: each as often as it was submitted, however often the CLI repeats its history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(slots=True)
class Heard:
    prompts: list[str] = field(default_factory=list)
    """In the order of their first arrival."""
    _by_session: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def hear(self, session: str, told: Sequence[str]) -> None:
        """Every request tells all prompts of its conversation: only what follows the part known before is new."""
        known = self._by_session.get(session, ())
        self.prompts.extend(told[_common(known, told) :])
        self._by_session[session] = tuple(told)


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """The length of the common beginning. A conversation that is shorter than before was begun anew."""
    if len(other) < len(one):
        return 0
    return next((at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), len(one))
