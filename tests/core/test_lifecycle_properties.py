"""Random histories of one worker hold what must always hold, crashes and repeated results included."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from llmc.core.lifecycle import events as ev
from llmc.core.lifecycle.effects import (
    OWNS_WORKTREE,
    AskToResolve,
    CheckResolution,
    ClearConversation,
    Deliver,
    MergeWork,
    RebaseWork,
    RemoveWorker,
    ResetWorktree,
    StartSession,
    StopSession,
    from_step,
)
from llmc.core.lifecycle.policy import Policy
from llmc.core.lifecycle.table import decide
from llmc.errors import IllegalEventError
from llmc.model import Autonomy, Outcome, Proof, Session, Turn, Work, Worker

SHAS = st.sampled_from(["a" * 40, "b" * 40, "c" * 40, "d" * 40])
FACTS = st.sampled_from(
    [
        lambda at, sha: ev.PromptHeard(at, "0" * 64),
        lambda at, sha: ev.ActivityHeard(at, "Bash"),
        lambda at, sha: ev.PermissionWanted(at, "rm -rf build"),
        lambda at, sha: ev.QuestionAsked(at, "which one?"),
        lambda at, sha: ev.TurnEnded(at, sha),
        lambda at, sha: ev.TurnEnded(at, None, dirty=True),
        lambda at, sha: ev.TurnEnded(at, None),
        lambda at, sha: ev.TurnEnded(at, sha, background=True),
        lambda at, sha: ev.TurnFailed(at, "rate_limit"),
        lambda at, sha: ev.CommitSeen(at, sha),
        lambda at, sha: ev.CommitsGone(at, "merged elsewhere"),
        lambda at, sha: ev.ScreenRead(at, "READY", confident=True),
        lambda at, sha: ev.ScreenRead(at, "NEEDS_CONFIRMATION", "permission", confident=True),
        lambda at, sha: ev.DialogConfirmed(at, "git status"),
        lambda at, sha: ev.ConflictsResolved(at, sha, "e" * 40),
        lambda at, sha: ev.ConflictsResolved(at, None, "e" * 40),
        lambda at, sha: ev.ConflictsChanged(at, ("b.py",)),
        lambda at, sha: ev.ChecksRan(at, sha, "`make` failed"),
        lambda at, sha: ev.CommitElsewhere(at, sha, "a detached HEAD"),
        lambda at, sha: ev.TurnEnded(at, sha, elsewhere="a detached HEAD"),
        lambda at, sha: ev.TurnEnded(at, sha, foreign="its .git is gone"),
        lambda at, sha: ev.WorkRestored(at, "the task", sha),
        lambda at, sha: ev.WorkRestored(at, "the task", None),
        lambda at, sha: ev.RebaseAborted(at, sha, quit=True),
        lambda at, sha: ev.RebaseAborted(at, sha),
        lambda at, sha: ev.RebaseAborted(at, None),
    ]
)
SESSION_FACTS = st.sampled_from(
    [
        lambda at: ev.AgentExited(at, 0),
        lambda at: ev.AgentExited(at, 1),
        lambda at: ev.AgentExited(at, None, signal=9),
        lambda at: ev.AgentExited(at, None),
        lambda at: ev.SessionVanished(at),
        lambda at: ev.SessionFound(at, reports_events=True),
        lambda at: ev.SessionFound(at, reports_events=False),
        lambda at: ev.WorktreeLost(at),
        lambda at: ev.WorktreeFound(at),
    ]
)
COMMANDS = st.sampled_from(
    [
        lambda at: ev.MessageGiven(at, "go on"),
        lambda at: ev.AnswerGiven(at, "yes"),
        lambda at: ev.ReviewOpened(at, "a" * 40, "b" * 40, "c" * 40),
        lambda at: ev.WorkRejected(at, "more tests"),
        lambda at: ev.AcceptAsked(at),
        lambda at: ev.RebaseAsked(at, "e" * 40),
        lambda at: ev.ResetAsked(at),
        lambda at: ev.StartAsked(at),
        lambda at: ev.StopAsked(at),
    ]
)
CANCELS = (ev.ResetAsked, ev.RemovalAsked, ev.StopAsked, ev.SessionFailed, ev.StepFailed)
DROPS_COMMIT = (
    ev.WorkMerged,
    ev.WorktreeReset,
    ev.CommitsGone,
    ev.WorkRestored,
    ev.ConflictsResolved,
    ev.TaskGiven,
    ev.RebaseClean,
    ev.TextSent,
    ev.StepFailed,
)


class WorkerHistory(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.clock = 1_000.0
        self.tasks = 0
        self.emitted: set[str] = set()
        self.settled: set[str] = set()

    @initialize(autonomy=st.sampled_from(list(Autonomy)))
    def begin(self, autonomy: Autonomy) -> None:
        self.policy = Policy(autonomy)
        self.worker = Worker("adam", "/w/adam", "llmc/adam", "llmc-adam", "demo", 0.0, 0.0)
        self.task = ""

    def apply(self, event: ev.Event) -> None:
        before = self.worker
        after = decide(before, event, self.policy).worker
        assert decide(before, event, self.policy).worker == after  # pure
        gone = {s.id for s in before.pending} - {s.id for s in after.pending}
        if isinstance(event, ev.StepResult):
            others = gone - {event.step}
            assert not others or isinstance(event, CANCELS) or self._not_delivered(event)
        else:
            assert not gone or isinstance(event, CANCELS)
        self.settled |= gone
        self.emitted |= {s.id for s in after.pending}
        if before.commit_sha and not after.commit_sha:
            assert isinstance(event, DROPS_COMMIT), event
        self._check_task(before, after, event)
        self.worker = after

    @staticmethod
    def _not_delivered(event: ev.Event) -> bool:
        return isinstance(event, ev.TextSent) and event.outcome is Outcome.UNDELIVERED

    def _check_task(self, before: Worker, after: Worker, event: ev.Event) -> None:
        if isinstance(event, ev.TaskGiven):
            self.task = event.prompt
        if isinstance(event, ev.WorkRestored) and after != before:
            self.task = event.task
        released = after.work is Work.IDLE and before.work is not Work.IDLE
        if released:
            # Only these end a task: merged, reset by the user, or never given to the agent at all.
            allowed = (ev.WorkMerged, ev.WorktreeReset, ev.TextSent, ev.StepFailed, ev.SessionReady)
            assert isinstance(event, allowed), event
            self.task = ""
        assert after.current_prompt == self.task

    def now(self) -> float:
        self.clock += 1.0
        return self.clock

    @rule()
    def give_task(self) -> None:
        self.tasks += 1
        self._command(ev.TaskGiven(self.now(), f"task {self.tasks}", f"preamble, task {self.tasks}"))

    @rule(make=COMMANDS)
    def command(self, make) -> None:
        self._command(make(self.now()))

    def _command(self, event: ev.UserCommand) -> None:
        before = self.worker
        try:
            self.apply(event)
        except IllegalEventError as refused:
            told = bool(refused.what and refused.hint)
        else:
            return
        assert told
        assert self.worker is before

    @rule(make=FACTS, sha=SHAS)
    def fact(self, make, sha: str) -> None:
        self.apply(make(self.now(), sha))

    @rule(make=SESSION_FACTS)
    def session_fact(self, make) -> None:
        before = self.worker
        self.apply(make(self.now()))
        if self.policy.autonomy is not Autonomy.AUTO:
            assert self.worker.work is before.work  # losing a session never touches the work

    @precondition(lambda self: self.worker.timers)
    @rule()
    def timer(self) -> None:
        self.apply(ev.Woke(self.now(), min(self.worker.timers)))

    @precondition(lambda self: self.worker.pending)
    @rule()
    def begin_step(self) -> None:
        self.apply(ev.StepBegun(self.now(), self.worker.pending[0].id))

    @precondition(lambda self: self.worker.pending)
    @rule(data=st.data(), told_twice=st.booleans(), sha=SHAS)
    def finish_step(self, data, told_twice: bool, sha: str) -> None:
        step = self.worker.pending[0]
        result = data.draw(st.sampled_from(self._results(from_step(step), step.id, sha)))
        self.apply(result)
        if told_twice:  # the process died after the save, and the effect was carried out again
            once = self.worker
            self.apply(result)
            assert self.worker == once

    def _results(self, effect: object, step: str, sha: str) -> list[ev.Event]:
        at = self.now()
        failed = ev.StepFailed(at, step, "no space left on device")
        match effect:
            case StartSession():
                return [
                    ev.SessionReady(at, step, True),
                    ev.SessionReady(at, step, False),
                    ev.SessionFailed(at, step, "x"),
                ]
            case StopSession():
                return [ev.SessionStopped(at, step), failed]
            case Deliver() | ClearConversation():
                return [
                    ev.TextSent(at, step, Outcome.DELIVERED, Proof.HOOK),
                    ev.TextSent(at, step, Outcome.QUEUED, Proof.HOOK),
                    ev.TextSent(at, step, Outcome.UNKNOWN, Proof.NONE, "no sign"),
                    ev.TextSent(at, step, Outcome.UNDELIVERED, Proof.NONE, "dialog open", refused=True),
                    ev.TextSent(at, step, Outcome.UNDELIVERED, Proof.NONE, "lost three times"),
                    failed,
                ]
            case RebaseWork():
                return [
                    ev.RebaseClean(at, step, sha, "e" * 40),
                    ev.RebaseClean(at, step, None, "e" * 40),
                    ev.RebaseConflicted(at, step, ("a.py",), "resolve them"),
                    failed,
                ]
            case AskToResolve():
                asked = ev.RebaseConflicted(at, step, ("a.py",), "resolve them")
                return [asked, ev.RebaseConflicted(at, step, (), ""), failed]
            case CheckResolution():
                return [ev.ResolutionChecked(at, step), ev.ResolutionChecked(at, step, "markers", "mend it"), failed]
            case MergeWork():
                return [ev.WorkMerged(at, step, sha), ev.MergeRefused(at, step, "local changes"), failed]
            case ResetWorktree():
                return [ev.WorktreeReset(at, step, sha), failed]
            case RemoveWorker():
                return [failed]
        raise AssertionError(effect)

    @invariant()
    def review_has_a_commit(self) -> None:
        if self.worker.work is Work.NEEDS_REVIEW:
            assert self.worker.commit_sha

    @invariant()
    def one_owner_of_the_worktree(self) -> None:
        owners = [s for s in self.worker.pending if isinstance(from_step(s), OWNS_WORKTREE)]
        assert len(owners) <= 1
        if owners and self.worker.pending[0] == owners[0]:
            # LLMC has the worktree now: nobody may give the agent something to do with it.
            task = ev.TaskGiven(self.clock, "x", "x")
            if self.worker.work is Work.IDLE:
                try:
                    decide(self.worker, task, self.policy)
                except IllegalEventError:
                    pass
                else:
                    raise AssertionError("a task was given while LLMC owns the worktree")

    @invariant()
    def every_effect_is_accounted_for(self) -> None:
        pending = {s.id for s in self.worker.pending}
        assert pending | self.settled == self.emitted
        assert not pending & self.settled
        assert len(pending) == len(self.worker.pending)

    @invariant()
    def somebody_starts_what_is_starting(self) -> None:
        if self.worker.session is Session.STARTING:
            kinds = tuple(type(from_step(step)) for step in self.worker.pending)
            assert StartSession in kinds or StopSession in kinds

    @invariant()
    def evidence_tells_why(self) -> None:
        if self.worker.work is not Work.IDLE:
            assert self.worker.evidence.signal != "created"

    @invariant()
    def a_dead_session_has_no_open_turn(self) -> None:
        if self.worker.session is Session.CRASHED:
            assert self.worker.turn is not Turn.OPEN or self.worker.reports_events


TestWorkerHistory = WorkerHistory.TestCase
TestWorkerHistory.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
