"""Looking at terminals: what each of them shows, and what its agent tells, becomes its status."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from itertools import groupby
from threading import Lock
from typing import Any

from llmc.core.delivery.texts import screen_digest
from llmc.core.dialogs.dialog import as_json
from llmc.core.screen.assessment import Assessment, TerminalStatus, assessment
from llmc.core.screen.classify import Pack, ScreenReading, read_screen
from llmc.core.screen.fusion import is_contested, overtaken_at, told_by_agent
from llmc.core.screen.readiness import QUIET_SECS, assess, is_stable, look_again, quiet_steps, quieter
from llmc.errors import LlmcError
from llmc.host.processes import remind_of_children
from llmc.observe.second_opinion import Asked, SecondOpinion
from llmc.observe.watched_terminal import Subject
from llmc.store.status_cache import Complaints
from llmc.tmux.parsing import Pane
from llmc.values import Value

SETTLE_SECS = 1.0
"""Between two looks at a screen that has just changed."""
CONTESTED_SECS = 0.2
"""The same where it says for sure what the agent has not told: somebody may be waiting to hear of that."""


class Observation(Value):
    """What came of one look."""

    subject: Subject
    pane: Pane
    pack: Pack
    stable_looks: int
    """That it takes until the screen counts as stable."""
    reading: ScreenReading
    screen: Assessment
    """What the screen looks like, at rest or not."""
    told: Assessment | None
    """By the agent itself."""
    status: TerminalStatus
    called: bool
    """Somebody should hear of it."""
    before: TerminalStatus | None
    """At the last look."""

    @property
    def changed(self) -> bool:
        """Its screen is not as it was at the last look."""
        return self.status["stable_count"] == 0

    @property
    def stable(self) -> bool:
        return is_stable(self.status, self.stable_looks)

    @property
    def moved(self) -> bool:
        return self.before is not None and self.before["state"] != self.status["state"]


class Readings:
    """Remembers what was seen, and writes nothing. One thread looks at a time."""

    def __init__(
        self,
        complaints: Complaints,
        *,
        adviser: SecondOpinion | None = None,
        stable_looks: int | None = None,
        settle_secs: float = SETTLE_SECS,
        quiet_secs: float = QUIET_SECS,
    ) -> None:
        self.subjects: Mapping[str, Subject] = {}
        self._complain = complaints.complain
        self._settled = complaints.settled
        self._adviser = adviser
        self._stable_looks = stable_looks
        self.settle_secs = settle_secs
        self._quiet_secs = quiet_secs
        self._last: dict[str, Observation] = {}
        self._recalled: dict[str, TerminalStatus] = {}
        self._followed = Lock()
        """Nothing is kept of a terminal that went away while it was looked at."""

    def follow(self, subjects: Mapping[str, Subject]) -> None:
        """Exactly these from now on. What was known of others is forgotten here; their files are not touched."""
        with self._followed:
            before, self.subjects = self.subjects, dict(subjects)
            for subject in before.values():
                self._drop_unless_followed(subject)

    def look(self, names: Iterable[str], keep: Callable[[list[Observation]], None]) -> list[Observation]:
        """Looks at these, all of one server in two questions. A server that does not answer is complained of.

        `keep` gets what was seen of those that are still followed, and none of them is parted with meanwhile.
        """
        there = [subject for name in names if (subject := self.subjects.get(name)) is not None]
        seen: list[Observation] = []
        for server, group in groupby(sorted(there, key=_server), key=_server):
            try:
                seen += self._look_at_server(list(group))
            except LlmcError as unknown:
                self._complain(server, unknown.what)
        with self._followed:
            still_there = [each for each in seen if self._drop_unless_followed(each.subject)]
            keep(still_there)
        return still_there

    def _drop_unless_followed(self, subject: Subject) -> bool:
        """Whether it is followed. Another one of its name begins anew."""
        now = self.subjects.get(subject.name)
        if now is not None and now.place == subject.place:
            return True
        self._last.pop(subject.name, None)
        return False

    def again_in(self, name: str) -> float | None:
        """When to look once more if nothing changes until then; None when it is stable."""
        last = self._last.get(name)
        if last is None:
            return None
        # One look more than it takes to be stable: the last one may ask the model.
        if last.status["stable_count"] > last.stable_looks:
            moments = (_overtaken_in(last), _quieter_in(last, self._quiet_secs))
            return min((secs for secs in moments if secs is not None), default=None)
        return min(CONTESTED_SECS, self.settle_secs) if _is_contested(last) else self.settle_secs

    def changed(self, name: str, pane: Pane) -> bool:
        """Whether tmux tells anything else of the pane than at the last look."""
        last = self._last.get(name)
        return last is None or _facts(last.pane) != _facts(pane)

    def recall(self, name: str, status: Mapping[str, Any]) -> None:
        """What an earlier watcher left in the cache: nobody is called a second time for the same."""
        recalled = _recalled(status)
        if recalled is not None and name not in self._last:
            self._recalled[name] = recalled

    def _look_at_server(self, subjects: list[Subject]) -> list[Observation]:
        tmux = subjects[0].tmux
        panes = {pane.id: pane for pane in tmux.all_panes()}
        there = [s for s in subjects if s.pane in panes and panes[s.pane].server_pid == s.server_pid]
        at = time.time()  # before the screens are read: what happens from now on, they may not show
        texts = tmux.captures([subject.pane for subject in there])
        self._settled(subjects[0].server)
        seen = []
        for subject, text in zip(there, texts, strict=True):
            try:
                seen.append(self._see(subject, panes[subject.pane], text, at))
                self._settled(_eyes(subject))
            except LlmcError as broken:
                self._complain(_eyes(subject), f"{subject.name}: {broken.what}")
        return seen

    def _see(self, subject: Subject, pane: Pane, captured: str, now: float) -> Observation:
        """From what the screen shows, and what the agent tells, to what counts now."""
        pack, last = subject.pack(pane), self._last.get(subject.name)
        stable_looks = self._stable_looks or pack.stable_looks
        shown = subject.screen(pane, captured)
        digest = screen_digest(shown.text, pane.title, pane.command, dead=pane.dead)
        reading = read_screen(pack, shown)
        question = Asked(subject.name, digest, shown.text, subject.cli, pane.title)
        screen = _exited(subject, pane) if pane.dead else self._screen(reading, question, last, now)
        reported, session = subject.told(pane) if not pane.dead else (None, None)
        told = told_by_agent(reported, session)

        before = last.status if last else self._recalled.pop(subject.name, None)
        seen = look_again(before, now, digest)
        assessed, called = assess(seen, screen, told, stable_looks, subject.quiet_after_secs)
        asked = None if pane.dead or reading.dialog is None else as_json(reading.dialog)
        status: TerminalStatus = {**assessed, **_place(subject, pane), "pack": pack.label}
        status |= {"session": session, "asked": asked}
        earlier = last.status if last else None
        found = Observation(subject, pane, pack, stable_looks, reading, screen, told, status, called, earlier)
        self._last[subject.name] = found
        return found

    def _screen(self, reading: ScreenReading, asked: Asked, last: Observation | None, now: float) -> Assessment:
        """What it says. Where the pack is unsure of a screen at rest, time tells more, and a model may know."""
        says = reading.says_what_is_asked
        if last is None or last.status["last_snapshot_hash"] != asked.digest or not last.stable:
            return says
        says = quieter(says, now - last.status["last_change_unix"], self._quiet_secs)
        return (self._adviser.on(asked, says) if self._adviser is not None else None) or says


def _server(subject: Subject) -> str:
    return subject.server


def _eyes(subject: Subject) -> str:
    """What complaints about reading its screen are kept under."""
    return f"screen of {subject.name}"


def _is_contested(last: Observation) -> bool:
    return last.told is not None and is_contested(
        last.told, {**last.screen, "at_unix": last.status["last_change_unix"]}
    )


def _overtaken_in(last: Observation) -> float | None:
    """When a screen at rest will count for more than what the agent last told; None: it does already, or never."""
    at = overtaken_at(last.told, last.status["screen"]) if last.told is not None else None
    left = at - last.status["last_polled_unix"] if at is not None else 0.0
    return left if left > 0 else None


def _quieter_in(last: Observation, first_secs: float) -> float | None:
    """When there is more to say of a screen that is at rest; None: there is nothing."""
    rests = last.status["last_polled_unix"] - last.status["last_change_unix"]
    left = [step - rests for step in quiet_steps(first_secs) if step > rests]
    return left[0] if left and last.screen.get("guess") else None


def _facts(pane: Pane) -> tuple[object, ...]:
    return pane.title, pane.command, pane.dead, pane.cursor, pane.width, pane.height, pane.alternate, pane.in_mode


def _exited(subject: Subject, pane: Pane) -> Assessment:
    how = f" (exit code {pane.exit_code})" if pane.exit_code is not None else ""
    if pane.exit_signal is not None:
        how = f" (signal {pane.exit_signal})"
    if not how:
        remind_of_children(pane.server_pid)  # tmux 3.3a misses the end of its children now and then
    clear = f"`llmc pty close {subject.name}` clears it away"
    return assessment("process", "EXITED", f"its program has ended{how}", (clear,))


def _place(subject: Subject, pane: Pane) -> TerminalStatus:
    return {
        "id": subject.name,
        "cwd": subject.cwd,
        "cli_type": subject.cli or subject.program(pane),
        "tmux_server": subject.server,
        "tmux_session": pane.session,
        "tmux_window": pane.window,
        "tmux_pane": pane.id,
    }


def _recalled(status: Mapping[str, Any]) -> TerminalStatus | None:
    """Checked: somebody may have edited the file."""
    try:
        return {
            "state": str(status["state"]),
            "last_snapshot_hash": str(status["last_snapshot_hash"]),
            "last_change_unix": float(status["last_change_unix"]),
            "last_polled_unix": float(status["last_polled_unix"]),
            "stable_count": int(status["stable_count"]),
            "since_unix": float(status["since_unix"]),
            "worked": status["state"] == "BUSY",
            "called_for": str(status["called_for"]),
        }
    except (KeyError, TypeError, ValueError):
        return None
