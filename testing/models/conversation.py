"""What was said so far, as every API tells it with each request, and which step of the script comes next."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from testing.models.script import steps_in
from testing.models.steps import Step, Text

GREETING = Text("Hello from the model. What should I work on next?")
FAREWELL = Text("All done: the change is in place.")

Script = Callable[[str], Sequence[Step]]
"""From a prompt to the steps of its answers."""


class Speaker(StrEnum):
    USER = "user"
    MODEL = "model"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class Turn:
    speaker: Speaker
    text: str = ""


def prompts_in(turns: Sequence[Turn]) -> tuple[str, ...]:
    return tuple(turn.text for turn in turns if turn.speaker is Speaker.USER)


def answers_since_prompt(turns: Sequence[Turn]) -> int:
    """How often the model has answered since the newest prompt.

    One answer may be told as several parts, and the last part may be the broken half of the very answer that is asked
    for again.
    """
    last = max((at for at, turn in enumerate(turns) if turn.speaker is Speaker.USER), default=-1)
    speakers = [turn.speaker for turn in turns[last + 1 :]]
    return sum(1 for here, after in itertools.pairwise(speakers) if here is Speaker.MODEL and after is not here)


def steps_for(turns: Sequence[Turn], script: Script) -> Sequence[Step]:
    """The words in the newest prompt, otherwise what the script has for it."""
    prompts = prompts_in(turns)
    newest = prompts[-1] if prompts else ""
    return steps_in(newest) or script(newest) or (GREETING,)


def step_at(steps: Sequence[Step], index: int) -> Step:
    return steps[index] if index < len(steps) else FAREWELL
