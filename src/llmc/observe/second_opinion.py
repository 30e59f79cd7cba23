"""A second opinion on screens that no pack knows, from a language model. Never waited for, and never asked twice."""

from __future__ import annotations

import os
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from threading import Event, Lock

from llmc.config.sections import Classifier
from llmc.core.screen.assessment import Assessment
from llmc.core.screen.second_opinion import question, read_answer
from llmc.errors import LlmcError
from llmc.host.background import Errands
from llmc.host.web import NoAnswerError, Response, post_json
from llmc.root import Root
from llmc.values import Value

TRIES = 3
FIRST_PAUSE_SECS = 1.0
LONGEST_PAUSE_SECS = 30.0
HOUR = 3600.0
REMEMBERED = 500
AT_ONCE = 2
SURE_ENOUGH = 0.5
WORTH_ANOTHER_TRY = frozenset((408, 409, 425, 429, 500, 502, 503, 504, 529))


class NoOpinionError(LlmcError):
    """The model was asked and has said nothing that can be used."""


class Asked(Value):
    """One screen."""

    name: str
    digest: str
    text: str
    cli: str
    title: str


class SecondOpinion:
    """`answered` hears the name of each terminal that there is an opinion on now, in another thread."""

    def __init__(
        self,
        settings: Callable[[], Classifier],
        root: Root,
        complain: Callable[[str], object],
        answered: Callable[[], None],
    ) -> None:
        self._settings = settings
        self._root = root
        self._complain = complain
        self._wake = answered
        self._errands = Errands(complain, AT_ONCE)
        self._known: OrderedDict[str, Assessment | None] = OrderedDict()
        self._spent: deque[float] = deque()
        self._lock = Lock()
        self._over = Event()
        self.answered: deque[str] = deque()
        """Terminals that should be looked at again."""

    def on(self, asked: Asked, screen: Assessment) -> Assessment | None:
        """What is known of this screen. Where nothing is, and the pack is unsure, the model is asked meanwhile."""
        settings = self._settings()
        if screen["state"] != "UNKNOWN" and screen["confidence"] >= SURE_ENOUGH:
            return None
        with self._lock:
            if asked.digest in self._known:
                return self._known[asked.digest]
        key = find_key(settings.key_variable, self._root) if settings.model else ""
        if key:
            self._remember(asked.digest, None)  # first: the answer may be there at once
            if not self._errands.run("the classifier", lambda: self._ask(settings, key, asked)):
                self._forget(asked.digest)
        return None

    def close(self) -> None:
        self._over.set()

    def _ask(self, settings: Classifier, key: str, asked: Asked) -> None:
        body = question(settings.model, asked.text, asked.cli, asked.title)
        opinion = read_answer(self._answer(settings, key, body).body)
        if opinion is None:
            raise NoOpinionError("the model's answer has not the form that was asked for")
        self._remember(asked.digest, opinion)
        self.answered.append(asked.name)
        self._wake()

    def _answer(self, settings: Classifier, key: str, body: object) -> Response:
        pause = FIRST_PAUSE_SECS
        for turn in range(TRIES):
            self._spend(settings)
            try:
                response = self._post(settings, key, body)
            except NoAnswerError:
                if turn == TRIES - 1:
                    raise
            else:
                if response.ok:
                    return response
                if response.status not in WORTH_ANOTHER_TRY or turn == TRIES - 1:
                    raise NoOpinionError(f"it answered {response.status}")
                pause = max(pause, response.retry_after_secs or 0.0)
            if self._over.wait(min(pause, LONGEST_PAUSE_SECS)):
                break
            pause *= 2
        raise NoOpinionError("nobody waits for it any more")

    def _post(self, settings: Classifier, key: str, body: object) -> Response:
        address = settings.base_url.rstrip("/") + "/chat/completions"
        return post_json(address, body, headers={"Authorization": f"Bearer {key}"}, timeout=settings.timeout_secs)

    def _spend(self, settings: Classifier) -> None:
        now = time.monotonic()
        with self._lock:
            while self._spent and now - self._spent[0] > HOUR:
                self._spent.popleft()
            if len(self._spent) >= settings.max_per_hour:
                raise NoOpinionError(f"the {settings.max_per_hour} requests of this hour are used up")
            self._spent.append(now)

    def _remember(self, digest: str, opinion: Assessment | None) -> None:
        with self._lock:
            self._known[digest] = opinion
            while len(self._known) > REMEMBERED:
                self._known.popitem(last=False)

    def _forget(self, digest: str) -> None:
        with self._lock:
            self._known.pop(digest, None)


def find_key(variable: str, root: Root) -> str:
    """From the environment, else from the `.env` file in the root; empty without one."""
    given = os.environ.get(variable, "").strip()
    if given:
        return given
    try:
        with open(root.inside(".env"), encoding="utf-8") as file:
            lines = file.read().splitlines()
    except (OSError, ValueError):
        return ""
    for line in lines:
        name, equals, value = line.strip().removeprefix("export ").partition("=")
        if equals and name.strip() == variable:
            return value.strip().strip("'\"")
    return ""
