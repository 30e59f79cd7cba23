"""The scripted model behind all faces: what it answers to which request, and what it has heard. No network."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from testing.models.conversation import Script, answers_since_prompt, prompts_in, step_at, steps_for
from testing.models.face import Request, auxiliary_answer
from testing.models.heard import Heard
from testing.models.steps import Drop, Fail, Step


@dataclass(slots=True)
class Model:
    """Many connections ask it at once."""

    script: Script = lambda _prompt: ()
    requests: list[Request] = field(default_factory=list)
    heard: Heard = field(default_factory=Heard)
    _failures: Counter[tuple[str, int, int]] = field(default_factory=Counter)
    """How often each failing step was played: by session, prompt and place in the script."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, request: Request) -> Step:
        with self._lock:
            self.requests.append(request)
            if request.auxiliary:
                return auxiliary_answer(request)
            prompts = prompts_in(request.turns)
            self.heard.hear(request.session, prompts)
            return self._next_step(request, len(prompts))

    def prompts(self) -> list[str]:
        with self._lock:
            return list(self.heard.prompts)

    def _next_step(self, request: Request, prompt: int) -> Step:
        """A failure that was played often enough is as if it had never been in the script."""
        steps = steps_for(request.turns, self.script)
        places = [at for at in range(len(steps)) if not self._is_spent(steps, at, (request.session, prompt, at))]
        index = answers_since_prompt(request.turns)
        step = step_at([steps[at] for at in places], index)
        if isinstance(step, Fail | Drop):
            self._failures[request.session, prompt, places[index]] += 1
        return step

    def _is_spent(self, steps: Sequence[Step], at: int, key: tuple[str, int, int]) -> bool:
        step = steps[at]
        return isinstance(step, Fail | Drop) and self._failures[key] >= step.times
