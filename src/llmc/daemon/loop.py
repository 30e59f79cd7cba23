"""The daemon: waits for a signal that something may have changed, and looks after whom it concerns."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from selectors import EVENT_READ, DefaultSelector
from threading import Event

from llmc.care.screens import act_on_screens
from llmc.care.up_to_date import Rebases
from llmc.care.worker import Cared, care_for
from llmc.daemon import branches, upstream
from llmc.daemon.branches import watch_branch, watch_branches
from llmc.daemon.confirmations import Confirmations
from llmc.daemon.conflict_watch import RadarWatch
from llmc.daemon.ending import Ending, EndingSignals
from llmc.daemon.farewell import Farewell
from llmc.daemon.journal import EVERYBODY, Journal
from llmc.daemon.patrol import Patrols, was_asked_for
from llmc.daemon.process_exits import Deaths
from llmc.daemon.screens import Screens
from llmc.daemon.upkeep import Upkeep
from llmc.daemon.upstream import fetch_upstream, watch_upstream
from llmc.daemon.view import View
from llmc.errors import LlmcError
from llmc.host.watch import open_watch
from llmc.model import Session, State, Turn, Worker
from llmc.observe.readings import Observation, Readings
from llmc.observe.screens import silent_workers
from llmc.observe.second_opinion import SecondOpinion
from llmc.observe.watched_terminal import worker_subject
from llmc.perform.landing import settle_landings_if_free
from llmc.perform.notices import ERRANDS, servers_of
from llmc.perform.status_lines import StatusLines
from llmc.perform.steps import stop_agent
from llmc.site import Site
from llmc.store.spool import make_spool
from llmc.store.status_cache import StatusCache, forget_ended, forget_status
from llmc.tmux.parsing import Pane

AT_ONCE = 4
"""Workers looked after at the same time: starting many agents at once would only make all of them slow."""
RETRY_SECS = 0.1
LOOK_AT_FILES_SECS = 1.0
FAILED_RETRY_SECS = 5.0
ATTENDED_WITHIN_SECS = FAILED_RETRY_SECS + 1.0
"""What cannot be done now is not tried again at once, whatever asks for it."""
STATE_FILES = frozenset(("state.json", "config.toml"))
PATROL = "*patrol*"
"""Not a worker: worker names begin with a letter."""


class Daemon:
    """`open_site` reads the configuration anew; `view` shows how it stands, for a person who looks on.

    With `asks` somebody is at the terminal, who is asked before agents are stopped in the middle of a turn.
    """

    def __init__(self, open_site: Callable[[], Site], *, patrol: bool, view: View, asks: bool = False) -> None:
        self.farewell = Farewell(asks=asks)
        self.leaving = Event()
        self.open_site = open_site
        self.site = self._opened()
        self.settings_read = _modified(self.site.root.config_file)
        self.goes_on_patrol = patrol
        self.view = view
        self.signals = EndingSignals()
        self.selector = DefaultSelector()
        self.watch = open_watch()
        self.deaths = Deaths(self.selector)
        self.pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="care")
        self.radar = RadarWatch(self.site, self.signals.wake)
        self.known: dict[str, float] = {}
        """Each worker, and when it was made: a new one may have the name of one that was removed."""
        self.to_bring_up: set[str] = set()
        self.due: dict[str, float] = {}
        """Who is to be looked after, and from when on (monotonic time)."""
        self.not_before: dict[str, float] = {}
        """Whom looking after has failed, and until when it waits (monotonic time)."""
        self.waiting: set[str] = set()
        """Whose start waits for an answer: it goes on when its screen changes."""
        self.stirred: deque[str] = deque()
        """Whose screen has changed, as whoever looks at the screens tells it."""
        self.journal = Journal(self.site.ledger.log)
        self.cache = StatusCache(self.site.root.terminals, self.journal)
        self.acted_on: dict[str, str] = {}
        """Which screen of each worker was acted upon last."""
        self.adviser = SecondOpinion(
            lambda: self.site.config.classifier,
            self.site.root,
            lambda text: self.journal.complain("classifier", text),
            self.signals.wake,
        )
        self.confirmations = Confirmations(self.pool, self.journal.complain)
        self.screens = Screens(
            Readings(self.cache, self.journal, adviser=self.adviser),
            self.pool,
            self.signals.wake,
            self._act_on_screens,
        )
        self.status_lines = StatusLines(self.site.host, lambda: servers_of(self.site), ERRANDS)
        self.upkeep = Upkeep()
        self.rebases: Rebases = {}
        self.under_way: dict[str, Future[Cared]] = {}
        self.brought_up: set[str] = set()
        """Whose care under way is to bring it up."""
        self.fetching: Future[str] | None = None
        self.fetch_again = False
        self.next_patrol = 0.0
        self.patrols = Patrols(self._is_attended, self._soon, self._fetch, self.journal)

    def run(self) -> Ending:
        self.selector.register(self.signals, EVENT_READ, ("signal", 0))
        for watch in (self.watch, self.screens.watch):
            if watch.fileno() is not None:
                self.selector.register(watch.fileno() or 0, EVENT_READ, ("files", 0))
        self.watch.add(self.site.root.path, "root", STATE_FILES)
        self.watch.add(self.site.root.run, PATROL, frozenset((os.path.basename(self.site.root.patrol_request),)))
        watch_upstream(self.site, self.watch)
        watch_branches(self.site.root, self.watch)
        self._read_state()
        if os.path.exists(self.site.root.landings):
            self._fetch()
        try:
            while not self._may_end():
                self._round()
            if self.signals.ending is Ending.STOP_AGENTS:
                self.farewell.begin_to_stop(sorted(self.known))
                self.view.soon()
                self.view.when_due(self.farewell.words)
        finally:
            self._finish_work()
        if self.signals.ending is Ending.STOP_AGENTS:
            self._stop_agents()
        return self.signals.ending or Ending.LEAVE_AGENTS

    # --- one round --------------------------------------------------------------------------------

    def _round(self) -> None:
        ready = self.selector.select(self._patience())
        for key, _ in ready:
            kind, value = key.data
            if kind == "death":
                self._soon(self.deaths.ended(value))
            elif kind == "answer":
                self._hear_answer()
        self.signals.drain()
        self._notice_files()
        self.screens.notice()
        while self.adviser.answered:
            self.screens.look_at(self.adviser.answered.popleft())
        self._collect()
        self._fetched()
        self._go_on_patrol()
        self._begin_work()
        self.status_lines.when_due()
        self.view.when_due(self.farewell.words)

    def _patience(self) -> float:
        now = time.monotonic()
        moments = [at for name, at in self.due.items() if name not in self.under_way]
        moments += [
            self.next_patrol,
            self.view.due,
            *self.screens.moments(),
            *self.radar.moments(),
            *self.status_lines.moments(),
        ]
        if self.patrols.look_again_at is not None:
            moments.append(self.patrols.look_again_at)
        if self.watch.fileno() is None:
            moments.append(now + LOOK_AT_FILES_SECS)
        return max(0.0, min(moments) - now)

    def _notice_files(self) -> None:
        for name in self.watch.changed():
            if name == "root":
                self._read_state()
            elif name == upstream.NAME:
                self._fetch()
            elif name == branches.NAME:
                watch_branches(self.site.root, self.watch, self.known)
                self.patrols.look_at_all(self.site)
            elif name != PATROL:
                self._soon(name)

    def _collect(self) -> None:
        while self.stirred:
            self._go_on_with_start(self.stirred.popleft())
        done = [name for name, work in self.under_way.items() if work.done()]
        for name in done:
            self._finished(name, self.under_way.pop(name))
        if done:
            self._read_state()
            self.view.soon()
        for complaint in filter(None, (self.screens.collect(), self.radar.collect())):
            self.journal.complain(EVERYBODY, complaint)

    def _go_on_with_start(self, name: str) -> None:
        if name in self.waiting:
            self.waiting.discard(name)
            self._soon(name)

    def _fetch(self) -> None:
        self.fetch_again = self.fetching is not None
        if self.fetching is None:
            self.fetching = self.pool.submit(self._look_upstream)
            self.fetching.add_done_callback(lambda _: self.signals.wake())

    def _look_upstream(self) -> str:
        self._settle_landings()
        self.upkeep.when_due(self.site)
        return fetch_upstream(self.site)

    def _settle_landings(self) -> None:
        try:
            settle_landings_if_free(self.site)
        except LlmcError as left:
            self.journal.complain(EVERYBODY, f"{left.what} ({left.hint})")

    def _fetched(self) -> None:
        if self.fetching is None or not self.fetching.done():
            return
        fetched, self.fetching = self.fetching, None
        failure = fetched.exception()
        if failure is not None:
            self.journal.complain(EVERYBODY, str(failure))
        else:
            self.radar.upstream_is(fetched.result(), self.known)
        self.patrols.looked_upstream(self.site)
        if self.fetch_again:
            self._fetch()

    def _finished(self, name: str, work: Future[Cared]) -> None:
        failure = work.exception()
        self.patrols.was_cared_for(self.site, name, done=failure is None and work.result() is Cared.DONE)
        if isinstance(failure, LlmcError):
            self.journal.complain(name, f"{failure.what} ({failure.hint})")
            self.not_before[name] = time.monotonic() + FAILED_RETRY_SECS
            self._again(name)
        elif failure is not None:
            self.journal.complain(name, f"bug: {type(failure).__name__}: {failure}")
            raise failure
        elif work.result() is Cared.BUSY:
            self._again(name)
        elif work.result() is Cared.WAITS:
            self.waiting.add(name)
        else:
            self.journal.mended(name)
            self.radar.changed({name})
            if work.result() is Cared.PARTLY:
                self._soon(name)
        self.brought_up.discard(name)

    def _again(self, name: str) -> None:
        if name in self.brought_up and name in self.known:
            self.to_bring_up.add(name)
        self._soon(name, RETRY_SECS)

    def _begin_work(self) -> None:
        now = time.monotonic()
        for name in [name for name, at in self.due.items() if at <= now and name not in self.under_way]:
            del self.due[name]
            bring_up = name in self.to_bring_up
            if bring_up:
                self.to_bring_up.discard(name)
                self.brought_up.add(name)
            work = self.pool.submit(care_for, self.site, name, self.rebases, bring_up=bring_up)
            self.under_way[name] = work
            work.add_done_callback(lambda _: self.signals.wake())
        self.screens.begin()
        self.radar.begin(self.site)

    def _go_on_patrol(self) -> None:
        now = time.monotonic()
        if now >= self.next_patrol:
            self.next_patrol = now + self.site.config.defaults.patrol_interval_secs
            if self.goes_on_patrol and self.known:
                self.radar.look_round(self.known)
                self.patrols.begin(self.site)
        if not self.patrols.is_under_way and was_asked_for(self.site):
            self.patrols.begin(self.site)
        if self.patrols.go_on(self.site) is not None:
            for name in silent_workers(self.site):
                self.screens.look_at(name)
            self.view.soon()

    def _is_attended(self, name: str) -> bool:
        soon = time.monotonic() + ATTENDED_WITHIN_SECS
        return name in self.under_way or self.due.get(name, soon + 1) <= soon

    def _soon(self, name: str, after: float = 0.0) -> None:
        if name in self.known:
            at = max(time.monotonic() + after, self.not_before.get(name, 0.0))
            self.due[name] = min(self.due.get(name, at), at)

    # --- who there is ---------------------------------------------------------------------------------

    def _read_state(self) -> None:
        """Follows what commands did: workers that are new or gone, steps that are pending, timers."""
        try:
            self._read_settings()
            state = self.site.ledger.load()
        except LlmcError as broken:
            self.journal.complain(EVERYBODY, f"{broken.what} ({broken.hint})")
            return
        made = {name: worker.created_at_unix for name, worker in state.workers.items()}
        for name in [name for name, at in self.known.items() if made.get(name) != at]:
            self._part_with(name)
        for name in made.keys() - self.known.keys():
            self._meet(name, made[name])
        self.journal.mended(EVERYBODY)
        self._plan(state)
        self._follow_terminals(state.workers.values())

    def _read_settings(self) -> None:
        changed = _modified(self.site.root.config_file)
        if changed != self.settings_read:
            self.site = self._opened()
            self.settings_read = changed
            self.watch.forget(upstream.NAME)
            watch_upstream(self.site, self.watch)

    def _opened(self) -> Site:
        return replace(self.open_site(), leaving=self.leaving)

    def _meet(self, name: str, made: float) -> None:
        self.known[name] = made
        self.to_bring_up.add(name)
        spool = self.site.root.spool(name)
        make_spool(spool)
        self.watch.add(spool, name)
        watch_branch(self.site.root, self.watch, name)
        self._soon(name)

    def _part_with(self, name: str) -> None:
        del self.known[name]
        self.to_bring_up.discard(name)
        self.waiting.discard(name)
        for remembered in (self.due, self.not_before, self.rebases):
            remembered.pop(name, None)
        self.journal.mended(name)
        self.watch.forget(name)
        self.radar.changed({name})

    def _plan(self, state: State) -> None:
        for worker in state.workers.values():
            if worker.pending and not (worker.name in self.waiting and worker.start_dialog):
                self._soon(worker.name, RETRY_SECS)
            for due in worker.timers.values():
                self._soon(worker.name, max(0.0, due - self.site.now()))

    def _follow_terminals(self, workers: Iterable[Worker]) -> None:
        try:
            panes = self.site.tmux.panes()
        except LlmcError as unknown:
            self.journal.complain(EVERYBODY, unknown.what)
            return
        known = list(workers)
        live = [(w, panes[w.session_id]) for w in known if w.session_id in panes and not panes[w.session_id].dead]
        missed = self.deaths.follow({pane.pid: worker.name for worker, pane in live})
        running = {worker.name for worker, _ in live}
        # An agent may end before anybody has begun to follow it: nothing else would tell.
        missed += [w.name for w in known if w.session is Session.UP and w.name not in running]
        for name in missed:
            self._soon(name, RETRY_SECS)
        up = [(worker, pane) for worker, pane in live if worker.session in (Session.UP, Session.STARTING)]
        self._follow_screens(up)
        # An earlier daemon may have left what it saw of an agent that has not come up since.
        forget_ended(self.site.root, self.cache, {w.name for w in known} - {w.name for w, _ in up})

    def _follow_screens(self, up: list[tuple[Worker, Pane]]) -> None:
        """The terminals of all that are up, reporting or not: where screen and reports differ, that is shown.

        Those that are starting, too: what they ask stands in the way of all the rest.
        """
        gone = self.screens.follow({worker.name: worker_subject(self.site, worker, pane) for worker, pane in up})
        forget_status(self.site.root, self.cache, gone)
        if gone:
            self.status_lines.moved()

    def _act_on_screens(self, seen: list[Observation]) -> set[str]:
        if any(each.moved or each.before is None for each in seen):
            self.status_lines.moved()
        self.stirred.extend(each.subject.name for each in seen if each.changed)
        again = act_on_screens(self.site, seen, self.acted_on)
        return again | self.confirmations.act_on(self.site, seen)

    # --- the end --------------------------------------------------------------------------------------

    def _may_end(self) -> bool:
        if self.signals.ending is not Ending.STOP_AGENTS:
            return self.signals.ending is not None
        if not self.farewell.has_to_ask(self._in_a_turn()):
            return True
        self.signals.ending = None
        self.selector.register(self.farewell.answers_from, EVENT_READ, ("answer", 0))
        self.view.soon()
        return False

    def _in_a_turn(self) -> list[str]:
        try:
            workers = self.site.ledger.load().workers
        except LlmcError:
            return []
        return [name for name, worker in workers.items() if worker.turn is Turn.OPEN and worker.session is Session.UP]

    def _hear_answer(self) -> None:
        self.selector.unregister(self.farewell.answers_from)
        if self.farewell.hear():
            self.signals.ending = Ending.STOP_AGENTS
        self.view.soon()

    def _finish_work(self) -> None:
        self.leaving.set()
        self.pool.shutdown(wait=True, cancel_futures=True)
        self.deaths.close()
        self.watch.close()
        self.screens.close()
        self.radar.close(self.site)
        self.adviser.close()
        self.cache.close()
        self.selector.close()

    def _stop_agents(self) -> None:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(self._stop_agent, sorted(self.known)))
        forget_ended(self.site.root, self.cache, self.known)
        self.cache.close()

    def _stop_agent(self, name: str) -> None:
        try:
            trouble = stop_agent(self.site, self.site.worker(name), force=False)
        except LlmcError as failure:
            trouble = failure.what
        if trouble:
            self.journal.complain(name, trouble)


def _modified(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0
