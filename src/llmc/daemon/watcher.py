"""The watcher of terminals without worktrees: a process of its own that only looks, keeps the cache and calls."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping

from llmc.agents.packs import broken_packs
from llmc.config.load import load_config
from llmc.config.sections import Classifier, NotifySettings
from llmc.config.settings import Config
from llmc.core.notice import notice_of
from llmc.daemon.journal import Journal
from llmc.daemon.loop import Eyes, Loop
from llmc.daemon.process import living_holder
from llmc.errors import LlmcError
from llmc.host.background import Errands
from llmc.host.base import Host
from llmc.host.locks import FileLock
from llmc.observe.pty_presence import Presence, look_for
from llmc.observe.readings import SETTLE_SECS, Observation, Readings
from llmc.observe.second_opinion import SecondOpinion
from llmc.observe.watched_terminal import packs_stamp, terminal_subject
from llmc.perform.channels import Caller
from llmc.root import Root
from llmc.store.snapshot import read_statuses
from llmc.store.status_cache import forget_status, sweep
from llmc.store.terminals import CHANGED, KnownTerminal, Terminals
from llmc.store.worker_log import WorkerLog
from llmc.tmux.server import Tmux
from llmc.tmux.windows import own_server
from llmc.values import Value

INTERVAL_SECS = 5.0
QUIET_ROUNDS = 12
"""A minute at the usual pace: from then on a program that shows nothing new may as well wait for somebody."""
TAKE_OVER_SECS = 1.0
FORGET_SECS = 0.5
"""A list of terminals that somebody keeps to themselves does not keep us from looking."""
DEATH_SECS = 0.1
"""From the end of a program until tmux has closed its window."""


class WatcherRunsError(LlmcError):
    """The terminals of this root are watched already."""


def watch_lock(root: Root) -> FileLock:
    Terminals(root).make_directory()
    return FileLock(root.watch_lock, name="the watcher", timeout=TAKE_OVER_SECS)


def refuse_second(root: Root) -> None:
    holder = living_holder(root.watch_lock)
    if holder is not None:
        raise WatcherRunsError(
            f"the terminals of {root.path} are watched already (pid {holder.pid})",
            "see `llmc pty status`, or end it with `llmc pty watch --stop`",
        )


class Pace(Value):
    interval_secs: float = INTERVAL_SECS
    stable_looks: int | None = None
    """None: as the pack of each CLI says."""


class Watcher:
    """`show` hears what moved and what is wrong, for a person who looks on."""

    def __init__(self, root: Root, host: Host, pace: Pace, show: Callable[[str], None]) -> None:
        self.root = root
        self.host = host
        self.pace = pace
        self.show = show
        self.journal = Journal(WorkerLog(root.terminals), "watch")
        self.errands = Errands(lambda text: self.complain("calls", text))
        self.config: Config | None = None
        self.settings_read = -1
        self.packs_read: tuple[int, ...] = ()
        eyes = Eyes(
            lambda: self.config.classifier if self.config is not None else Classifier(),
            self._readings,
            self._heed_and_rest,
            self._servers,
        )
        self.loop = Loop(root, host, self, self.errands, eyes, threads=1)
        self.next_round = 0.0
        self.left: dict[str, KnownTerminal | None] = {}
        """Terminals that went away and are to be forgotten, with the record that they had."""

    def _readings(self, adviser: SecondOpinion) -> Readings:
        return Readings(
            self,
            adviser=adviser,
            stable_looks=self.pace.stable_looks,
            settle_secs=min(SETTLE_SECS, self.pace.interval_secs),
            quiet_secs=QUIET_ROUNDS * self.pace.interval_secs,
        )

    # --- what is wrong is told once -------------------------------------------------------------------

    def complain(self, about: str, text: str) -> None:
        if self.journal.complain(about, text):
            self.show(f"warning: {text}")

    def settled(self, about: str) -> None:
        self.journal.settled(about)

    # --- the loop -------------------------------------------------------------------------------------

    def run(self) -> None:
        self.loop.begin()
        self.loop.files.add(self.root.terminals, "terminals", frozenset((CHANGED,)))
        self._begin()
        try:
            while self.loop.signals.ending is None:
                self._round()
        finally:
            self.loop.close()

    def _begin(self) -> None:
        sweep(self.root, self.loop.cache)
        for name, status in read_statuses(self.root.terminals).items():
            self.loop.screens.readings.recall(name, status)
        self._count()

    def look_once(self) -> None:
        """One look at every terminal."""
        self._begin()
        self._heed(self.loop.screens.look_now(self.loop.screens.readings.subjects))
        self.errands.finish(TAKE_OVER_SECS)
        self.loop.close()

    def _round(self) -> None:
        for kind, _ in self.loop.wait([self.next_round]):
            if kind == "exit":
                self.next_round = min(self.next_round, time.monotonic() + DEATH_SECS)
        if "terminals" in self.loop.files.changed() or time.monotonic() >= self.next_round:
            self._count()
        complaint = self.loop.notice_screens()
        if complaint:
            self.complain("looking", complaint)
        self.loop.screens.begin()
        self.loop.status_lines.when_due()

    # --- who there is ---------------------------------------------------------------------------------

    def _count(self) -> None:
        """Which terminals there are, which went away, and what tmux tells of them beside their screens."""
        self.next_round = time.monotonic() + self.pace.interval_secs
        self._read_settings()
        self._check_packs()
        try:
            presence = look_for(self.host, Terminals(self.root).all())
        except LlmcError as unknown:
            self.complain("tmux", unknown.what)
            return
        self._follow(presence)

    def _follow(self, presence: Presence) -> None:
        for server, silent in presence.unknown.items():
            self.complain(server, silent)
        home = self.host.environ().get("HOME", "")
        subjects = {
            name: terminal_subject(self.root, self.config, terminal, tmux, pane.tty, home)
            for name, (terminal, tmux, pane) in presence.there.items()
        }
        before = self.loop.screens.readings.subjects
        silent_ones = {name: before[name] for name in before if before[name].server in presence.unknown}
        left = self.loop.screens.follow({**silent_ones, **subjects})
        self._forget({**dict.fromkeys(left), **presence.gone})
        self.loop.exits.follow({pane.pid: name for name, (_, _, pane) in presence.there.items() if not pane.dead})
        blind = self.loop.screens.watch.fileno() is None
        for name, (_, _, pane) in presence.there.items():
            if blind or self.loop.screens.readings.changed(name, pane):
                self.loop.screens.look_at(name)

    def _forget(self, left: Mapping[str, KnownTerminal | None]) -> None:
        """Those whose window went away, with their records, and those that were closed, whose records went before."""
        self.left.update(left)
        if not self.left:
            return
        terminals = Terminals(self.root)
        try:
            with terminals.lock(FORGET_SECS):  # somebody may just be opening another one of the same name
                gone = self._gone(terminals.all())
                forget_status(self.root, self.loop.cache, gone)
        except LlmcError as unknown:
            self.complain("forgetting", f"{unknown.what}; it is tried again with the next round")
            return
        self.left.clear()
        self.settled("forgetting")
        for name in gone:
            self.settled(name)
            self.show(f"{name} is gone")
        if gone:
            self.loop.status_lines.moved()

    def _gone(self, now: Mapping[str, KnownTerminal]) -> list[str]:
        """Not those that are there anew, and not those that are workers by now."""
        return [name for name, was in self.left.items() if now.get(name) in (None, was) and not self._is_worker(name)]

    def _is_worker(self, name: str) -> bool:
        return os.path.isdir(self.root.worktree(name))

    def _read_settings(self) -> None:
        try:
            modified = os.stat(self.root.config_file).st_mtime_ns
        except OSError:
            return  # terminals need no settings
        if modified != self.settings_read:
            self.settings_read = modified
            try:
                self.config = load_config(self.root.config_file)
                self.settled("settings")
            except LlmcError as broken:
                self.complain("settings", f"{broken.what}; the settings from before hold")

    def _check_packs(self) -> None:
        stamp = packs_stamp(self.root.packs)
        if stamp != self.packs_read:
            self.packs_read = stamp
            wrong = "; ".join(broken.what for broken in broken_packs(self.root.packs))
            if wrong:
                self.complain("packs", f"{wrong}; it is not used until it is fixed")
            else:
                self.settled("packs")

    def _servers(self) -> list[str]:
        subjects = self.loop.screens.readings.subjects.values()
        own = own_server(self.host.environ())
        return [*(subject.server for subject in subjects), *([own] if own else [])]

    # --- what was seen --------------------------------------------------------------------------------

    def _heed_and_rest(self, seen: list[Observation]) -> set[str]:
        self._heed(seen)
        return set()  # what was seen moves nobody, so that none of it can be outdated

    def _heed(self, seen: list[Observation]) -> None:
        for each in seen:
            if each.moved or each.before is None:
                summary = each.status["summary"]
                self.show(f"{each.subject.name} {each.status['state']}" + (f": {summary}" if summary else ""))
                self.loop.status_lines.moved()
            if each.called:
                self._call(each)

    def _call(self, seen: Observation) -> None:
        subject = seen.subject
        settings = self.config.notify if self.config is not None else NotifySettings()
        own = own_server(self.host.environ())
        servers = [subject.tmux, *([Tmux(self.host, own)] if own and own != subject.server else [])]
        Caller(self.host, settings, self.errands).call(notice_of(subject.name, seen.status), servers, subject.tty)
