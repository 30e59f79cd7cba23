"""Looking at terminals: what each of them shows becomes its standing, and the standing goes into the cache."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from itertools import groupby
from threading import Lock
from typing import Any

from llmc.core.delivery.digest import screen_digest
from llmc.core.display import one_line
from llmc.core.screen.classify import Pack, Reading, read_screen
from llmc.core.screen.fusion import fuse, is_contested, is_overtaken, overtaken_at, told_by_agent
from llmc.core.screen.readiness import (
    QUIET_SECS,
    Call,
    Look,
    Opinion,
    Standing,
    is_stable,
    look_again,
    quiet_steps,
    quieter,
)
from llmc.errors import LlmcError
from llmc.observe.opinions import dialog_shown, exited, opinion_of, opinion_told, screen_alone
from llmc.observe.second_opinion import Asked, SecondOpinion
from llmc.observe.watched_terminal import Subject, Told
from llmc.store.status_cache import Complaints, Status, StatusCache
from llmc.tmux.parsing import Pane
from llmc.values import dataclass

LONGEST_SUMMARY = 200
SETTLE_SECS = 1.0
"""Between two looks at a screen that has just changed."""
CONTESTED_SECS = 0.2
"""The same where it says for sure what the agent has not told: somebody may be waiting to hear of that."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What came of one look."""

    subject: Subject
    pack: Pack
    reading: Reading
    standing: Standing
    status: Status
    call: Call | None
    stable: bool
    changed: bool
    """It is not as it was at the last look."""
    before: Status | None

    @property
    def moved(self) -> bool:
        return self.before is not None and self.before.state != self.status.state


@dataclass(frozen=True, slots=True)
class Kept:
    """What is remembered of a subject between two looks."""

    standing: Standing
    status: Status
    stable_looks: int
    pane: Pane
    told: Mapping[str, Any] | None
    """By the agent itself."""
    seen: Opinion
    """What the screen looks like, at rest or not."""


class Readings:
    """Remembers what was seen. One thread looks at a time."""

    def __init__(
        self,
        cache: StatusCache,
        complaints: Complaints,
        *,
        adviser: SecondOpinion | None = None,
        stable_looks: int | None = None,
        settle_secs: float = SETTLE_SECS,
        quiet_secs: float = QUIET_SECS,
    ) -> None:
        self.cache = cache
        self.subjects: Mapping[str, Subject] = {}
        self._complain = complaints.complain
        self._mended = complaints.mended
        self._adviser = adviser
        self._stable_looks = stable_looks
        self.settle_secs = settle_secs
        self._quiet_secs = quiet_secs
        self._kept: dict[str, Kept] = {}
        self._recalled: dict[str, Standing] = {}
        self._followed = Lock()
        """Nothing is kept of a terminal that went away while it was looked at."""

    def follow(self, subjects: Mapping[str, Subject]) -> None:
        """Exactly these from now on. What was known of others is forgotten here; their files are not touched."""
        with self._followed:
            before, self.subjects = self.subjects, dict(subjects)
            for subject in before.values():
                self._drop_unless_followed(subject)

    def look(self, names: Iterable[str]) -> list[Seen]:
        """Looks at these, all of one server in two questions. A server that does not answer is complained of."""
        there = [subject for name in names if (subject := self.subjects.get(name)) is not None]
        seen: list[Seen] = []
        for server, group in groupby(sorted(there, key=_server), key=_server):
            try:
                seen += self._look_at_server(list(group))
            except LlmcError as unknown:
                self._complain(server, unknown.what)
        with self._followed:
            still_there = [each for each in seen if self._drop_unless_followed(each.subject)]
            self._keep(still_there)
        return still_there

    def _drop_unless_followed(self, subject: Subject) -> bool:
        """Whether it is followed. Another one of its name begins anew."""
        now = self.subjects.get(subject.name)
        if now is not None and now.place == subject.place:
            return True
        self._kept.pop(subject.name, None)
        return False

    def again_in(self, name: str) -> float | None:
        """When to look once more if nothing changes until then; None when it is stable."""
        kept = self._kept.get(name)
        if kept is None:
            return None
        # One look more than it takes to be stable: the last one may ask the model.
        if kept.standing.stable_count > kept.stable_looks:
            moments = (_overtaken_in(kept), _quieter_in(kept, self._quiet_secs))
            return min((secs for secs in moments if secs is not None), default=None)
        return min(CONTESTED_SECS, self.settle_secs) if _is_contested(kept) else self.settle_secs

    def changed(self, name: str, pane: Pane) -> bool:
        """Whether tmux tells anything else of the pane than at the last look."""
        kept = self._kept.get(name)
        return kept is None or _facts(kept.pane) != _facts(pane)

    def recall(self, name: str, status: Mapping[str, Any]) -> None:
        """What an earlier watcher left in the cache: nobody is called a second time for the same."""
        standing = _recalled(status)
        if standing is not None and name not in self._kept:
            self._recalled[name] = standing

    def _look_at_server(self, subjects: list[Subject]) -> list[Seen]:
        tmux = subjects[0].tmux
        panes = {pane.id: pane for pane in tmux.all_panes()}
        there = [s for s in subjects if s.pane in panes and panes[s.pane].server_pid == s.server_pid]
        at = time.time()  # before the screens are read: what happens from now on, they may not show
        texts = tmux.captures([subject.pane for subject in there])
        self._mended(subjects[0].server)
        seen = []
        for subject, text in zip(there, texts, strict=True):
            try:
                seen.append(self._see(subject, panes[subject.pane], text, at))
                self._mended(_eyes(subject))
            except LlmcError as broken:
                self._complain(_eyes(subject), f"{subject.name}: {broken.what}")
        return seen

    def _see(self, subject: Subject, pane: Pane, captured: str, now: float) -> Seen:
        pack = subject.pack(pane)
        stable_looks = self._stable_looks or pack.stable_looks
        shown = subject.screen(pane, captured)
        reading = read_screen(pack, shown)
        digest = screen_digest(shown.text, pane.title, pane.command, dead=pane.dead)
        kept = self._kept.get(subject.name)
        before = kept.standing if kept else self._recalled.pop(subject.name, None)
        screen = exited(subject, pane) if pane.dead else opinion_of(reading)
        if not pane.dead and kept and kept.standing.digest == digest and is_stable(kept.standing, stable_looks):
            screen = quieter(screen, now - kept.standing.changed_at, self._quiet_secs)
            screen = self._advised(Asked(subject.name, digest, shown.text, subject.cli, pane.title), screen)
        agent = subject.told(pane) if not pane.dead else Told()
        told = told_by_agent(agent.reported, agent.by_file)
        opinion = opinion_told(told, screen) if told is not None else screen
        standing, call = look_again(before, Look(now, digest, opinion), stable_looks)
        alone = screen_alone(subject, standing, screen, stable_looks, kept.status.screen if kept else {})
        if told is not None and is_overtaken(told, alone, now):
            standing, call = look_again(before, Look(now, digest, screen), stable_looks)
        fused = fuse(told, None, alone, now)
        asked = dialog_shown(reading.dialog) if not pane.dead else None
        status = _status(subject, pane, pack.label, standing, alone, fused, agent.by_file, asked)
        stable = is_stable(standing, stable_looks)
        changed = before is None or before.digest != standing.digest
        self._kept[subject.name] = Kept(standing, status, stable_looks, pane, told, screen)
        return Seen(subject, pack, reading, standing, status, call, stable, changed, kept.status if kept else None)

    def _advised(self, asked: Asked, screen: Opinion) -> Opinion:
        """Where the pack is unsure of a screen at rest, a model may know more."""
        advice = self._adviser.on(asked, screen) if self._adviser is not None else None
        return advice or screen

    def _keep(self, seen: list[Seen]) -> None:
        """Only what is new is written: a quiet terminal costs next to nothing."""
        news = [each.status for each in seen if each.before is None or each.status.says != each.before.says]
        moved = frozenset(each.subject.name for each in seen if each.before is None or each.moved)
        if news:
            self.cache.write(news, moved)
        old = [each.subject.name for each in seen if each.status not in news]
        if old:
            self.cache.polled(old, time.time())


def _server(subject: Subject) -> str:
    return subject.server


def _eyes(subject: Subject) -> str:
    """What complaints about reading its screen are kept under."""
    return f"screen of {subject.name}"


def _is_contested(kept: Kept) -> bool:
    seen = {**kept.status.screen, "state": kept.seen.state, "detail": kept.seen.detail}
    seen["confidence"] = kept.seen.confidence
    return kept.told is not None and is_contested(kept.told, seen)


def _overtaken_in(kept: Kept) -> float | None:
    """When a screen at rest will count for more than what the agent last told; None: it does already, or never."""
    at = overtaken_at(kept.told, kept.status.screen) if kept.told is not None else None
    left = at - kept.standing.looked_at if at is not None else 0.0
    return left if left > 0 else None


def _quieter_in(kept: Kept, first_secs: float) -> float | None:
    """When there is more to say of a screen that is at rest; None: there is nothing."""
    rests = kept.standing.looked_at - kept.standing.changed_at
    left = [step - rests for step in quiet_steps(first_secs) if step > rests]
    return left[0] if left and kept.seen.guess else None


def _facts(pane: Pane) -> tuple[object, ...]:
    return pane.title, pane.command, pane.dead, pane.cursor, pane.width, pane.height, pane.alternate, pane.in_mode


def _status(
    subject: Subject,
    pane: Pane,
    pack: str,
    standing: Standing,
    screen: Mapping[str, Any],
    fused: Mapping[str, Any] | None,
    session: Mapping[str, Any] | None,
    asked: dict[str, Any] | None,
) -> Status:
    shown = standing.shown
    return Status(
        id=subject.name,
        state=shown.state,
        detail=shown.detail,
        confidence=shown.confidence,
        source=shown.source,
        summary=one_line(shown.summary, LONGEST_SUMMARY),
        actions_needed=tuple(one_line(action, LONGEST_SUMMARY) for action in shown.actions_needed),
        cue=shown.cue,
        pack=pack,
        since_unix=standing.since,
        last_snapshot_hash=standing.digest,
        last_change_unix=standing.changed_at,
        last_polled_unix=standing.looked_at,
        stable_count=standing.stable_count,
        called_for=standing.called_for,
        cwd=subject.cwd,
        cli_type=subject.cli or subject.program(pane),
        tmux_server=subject.server,
        tmux_session=pane.session,
        tmux_window=pane.window,
        tmux_pane=pane.id,
        screen=dict(screen),
        session=dict(session) if session is not None else None,
        disagreement=fused["disagreement"] if fused is not None else None,
        asked=asked,
    )


def _recalled(status: Mapping[str, Any]) -> Standing | None:
    try:
        shown = Opinion(str(status["state"]), status["detail"], float(status["confidence"]), str(status["summary"]))
        return Standing(
            str(status["last_snapshot_hash"]),
            float(status["last_change_unix"]),
            float(status["last_polled_unix"]),
            int(status["stable_count"]),
            shown,
            float(status["since_unix"]),
            worked=status["state"] == "BUSY",
            called_for=str(status["called_for"]),
        )
    except (KeyError, TypeError, ValueError):
        return None
