"""The daemon: waits for a signal that something may have changed, and looks after whom it concerns."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from threading import Event
from typing import TYPE_CHECKING

from llmc.care.screens import act_on_screens
from llmc.care.up_to_date import Rebases
from llmc.care.worker import Cared, care_for
from llmc.daemon import branches, train, upstream
from llmc.daemon.branches import watch_branches
from llmc.daemon.confirmations import Confirmations
from llmc.daemon.conflict_watch import ConflictWatch
from llmc.daemon.farewell import Farewell
from llmc.daemon.journal import EVERYBODY, Journal
from llmc.daemon.loop import Eyes, Loop
from llmc.daemon.meter import Meter
from llmc.daemon.patrol import Patrols
from llmc.daemon.queue import QueueWatch
from llmc.daemon.review_checks import ReviewChecks
from llmc.daemon.roster import Roster
from llmc.daemon.schedule import RETRY_SECS, Schedule
from llmc.daemon.train import TrainKeeper
from llmc.daemon.tripwire import Tripwire
from llmc.daemon.upkeep import Upkeep
from llmc.daemon.upstream import Upstream, watch_upstream
from llmc.daemon.view import LiveView
from llmc.daemon.worker_sockets import WorkerSockets
from llmc.errors import LlmcError
from llmc.host.signals import Ending
from llmc.model import Session, State, Turn, Worker
from llmc.observe.readings import Observation, Readings
from llmc.observe.screens import silent_workers
from llmc.observe.watched_terminal import worker_subject
from llmc.perform.landing import settle_landings_if_free
from llmc.perform.notices import ERRANDS, servers_of
from llmc.perform.steps import stop_agent
from llmc.perform.worktrees import needs_setup
from llmc.site import Site
from llmc.store.status_cache import forget_ended, forget_status
from llmc.tmux.parsing import Pane

if TYPE_CHECKING:
    from llmc.fleet.switchboard import Switchboard

AT_ONCE = 4
"""Workers looked after at the same time: starting many agents at once would only make all of them slow."""
STATE_FILES = frozenset(("state.json", "config.toml", "machines.json"))
PATROL, TASKS, METER, TRIPWIRE = "*patrol*", "*tasks*", "*usage*", "*tripwire*"
"""Not workers: worker names begin with a letter."""


class Daemon:
    """`open_site` reads the configuration anew; `view` shows how it stands, for a person who looks on.

    With `asks` somebody is at the terminal, who is asked before agents are stopped in the middle of a turn.
    """

    def __init__(self, open_site: Callable[[], Site], *, patrol: bool, view: LiveView, asks: bool = False) -> None:
        self._open_site = open_site
        self._leaving = Event()
        self._site = self._opened()
        self._settings_read = _modified(self._site.root.config_file)
        self._view = view
        self._farewell = Farewell(asks=asks)
        self._journal = Journal(self._site.ledger.log)
        self._stirred: deque[str] = deque()
        """Whose screen has changed, as whoever looks at the screens tells it."""
        self._acted_on: dict[str, str] = {}
        """Which screen of each worker was acted upon last."""
        eyes = Eyes(
            lambda: self._site.config.classifier,
            lambda adviser: Readings(self._journal, adviser=adviser),
            self._act_on_screens,
            lambda: servers_of(self._site),
        )
        self._loop = Loop(self._site.root, self._site.host, self._journal, ERRANDS, eyes, AT_ONCE)
        self._confirmations = Confirmations(self._loop.pool, self._journal.complain)
        self._conflicts = ConflictWatch(self._site, self._loop.signals.wake)
        self._train = TrainKeeper(self._loop.signals.wake)
        self._queue = QueueWatch(self._loop.signals.wake)
        self._checks = ReviewChecks(self._loop.signals.wake)
        self._meter = Meter(self._loop.signals.wake)
        self._tripwire = Tripwire(self._loop.signals.wake)
        self._switchboard: Switchboard | None = None
        """Nobody who has no machines pays for those who have."""
        self._setups = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="setup")
        """A setup may take half an hour, and must not keep the others from being looked after."""
        self._not_set_up: set[str] = set()
        self._tools = WorkerSockets(self._site.root, self._journal.complain)
        self._rebases: Rebases = {}
        self._schedule = Schedule(self._care)
        self._roster = Roster(self._site.root, self._loop.files, self._schedule.add, self._part_with)
        self._upkeep = Upkeep()
        self._upstream = Upstream(self._loop.pool, self._look_upstream, self._loop.signals.wake)
        self._patrols = Patrols(self._schedule.is_attended, self._schedule.soon, self._upstream.fetch, self._journal)
        self._goes_on_patrol = patrol

    def run(self) -> Ending:
        root, files, signals = self._site.root, self._loop.files, self._loop.signals
        self._loop.begin()
        files.add(root.path, "root", STATE_FILES)
        files.add(root.run, PATROL, frozenset((os.path.basename(root.patrol_request),)))
        files.add(root.run, train.NAME, frozenset((os.path.basename(root.train_mark),)))
        files.add(root.run, TASKS, frozenset(map(os.path.basename, (root.tasks_mark, root.touched_file))))
        watch_upstream(self._site, files)
        watch_branches(root, files)
        self._read_state()
        if os.path.exists(root.landings):
            self._upstream.fetch()
        try:
            while not self._may_end():
                self._round()
            if signals.ending is Ending.INTERRUPTED:
                self._farewell.begin_to_stop(self._roster.names)
                self._view.soon()
                self._view.when_due(self._farewell.words)
        finally:
            self._leaving.set()
            self._setups.shutdown(wait=True, cancel_futures=True)
            self._train.close()
            self._queue.close()
            self._checks.close()
            self._meter.close()
            self._tripwire.close()
            self._conflicts.close(self._site)
            self._tools.close()
            if self._switchboard is not None:
                self._switchboard.close()
            self._loop.close()
        if signals.ending is Ending.INTERRUPTED:
            self._stop_agents()
        return signals.ending or Ending.ASKED

    # --- one round --------------------------------------------------------------------------------

    def _round(self) -> None:
        moments = [
            self._view.due,
            *self._schedule.moments(),
            *self._patrols.moments(),
            *self._conflicts.moments(),
            *self._train.moments(),
            *self._queue.moments(),
            *self._checks.moments(),
            *self._meter.moments(),
            *self._tripwire.moments(),
        ]
        for kind, name in self._loop.wait(moments):
            if kind == "exit":
                self._schedule.soon(name)
            elif kind == "answer":
                self._hear_answer()
        self._notice_files()
        for complaint in filter(None, (self._loop.notice_screens(), self._conflicts.collect(), self._train.collect())):
            self._journal.complain(EVERYBODY, complaint)
        self._notice_queue()
        if complaint := self._meter.collect():
            self._journal.complain(METER, complaint)
        if complaint := self._tripwire.collect():
            self._journal.complain(TRIPWIRE, complaint)
        for name, complaint in self._checks.collect():
            self._journal.complain(name, complaint)
        self._notice_care()
        self._notice_upstream()
        self._go_on_patrol()
        self._schedule.begin_due()
        self._loop.screens.begin()
        self._conflicts.begin(self._site)
        self._train.begin(self._site)
        self._queue.begin(self._site)
        self._checks.begin(self._site)
        self._meter.begin(self._site)
        self._tripwire.begin(self._site)
        self._loop.status_lines.when_due()
        self._view.when_due(self._farewell.words)

    def _notice_files(self) -> None:
        for name in self._loop.files.changed():
            if name == "root":
                self._read_state()
            elif name == upstream.NAME:
                self._upstream.fetch()
            elif name == train.NAME:
                for left in self._train.changed(self._site):
                    self._schedule.soon(left)
            elif name == branches.NAME:
                watch_branches(self._site.root, self._loop.files, self._roster.names)
                self._patrols.look_at_all(self._site)
            elif name == TASKS:
                self._queue.changed()
                if self._switchboard is not None:
                    self._train.machines_told()
            elif name != PATROL:
                self._schedule.soon(name)

    def _notice_queue(self) -> None:
        given, complaint = self._queue.collect()
        for name in given:
            self._schedule.soon(name)
        if complaint:
            self._journal.complain(TASKS, complaint)
        elif given:
            self._journal.settled(TASKS)

    def _notice_care(self) -> None:
        while self._stirred:
            self._schedule.stirred(self._stirred.popleft())
        ended = self._schedule.ended()
        for name, came in ended:
            self._patrols.was_cared_for(self._site, name, done=came is Cared.DONE)
            self._heed(name, came)
        if ended:
            self._read_state()
            self._view.soon()

    def _heed(self, name: str, came: Cared | BaseException) -> None:
        if isinstance(came, LlmcError):
            self._journal.complain(name, f"{came.what} ({came.hint})")
        elif isinstance(came, BaseException):
            self._journal.complain(name, f"bug: {type(came).__name__}: {came}")
            raise came
        elif came not in (Cared.BUSY, Cared.WAITS):
            self._journal.settled(name)
            self._conflicts.changed({name})
            self._checks.changed({name})
            self._meter.changed({name})
            self._tripwire.changed()
            self._train.soon()

    def _notice_upstream(self) -> None:
        fetched = self._upstream.fetched()
        if fetched is None:
            return
        if isinstance(fetched, str):
            self._conflicts.upstream_is(fetched, self._roster.names)
            self._checks.changed(self._roster.names)
            if self._switchboard is not None:
                self._switchboard.branch_has_moved()
        else:
            self._journal.complain(EVERYBODY, str(fetched))
        self._patrols.looked_upstream(self._site)

    def _go_on_patrol(self) -> None:
        if self._patrols.is_time(self._site) and self._goes_on_patrol and self._roster.names:
            self._conflicts.look_round(self._roster.names)
            self._meter.changed(self._roster.names)
            if self._site.config.budget.day_usd is not None:
                self._queue.changed()  # a new day may have begun
            self._patrols.begin(self._site)
        self._patrols.begin_if_asked(self._site)
        if self._patrols.go_on(self._site) is not None:
            for name in silent_workers(self._site):
                self._loop.screens.look_at(name)
            self._view.soon()

    # --- in threads of the pool -----------------------------------------------------------------------

    def _care(self, name: str, bring_up: bool) -> Future[Cared]:
        pool = self._setups if name in self._not_set_up else self._loop.pool
        work = pool.submit(care_for, self._site, name, self._rebases, bring_up=bring_up)
        work.add_done_callback(lambda _: self._loop.signals.wake())
        return work

    def _look_upstream(self) -> str:
        try:
            settle_landings_if_free(self._site)
        except LlmcError as left:
            self._journal.complain(EVERYBODY, f"{left.what} ({left.hint})")
        self._upkeep.when_due(self._site)
        return upstream.fetch_upstream(self._site)

    def _act_on_screens(self, seen: list[Observation]) -> set[str]:
        if any(each.moved or each.before is None for each in seen):
            self._loop.status_lines.moved()
        self._stirred.extend(each.subject.name for each in seen if each.changed)
        again = act_on_screens(self._site, seen, self._acted_on)
        return again | self._confirmations.act_on(self._site, seen)

    # --- who there is ---------------------------------------------------------------------------------

    def _read_state(self) -> None:
        """Follows what commands did: workers that are new or gone, steps that are pending, timers."""
        try:
            self._read_settings()
            state = self._site.ledger.load()
        except LlmcError as broken:
            self._journal.complain(EVERYBODY, f"{broken.what} ({broken.hint})")
            return
        down = (worker for worker in state.workers.values() if worker.session is not Session.UP)
        self._not_set_up = {worker.name for worker in down if needs_setup(self._site, worker)}
        self._roster.update(state.workers)
        self._tools.follow({name for name in state.workers if self._site.config.worker(name).role})
        self._journal.settled(EVERYBODY)
        self._follow_machines()
        self._plan(state)
        self._queue.workers_are(state)
        self._follow_terminals(state.workers.values())

    def _follow_machines(self) -> None:
        if self._switchboard is None and os.path.exists(self._site.root.machines):
            from llmc.fleet.switchboard import Switchboard

            self._switchboard = Switchboard(lambda: self._site, self._journal.complain)
        if self._switchboard is not None:
            self._switchboard.follow()
            self._loop.files.add(self._site.root.known_machines, TASKS, frozenset())

    def _read_settings(self) -> None:
        changed = _modified(self._site.root.config_file)
        if changed != self._settings_read:
            self._site = self._opened()
            self._settings_read = changed
            self._train.soon()
            self._queue.changed()
            self._meter.changed(self._roster.names)
            self._checks.changed(self._roster.names)
            self._loop.files.forget(upstream.NAME)
            watch_upstream(self._site, self._loop.files)

    def _opened(self) -> Site:
        return replace(self._open_site(), leaving=self._leaving)

    def _part_with(self, name: str) -> None:
        self._schedule.remove(name)
        self._rebases.pop(name, None)
        self._journal.settled(name)
        self._conflicts.changed({name})
        self._checks.drop(name)

    def _plan(self, state: State) -> None:
        for worker in state.workers.values():
            if worker.pending and not (self._schedule.waits(worker.name) and worker.start_dialog):
                self._schedule.soon(worker.name, RETRY_SECS)
            for due in worker.timers.values():
                self._schedule.soon(worker.name, max(0.0, due - self._site.now()))

    def _follow_terminals(self, workers: Iterable[Worker]) -> None:
        try:
            panes = self._site.tmux.panes()
        except LlmcError as unknown:
            self._journal.complain(EVERYBODY, unknown.what)
            return
        known = list(workers)
        live = [(w, panes[w.session_id]) for w in known if w.session_id in panes and not panes[w.session_id].dead]
        missed = self._loop.exits.follow({pane.pid: worker.name for worker, pane in live})
        running = {worker.name for worker, _ in live}
        # An agent may end before anybody has begun to follow it: nothing else would tell.
        missed += [w.name for w in known if w.session is Session.UP and w.name not in running]
        for name in missed:
            self._schedule.soon(name, RETRY_SECS)
        up = [(worker, pane) for worker, pane in live if worker.session in (Session.UP, Session.STARTING)]
        self._follow_screens(up)
        # An earlier daemon may have left what it saw of an agent that has not come up since.
        forget_ended(self._site.root, self._loop.cache, {w.name for w in known} - {w.name for w, _ in up})

    def _follow_screens(self, up: list[tuple[Worker, Pane]]) -> None:
        """The terminals of all that are up, reporting or not: where screen and reports differ, that is shown.

        Those that are starting, too: what they ask stands in the way of all the rest.
        """
        subjects = {worker.name: worker_subject(self._site, worker, pane) for worker, pane in up}
        gone = self._loop.screens.follow(subjects)
        forget_status(self._site.root, self._loop.cache, gone)
        if gone:
            self._loop.status_lines.moved()

    # --- the end --------------------------------------------------------------------------------------

    def _may_end(self) -> bool:
        signals = self._loop.signals
        if signals.ending is not Ending.INTERRUPTED:
            return signals.ending is not None
        if not self._farewell.has_to_ask(self._in_a_turn()):
            return True
        signals.ending = None
        self._loop.listen_to(self._farewell.answers_from, "answer")
        self._view.soon()
        return False

    def _in_a_turn(self) -> list[str]:
        try:
            workers = self._site.ledger.load().workers
        except LlmcError:
            return []
        return [name for name, worker in workers.items() if worker.turn is Turn.OPEN and worker.session is Session.UP]

    def _hear_answer(self) -> None:
        self._loop.ignore(self._farewell.answers_from)
        if self._farewell.hear():
            self._loop.signals.ending = Ending.INTERRUPTED
        self._view.soon()

    def _stop_agents(self) -> None:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(self._stop_agent, self._roster.names))
        forget_ended(self._site.root, self._loop.cache, self._roster.names)
        self._loop.cache.close()

    def _stop_agent(self, name: str) -> None:
        try:
            trouble = stop_agent(self._site, self._site.worker(name), force=False)
        except LlmcError as failure:
            trouble = failure.what
        if trouble:
            self._journal.complain(name, trouble)


def _modified(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0
