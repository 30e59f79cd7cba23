"""Running the merge train: references only, no worktree of anybody is touched until a work lands.

Whoever runs it keeps nothing but verdicts and the entries of the table: the next one goes on from there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Event
from typing import Any

from llmc.care.accepting import accept_work
from llmc.care.acting import newest_tip
from llmc.care.elsewhere import NOBODY_ELSEWHERE, WorkersElsewhere
from llmc.care.retries import count_try
from llmc.care.send_back import send_back
from llmc.care.train_endings import TrainEndings
from llmc.core.lifecycle.effects import MergeWork
from llmc.core.lifecycle.transitions.shared import awaits
from llmc.core.tasks.checks import CheckResult, TreeVerdict
from llmc.core.tasks.train import (
    Blame,
    EntryState,
    NextMove,
    TrainEntry,
    blame_words,
    feedback_of,
    is_being_rebased,
    is_flake,
    next_move,
    next_trial,
    to_check,
    why_out,
)
from llmc.errors import LlmcError
from llmc.git.repository import HEADS
from llmc.git.stack import FinishedWork, StackedWork, keep_stack, stack_works
from llmc.host.faults import Moment, reached
from llmc.host.locks import FileLock
from llmc.model import Worker
from llmc.perform.checks import check_commit
from llmc.site import Site

MISHAPS = 3
"""How often a check that could not run is begun again before the train stops."""
LOOK_EVERY_SECS = 0.5
"""How long it may take until a pause, a drop or a new entry is noticed while checks run."""


def run_train(
    site: Site,
    told: Callable[[TrainEntry], None] = lambda entry: None,
    is_enough: Callable[[], bool] = lambda: False,
    elsewhere: WorkersElsewhere = NOBODY_ELSEWHERE,
) -> bool:
    """Until nothing waits, the train is paused, or it is enough for the caller. False when somebody else runs it.

    `told` hears of every entry that is over.
    """
    lock = FileLock(site.root.train_lock, name="the merge train")
    if not lock.try_acquire():
        return False
    done = Event()
    lanes = max(1, site.config.repo.validate_jobs)
    try:
        with ThreadPoolExecutor(lanes) as checks, ThreadPoolExecutor(1) as trials:
            try:
                run = TrainRun(replace(site, leaving=done), checks, trials, lanes, TrainEndings(site, told), elsewhere)
                run.go(lambda: is_enough() or site.leaving.is_set())
            except LlmcError as stopped:
                for entry in site.ledger.tasks.train.open()[:1]:
                    site.ledger.tasks.train.change(entry, entry.state, f"the train stopped: {stopped.what}")
                raise
            finally:
                done.set()  # a check that nobody waits for any more ends early
                trials.shutdown(wait=False, cancel_futures=True)
    finally:
        lock.release()
    return True


@dataclass(slots=True)
class TrainRun:
    site: Site
    checks: ThreadPoolExecutor
    trials: ThreadPoolExecutor
    lanes: int
    endings: TrainEndings
    elsewhere: WorkersElsewhere
    tip: str = ""
    """Where the branch is, as far as this run has seen or left it."""
    base: str = ""
    """Where it was before this run landed anything."""
    landed: list[FinishedWork] = field(default_factory=list)
    """What it has put on top of that."""
    lined_up: list[tuple[int, str]] = field(default_factory=list)
    """What the stack was made of: entries, and the commits of their workers."""
    stack: list[StackedWork] = field(default_factory=list)
    tries: dict[str, list[TreeVerdict]] = field(default_factory=dict)
    running: dict[str, Future[TreeVerdict]] = field(default_factory=dict)
    """By tree."""
    mishaps: dict[str, int] = field(default_factory=dict)
    """How often a tree could not be checked at all."""
    examined: dict[int, tuple[TrainEntry, CheckResult, Future[Blame]]] = field(default_factory=dict)
    """Entries whose work has failed twice, while it is found out why."""

    def go(self, is_over: Callable[[], bool]) -> None:
        while not is_over() and not self.site.ledger.tasks.train.is_paused:
            self._send_examined_back()
            entries = self._line_up()
            if not entries and not self.examined:
                return
            if self._finish_landing(entries):
                continue
            self._take_in()
            self._restack(entries)
            self._begin_checks()
            self._move(entries)

    # --- who is in it -----------------------------------------------------------------------------------

    def _workers(self) -> Mapping[str, Worker]:
        return {**self.elsewhere.workers(), **self.site.ledger.load().workers}

    def _line_up(self) -> list[TrainEntry]:
        """In their order. What is about other work than the worker's present one leaves."""
        workers = self._workers()
        lined_up = []
        for entry in self.site.ledger.tasks.train.open():
            worker = workers.get(entry.worker)
            if why := why_out(entry, worker):
                self.examined.pop(entry.id, None)
                self.endings.settle(entry, why)
            elif worker and not is_being_rebased(worker) and entry.id not in self.examined:
                lined_up.append(entry)
        return lined_up

    def _finish_landing(self, entries: list[TrainEntry]) -> bool:
        """Of one whose accept was killed: it may have landed, and then there is nothing of it to be stacked."""
        workers = self.site.ledger.load().workers
        there = [each for each in entries if each.worker in workers]
        begun = next((each for each in there if awaits(workers[each.worker], MergeWork)), None)
        if begun is not None:
            self._land(begun)
        return begun is not None

    # --- the stack --------------------------------------------------------------------------------------

    def _restack(self, entries: list[TrainEntry]) -> None:
        """Costs little, and no verdict is lost: the same works in the same order have the same trees."""
        site, tip = self.site, newest_tip(self.site)
        works = self._works(entries)
        lined_up = [(entry.id, works[entry.worker].head) for entry in entries if entry.worker in works]
        if self.stack and (tip, lined_up) == (self.tip, self.lined_up):
            return
        if tip != self.tip:
            self.base, self.landed = tip, []
        self.tip, self.lined_up = tip, lined_up
        self.stack = stack_works(site.git, site.root.path, tip, list(works.values()))
        keep_stack(site.git, site.root.path, self.stack)
        stacked = {each.work.worker for each in self.stack}
        for entry in entries:
            if entry.worker in stacked and entry.state is EntryState.WAITING:
                site.ledger.tasks.train.change(entry, EntryState.CHECKING)
        reached(Moment.TRAIN_STACKED)

    def _works(self, entries: list[TrainEntry]) -> dict[str, FinishedWork]:
        """By worker; without those whose branch is gone."""
        if not entries:
            return {}
        site, workers = self.site, self._workers()
        there = [(entry, workers[entry.worker]) for entry in entries if entry.worker in workers]
        refs = (self._ref_of(entry.worker, worker) for entry, worker in there)
        heads = site.git.objects(site.root.path, *(f"{ref}^{{commit}}" for ref in refs))
        return {
            entry.worker: FinishedWork(entry.worker, head, worker.base_sha, worker.current_prompt, entry.message)
            for (entry, worker), head in zip(there, heads, strict=True)
            if head is not None
        }

    def _is_here(self, name: str) -> bool:
        return name in self.site.ledger.load().workers

    def _ref_of(self, name: str, worker: Worker) -> str:
        return f"{HEADS}{worker.branch}" if self._is_here(name) else self.elsewhere.head_ref(name)

    # --- its checks -------------------------------------------------------------------------------------

    def _begin_checks(self) -> None:
        if not self.site.config.repo.validate:
            self.tries.update({each.tree: [TreeVerdict(each.tree, ())] for each in self.stack[:1]})
            return
        for each in self.stack[:1]:
            if not self._is_here(each.work.worker) and self.elsewhere.checks_there(each.work.worker):
                self.tries[each.tree] = [TreeVerdict(each.tree, ())]
        commits = {each.tree: each.commit for each in self.stack}
        self._call_off(commits)
        # Some more than there are lanes: none of these stands still while something lands.
        for tree in to_check(list(commits), self.tries, self.running, 2 * self.lanes):
            again = bool(self.tries.get(tree))
            self.running[tree] = self.checks.submit(check_commit, self.site, commits[tree], again=again)

    def _call_off(self, commits: Mapping[str, str]) -> None:
        """What has not begun, if nobody needs it any more, or the first of the stack is to be tried again before it."""
        first = next(iter(commits), "")
        again = bool(self.tries.get(first)) and next_move(self.tries[first]) is NextMove.WAIT
        for tree in list(self.running):
            if (again or tree not in commits) and tree != first and self.running[tree].cancel():
                del self.running[tree]

    def _take_in(self) -> None:
        for tree in [tree for tree, future in self.running.items() if future.done()]:
            check = self.running.pop(tree)
            if isinstance(check.exception(), LlmcError) and self.mishaps.setdefault(tree, 0) < MISHAPS:
                self.mishaps[tree] += 1  # a lock, or a disk that was full for a moment: it is begun again
                continue
            self.tries.setdefault(tree, []).append(check.result())
            reached(Moment.TRAIN_CHECKED)

    def _wait(self) -> None:
        futures: list[Future[Any]] = [*self.running.values(), *(future for _, _, future in self.examined.values())]
        if futures:
            wait(futures, LOOK_EVERY_SECS, FIRST_COMPLETED)
        else:
            self.site.leaving.wait(LOOK_EVERY_SECS)

    # --- one move ---------------------------------------------------------------------------------------

    def _move(self, entries: list[TrainEntry]) -> None:
        if not self.stack:
            # Not even the first fits onto the branch: accept says why.
            self._land(entries[0]) if entries else self._wait()
            return
        first = self.stack[0]
        entry = next(each for each in entries if each.worker == first.work.worker)
        runs = self.tries.get(first.tree, [])
        match next_move(runs):
            case NextMove.LAND:
                self._land(entry, first)
            case NextMove.EXAMINE:
                self._examine(entry, first.work, runs[-1])
            case NextMove.WAIT:
                self._wait()

    def _land(self, entry: TrainEntry, stacked: StackedWork | None = None) -> None:
        train = self.site.ledger.tasks.train
        if not train.change(entry, EntryState.LANDING):
            return
        reached(Moment.TRAIN_BEGUN)
        try:
            wanted = MergeWork(entry.message, entry.changed, entry.tree, entry.auto)
            accept = partial(accept_work, self.site) if self._is_here(entry.worker) else self.elsewhere.accept
            done = accept(entry.worker, wanted)
        except LlmcError as refused:
            self._refused(entry, refused)
            return
        except BaseException:  # Ctrl-C: it has not landed, and is for whoever asked for it to take out
            train.change(entry, EntryState.CHECKING)
            raise
        reached(Moment.TRAIN_LANDED)
        flake = self._flake_note(entry, stacked)
        self.endings.land(entry, done.sha, done.text + flake, done.data)
        reached(Moment.TRAIN_RECORDED)
        self._went_on(entry, stacked, done.sha)

    def _went_on(self, entry: TrainEntry, stacked: StackedWork | None, sha: str) -> None:
        """The rest stands on what has landed, if that is what was stacked."""
        (tree,) = self.site.git.objects(self.site.root.path, f"{sha}^{{tree}}")
        if stacked is None or tree != stacked.tree:
            self.stack = []
            return
        self.landed.append(stacked.work)
        self.tip, self.stack = sha, self.stack[1:]
        self.lined_up = [each for each in self.lined_up if each[0] != entry.id]

    def _refused(self, entry: TrainEntry, refused: LlmcError) -> None:
        if newest_tip(self.site) != self.tip:
            self.site.ledger.tasks.train.change(entry, EntryState.CHECKING)  # the branch has moved: all is stacked anew
        else:
            self.endings.leave(entry, refused)

    def _flake_note(self, entry: TrainEntry, stacked: StackedWork | None) -> str:
        runs = self.tries.get(stacked.tree, []) if stacked is not None else []
        if not is_flake(runs):
            return ""
        words = f"`{_failed(runs[0]).command}` is a flake: it failed, and passed on the same tree at the second try"
        self.endings.note(entry, words)
        return f"\nnote: {words}"

    # --- what fails -------------------------------------------------------------------------------------

    def _examine(self, entry: TrainEntry, work: FinishedWork, verdict: TreeVerdict) -> None:
        """Beside the others, which go on without it."""
        failed = _failed(verdict)
        detail = f"`{failed.command}` has failed twice; finding out with which works"
        if self.site.ledger.tasks.train.change(entry, EntryState.CHECKING, detail):
            trial = self.trials.submit(_find_blame, self.site, self.base, list(self.landed), work)
            self.examined[entry.id] = (entry, failed, trial)

    def _send_examined_back(self) -> None:
        for entry, failed, trial in list(self.examined.values()):
            if trial.done():
                self._send_back(entry, failed, trial.result())
                del self.examined[entry.id]

    def _send_back(self, entry: TrainEntry, failed: CheckResult, blame: Blame) -> None:
        words = blame_words(failed, blame)
        if blame.branch:
            self.endings.leave(entry, LlmcError(words, "fix the branch or the check, then accept again"))
            return
        if entry.auto and not self._may_try_again(entry, words):
            unsent = "nobody looks on, and it was tried again as often as tasks.retries allows"
        else:
            back = partial(send_back, self.site) if self._is_here(entry.worker) else self.elsewhere.send_back
            unsent = back(entry.worker, feedback_of(failed, blame))
        reached(Moment.TRAIN_SENT_BACK)
        if unsent:
            self.endings.leave(entry, LlmcError(words, f"{unsent}: look at it with `llmc review {entry.worker}`"))
        else:
            self.endings.send_back(entry, words)

    def _may_try_again(self, entry: TrainEntry, why: str) -> bool:
        """Counted first, as every try that nobody asked for."""
        tasks, most = self.site.ledger.tasks, self.site.config.tasks.retries
        task = tasks.named([entry.task] if entry.task else []).get(entry.task)
        if task is None or task.retried >= most or not self._is_here(entry.worker):
            return False
        count_try(self.site, self.site.worker(entry.worker), why)
        return True


def _failed(verdict: TreeVerdict) -> CheckResult:
    assert verdict.failed is not None
    return verdict.failed


def _find_blame(site: Site, base: str, before: list[FinishedWork], work: FinishedWork) -> Blame:
    """Alone on the branch, then with each of the works that it was stacked on; and the branch by itself."""
    fails: dict[tuple[str, ...], bool] = {}
    while not isinstance(trial := next_trial([each.worker for each in before], fails), Blame):
        together = [each for each in before if each.worker in trial]
        stacked = stack_works(site.git, site.root.path, base, [*together, work])
        fits = bool(stacked) and stacked[-1].work == work
        fails[trial] = fits and not check_commit(site, stacked[-1].commit).passed
    return trial if trial.others or check_commit(site, base).passed else Blame(branch=True)
