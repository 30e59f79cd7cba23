"""The scripted model behind all faces: what it answers to which request, and what it has heard. No network."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass, field

from testing.models.conversation import Script, answers_since_prompt, prompts_in, step_at, steps_for
from testing.models.face import Request, auxiliary_answer
from testing.models.heard import Heard
from testing.models.steps import Drop, Fail, Step
from testing.models.tokens import Bill, Tariff, Tokens, always_the_same

Place = tuple[str, int, int]
"""A step: of which session, for which prompt, where in the script."""


@dataclass(slots=True)
class Model:
    """Many connections ask it at once."""

    script: Script = lambda _prompt: ()
    requests: list[Request] = field(default_factory=list)
    heard: Heard = field(default_factory=Heard)
    tariff: Tariff = always_the_same
    bills: list[Bill] = field(default_factory=list)
    _failures: Counter[Place] = field(default_factory=Counter)
    """How often each failing step was played."""
    _answers: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, request: Request) -> Step:
        with self._lock:
            self.requests.append(request)
            if request.auxiliary:
                return auxiliary_answer(request)
            self.heard.hear(request.session, request.turns)
            return self._next_step(request)

    def price(self) -> Tokens:
        """Of the next answer; no two of them share one."""
        with self._lock:
            self._answers += 1
            return self.tariff(self._answers - 1)

    def bill(self, request: Request) -> None:
        """Its answer was told to its end."""
        with self._lock:
            self.bills.append(Bill(_model_of(request), request.auxiliary, request.tokens))

    def prompts(self) -> list[str]:
        with self._lock:
            return list(self.heard.prompts)

    def _next_step(self, request: Request) -> Step:
        """A failure that was played often enough is as if it had never been in the script."""
        prompt = (request.session, len(prompts_in(request.turns)))
        steps = steps_for(request.turns, self.script)
        places = [at for at, step in enumerate(steps) if not self._is_spent(step, (*prompt, at))]
        index = answers_since_prompt(request.turns)
        step = step_at([steps[at] for at in places], index)
        if isinstance(step, Fail | Drop):
            self._failures[*prompt, places[index]] += 1
        return step

    def _is_spent(self, step: Step, place: Place) -> bool:
        return isinstance(step, Fail | Drop) and self._failures[place] >= step.times


def _model_of(request: Request) -> str:
    """Google's API has it in the path: `.../models/NAME:streamGenerateContent`."""
    return str(request.body.get("model") or request.path.rpartition("/")[2].partition(":")[0])
