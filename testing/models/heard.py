"""The prompts that reached the model: each as often as it was submitted, however often the CLI repeats its history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from testing.models.conversation import Speaker, Turn, prompts_in


@dataclass(frozen=True, slots=True)
class _Told:
    prompts: tuple[str, ...] = ()
    answers: int = 0


@dataclass(slots=True)
class Heard:
    prompts: list[str] = field(default_factory=list)
    """In the order of their first arrival."""
    _by_session: dict[str, _Told] = field(default_factory=dict)

    def hear(self, session: str, turns: Sequence[Turn]) -> None:
        """Every request tells its whole conversation: only what follows the part known before is new."""
        before = self._by_session.get(session, _Told())
        now = _Told(prompts_in(turns), sum(turn.speaker is Speaker.MODEL for turn in turns))
        self.prompts.extend(now.prompts[_known(before, now) :])
        self._by_session[session] = now


def _known(before: _Told, now: _Told) -> int:
    """How many of the prompts are known. A conversation that has become shorter was begun anew."""
    if len(now.prompts) < len(before.prompts) or now.answers < before.answers:
        return 0
    pairs = zip(before.prompts, now.prompts, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
