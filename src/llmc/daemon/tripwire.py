"""Tells when something changes in the person's checkout, or where nobody works, while unfenced agents do.

At rest it costs nothing: somebody has to say that an agent did something.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from llmc.core.notice import plain_notice
from llmc.core.tripwire import Trespass, TripwireLook, trespass_words, trespasses
from llmc.daemon.side_job import SideJob
from llmc.errors import LlmcError
from llmc.model import Json
from llmc.observe.tripwire import CHECKOUT, look_for_trespasses
from llmc.perform.notices import call
from llmc.root import quoted
from llmc.site import Site
from llmc.store.event_log import LoggedEvent
from llmc.values import Value

SOON_SECS = 0.3
REST = 20
"""For each second of looking it rests this many."""


class _Seen(Value):
    look: TripwireLook
    at_unix: float
    seconds: float


class Tripwire:
    """`wake` is called when a look is over."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self._job: SideJob[_Seen] = SideJob("tripwire", wake)
        self.moments, self.close = self._job.moments, self._job.close
        self._last: _Seen | None = None
        self._rested = 0.0

    def changed(self) -> None:
        """An agent may have done something."""
        self._job.soon(max(SOON_SECS, self._rested - time.monotonic()))

    def begin(self, site: Site) -> None:
        last = self._last
        self._job.begin(lambda: _look(site, last))

    def collect(self) -> str:
        """What kept it from looking, in words."""
        came = self._job.collect()
        if isinstance(came, _Seen):
            self._last, self._rested = came, time.monotonic() + came.seconds * REST
        elif isinstance(came, LlmcError | OSError):
            self._last = None
            return f"changes in your checkout are not noticed: {came}"
        return ""


def _look(site: Site, last: _Seen | None) -> _Seen:
    at_unix, began = time.time(), time.monotonic()
    look = look_for_trespasses(site, last.at_unix if last is not None else at_unix)
    for found in trespasses(last.look, look) if last is not None else ():
        _tell(site, found)
    if last is not None:  # where nobody could look this time, it goes on from what was seen before
        look = TripwireLook({**last.look.places, **look.places}, look.at_work)
    return _Seen(look, at_unix, time.monotonic() - began)


def _tell(site: Site, found: Trespass) -> None:
    who = found.suspects[0]
    place = site.config.repo.source if found.place == CHECKOUT else site.root.worktree(found.place)
    where = f"your checkout ({place})" if found.place == CHECKOUT else f"the worktree of {found.place}"
    advice = f"see `git -C {quoted(place)} status`; `llmc logs {who}` shows what {who} did"
    words = f"{who}: {trespass_words(found, where, advice)}"
    data: dict[str, Json] = {
        "tripwire": found.place or "checkout",
        "changed": list(found.changed),
        "suspects": list(found.suspects),
    }
    site.ledger.write(LoggedEvent(site.now(), who, "notice", detail=words, data=data))
    call(site, plain_notice(who, "tripwire", words))
