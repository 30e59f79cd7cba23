"""The lifecycle as tables: what each event does in each state, then whole stories, then what peers got wrong.

In the first table a letter stands for the work that the event leads to:
I idle, W working, N needs input, R needs review, J rejected, B rebasing, E error;
x: refused; -: this does not occur together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmc.core.lifecycle import events as ev
from llmc.core.lifecycle import setup_events
from llmc.core.lifecycle.effects import (
    AskToResolve,
    CheckResolution,
    ClearConversation,
    Deliver,
    LastingEffect,
    MergeWork,
    Purpose,
    RebaseWork,
    RemoveWorker,
    ResetWorktree,
    StartSession,
    StopSession,
    from_step,
)
from llmc.core.lifecycle.policy import Policy
from llmc.core.lifecycle.setup_events import PortsGiven, SetupBegun, SetupDone, SetupFailed, WorktreeReplaced
from llmc.core.lifecycle.table import TABLE, decide
from llmc.core.lifecycle.transitions.blocked import GO_ON
from llmc.core.lifecycle.transitions.shared import (
    COMMIT_GRACE,
    ELSEWHERE_GRACE,
    REBASE_ESCALATE,
    REBASE_HELP,
    RESTART,
    with_steps,
)
from llmc.errors import IllegalEventError
from llmc.model import Autonomy, Blocked, Outcome, Proof, Session, Turn, Work, Worker

NOW = 10_000.0
A, B, C, BASE, TIP = ("a" * 40, "b" * 40, "c" * 40, "0" * 40, "f" * 40)
MANUAL, ASSIST, AUTO = Policy(Autonomy.MANUAL), Policy(Autonomy.ASSIST), Policy(Autonomy.AUTO)
LETTERS = {
    "I": Work.IDLE,
    "W": Work.WORKING,
    "N": Work.NEEDS_INPUT,
    "R": Work.NEEDS_REVIEW,
    "J": Work.REJECTED,
    "B": Work.REBASING,
    "E": Work.ERROR,
}
NEW = Worker("adam", "/w/adam", "llmc/adam", "llmc-adam", "demo", 0.0, 0.0)
UP = replace(NEW, session=Session.UP, turn=Turn.OVER, reports_events=True, base_sha=BASE)
AT_WORK = replace(UP, work=Work.WORKING, current_prompt="add a parser", turn=Turn.OPEN)
STANDING = {
    Work.IDLE: UP,
    Work.WORKING: AT_WORK,
    Work.NEEDS_INPUT: replace(AT_WORK, work=Work.NEEDS_INPUT, turn=Turn.OVER),
    Work.NEEDS_REVIEW: replace(AT_WORK, work=Work.NEEDS_REVIEW, turn=Turn.OVER, commit_sha=A),
    Work.REJECTED: replace(AT_WORK, work=Work.REJECTED, commit_sha=A, rejected_sha=A),
    Work.REBASING: replace(
        AT_WORK,
        work=Work.REBASING,
        commit_sha=A,
        resume_work=Work.NEEDS_REVIEW,
        rebase_started_at_unix=NOW - 60,
        conflicted_files=("a.py",),
    ),
    Work.ERROR: replace(AT_WORK, work=Work.ERROR, turn=Turn.OVER, resume_work=Work.WORKING),
}
"""A worker as it usually is in each work: online, its agent reports events."""

Happening = Callable[[Worker], ev.Event]


def occurs(kind: type[ev.Event], *args: Any, **options: Any) -> Happening:
    return lambda worker: kind(NOW, *args, **options)


def runs_out(timer: str) -> Happening:
    return lambda worker: ev.Woke(worker.timers.get(timer, NOW), timer)


def came_of(kind: type[ev.StepResult], *args: Any, **options: Any) -> Happening:
    """The result of the worker's first step."""
    return lambda worker: kind(NOW, worker.pending[0].id, *args, **options)


def sent(outcome: Outcome, *, proof: Proof = Proof.NONE, refused: bool = False) -> Happening:
    return came_of(ev.TextSent, outcome, proof, "the reason", refused=refused)


REPLACED = occurs(WorktreeReplaced)
PORTS = occurs(PortsGiven, (20_000, 20_001))
SETTING_UP = came_of(SetupBegun, "npm ci")
SET_UP = came_of(SetupDone, ("package-lock.json",))
NOT_SET_UP = came_of(SetupFailed, "`npm ci` failed")
TASK = occurs(ev.TaskGiven, "add a parser", "the whole prompt")
MESSAGE = occurs(ev.MessageGiven, "go on")
REJECT = occurs(ev.WorkRejected, "more tests")
ACCEPT = occurs(ev.AcceptAsked)
LANDED_AT_HUB = occurs(ev.LandedAtHub, TIP, True)
REBASE_ASKED = occurs(ev.RebaseAsked, TIP)
RESET_ASKED = occurs(ev.ResetAsked)
START_ASKED = occurs(ev.StartAsked)
STOP_ASKED = occurs(ev.StopAsked)
REMOVAL = occurs(ev.RemovalAsked)
HEARD = occurs(ev.PromptHeard, "d" * 64)
TOOL = occurs(ev.ActivityHeard, "Edit")
PERMISSION = occurs(ev.PermissionWanted, "rm")
QUESTION = occurs(ev.QuestionAsked, "which?")
INTERRUPTED = occurs(ev.TurnInterrupted, "report")
INTERRUPTED_SCREEN = occurs(ev.TurnInterrupted, "screen")
BROKE = occurs(ev.BudgetSpent, "the budget of t1 is spent", "`llmc task release t1`")
TURN_FAILED = occurs(ev.TurnFailed, "rate_limit")
ANSWER = occurs(ev.AnswerGiven, "yes")
REVIEW_OPENED = occurs(ev.ReviewOpened, A, "t" * 40, B)
COMMITS_GONE = occurs(ev.CommitsGone, "merged elsewhere")
RESOLVED = occurs(ev.ConflictsResolved, B, TIP)
SKIPPED = occurs(ev.ConflictsResolved, None, TIP)
CONFLICTS_CHANGED = occurs(ev.ConflictsChanged, ("b.py",))
CHECKED = occurs(ev.ChecksRan, A)
FAILED_CHECKS = occurs(ev.ChecksRan, A, "`make` failed")
ELSEWHERE = occurs(ev.CommitElsewhere, B, "a detached HEAD")
QUIT = occurs(ev.RebaseAborted, A, quit=True)
ABORTED = occurs(ev.RebaseAborted, A)
ABORTED_EMPTY = occurs(ev.RebaseAborted, None)
FOUND = occurs(ev.SessionFound, True)
CLOSED = occurs(ev.AgentExited, 0)
CRASHED = occurs(ev.AgentExited, 1)
QUIET = occurs(ev.ScreenRead, "READY")
SURELY_QUIET = occurs(ev.ScreenRead, "READY", confident=True)
SURELY_RESTED = occurs(ev.ScreenRead, "READY", confident=True, rested=True)
SURELY_ASKS = occurs(ev.ScreenRead, "NEEDS_CONFIRMATION", "permission", confident=True)
SURELY_BUSY = occurs(ev.ScreenRead, "BUSY", confident=True)
GONE = occurs(ev.SessionVanished)
GRACE_OVER = runs_out(COMMIT_GRACE)
HELP_DUE, ESCALATION_DUE = runs_out(REBASE_HELP), runs_out(REBASE_ESCALATE)
WAIT_OVER = runs_out(GO_ON)
SILENCE = occurs(ev.SilenceLasted)
SCREEN_MOVED = occurs(ev.ScreenMoved)
RESTORED, RESTORED_FILES = occurs(ev.WorkRestored, "the task", B), occurs(ev.WorkRestored, "the task", None)
WORKTREE_LOST, WORKTREE_FOUND = occurs(ev.WorktreeLost), occurs(ev.WorktreeFound)
CONFIRMED = occurs(ev.DialogConfirmed, "git status")
BEGUN = came_of(ev.StepBegun)
LAUNCHED = came_of(ev.SessionLaunched, "5e551011")
READY = came_of(ev.SessionReady, True)
OUTLIVED = occurs(ev.PromptHeard, "d" * 64, outlived=True)
STOPPED = came_of(ev.SessionStopped)
NOT_STARTED = came_of(ev.SessionFailed, "no key")
DIALOG_SEEN = occurs(ev.DialogSeen, "Go on? (1 Yes; 2 No)")
START_ASKS = came_of(ev.StartWaits, "Do you trust it?", "1 Yes; 2 No")
DELIVERED = sent(Outcome.DELIVERED, proof=Proof.HOOK)
QUEUED = sent(Outcome.QUEUED, proof=Proof.COMPOSER)
UNKNOWN = sent(Outcome.UNKNOWN)
REFUSED = sent(Outcome.UNDELIVERED, refused=True)
LOST = sent(Outcome.UNDELIVERED)
REBASED = came_of(ev.RebaseClean, B, TIP)
NOTHING_LEFT = came_of(ev.RebaseClean, None, TIP)
CONFLICTS = came_of(ev.RebaseConflicted, ("a.py", "b.py"), "resolve them")
NO_CONFLICTS = came_of(ev.RebaseConflicted, (), "")
SOUND = came_of(ev.ResolutionChecked)
UNSOUND = came_of(ev.ResolutionChecked, "conflict markers are left in a.py", "mend it")
MERGED = came_of(ev.WorkMerged, C)
NOT_MERGED = came_of(ev.MergeRefused, "local changes")
RESET_DONE = came_of(ev.WorktreeReset, TIP)
FAILED = came_of(ev.StepFailed, "no space left on device")


def turn_over(commit: str | None, **options: Any) -> Happening:
    return occurs(ev.TurnEnded, commit, **options)


def commit(sha: str) -> Happening:
    return occurs(ev.CommitSeen, sha)


# --- what each event does in each state ----------------------------------------------------------


@dataclass(frozen=True)
class Row:
    what: str
    event: Happening
    leads_to: str
    pending: LastingEffect | None = None
    policy: Policy = MANUAL
    fields: dict[str, Any] = field(default_factory=dict)

    def worker(self, work: Work) -> Worker:
        worker = replace(STANDING[work], **self.fields)
        return with_steps(worker, self.pending) if self.pending is not None else worker


TEXT, CLEAR = Deliver("text", Purpose.TASK), ClearConversation()
START, STOP, REBASE, MERGE, RESET, REMOVE = (
    StartSession(),
    StopSession(),
    RebaseWork(TIP),
    MergeWork(),
    ResetWorktree(),
    RemoveWorker(),
)
DROP_TASK = ResetWorktree(drops_task=True)
ASK_AGAIN, HELP, CHECK = AskToResolve(), AskToResolve(help=True), CheckResolution()
SILENT = {"reports_events": False}
OVER, OPEN, DOWN = {"turn": Turn.OVER}, {"turn": Turn.OPEN}, {"session": Session.DOWN}
SILENT_COMMIT = {**SILENT, "commit_sha": B}
GRACE_COMMIT = {"timers": MappingProxyType({COMMIT_GRACE: NOW}), "commit_sha": B}
GRACE_NOTHING = {**GRACE_COMMIT, "commit_sha": None}
CRASHING = {"crash_count": 3, "last_crash_unix": NOW - 60}
CRASHED_ONCE = {"crash_count": 1, "last_crash_unix": NOW - 60}
ASKED = {"nudges": 2}
WAITING = {
    "turn": Turn.OVER,
    "blocked": Blocked("rate_limit", NOW - 300),
    "timers": MappingProxyType({GO_ON: NOW}),
}
REBASE_OVER = {"rebase_started_at_unix": None}
NOTHING_THERE = {**REBASE_OVER, "commit_sha": None}
ELSEWHERE_LONG = {**SILENT, "timers": MappingProxyType({ELSEWHERE_GRACE: NOW})}
ASKED_OFTEN = {"resolution_attempts": 3}
WAS_NOTHING, WAS_IDLE, WAS_WAITING, WAS_REJECTED, WAS_REBASING, WAS_ERROR = (
    {"resume_work": work} for work in (None, Work.IDLE, Work.NEEDS_INPUT, Work.REJECTED, Work.REBASING, Work.ERROR)
)
WAS_REVIEWED = {"resume_work": Work.NEEDS_REVIEW, "commit_sha": A}
WAS_TAKEN_BACK = {"resume_work": Work.NEEDS_REVIEW, "commit_sha": None}

ROWS = [
    # what a user asks                                                   I W N R J B E
    Row("start",                          TASK,                         "W x x x x x x"),
    Row("message",                        MESSAGE,                      "I W W W J B W"),
    Row("answer",                         ANSWER,                       "I W W R J B E"),
    Row("review",                         REVIEW_OPENED,                "x x x R x x x"),
    Row("reject",                         REJECT,                       "x x x J x x x"),
    Row("accept",                         ACCEPT,                       "x x x R x x x"),
    Row("landed at the hub",              LANDED_AT_HUB,                "x x I I x x x"),
    Row("rebase",                         REBASE_ASKED,                 "x x B B x B x", fields=OVER),
    Row("reset",                          RESET_ASKED,                  "I W N R J B E"),
    Row("up",                             START_ASKED,                  "I W N R J B E", fields=DOWN),
    Row("down",                           STOP_ASKED,                   "I W N R J B E"),
    Row("nuke",                           REMOVAL,                      "I W N R J B E"),
    # what the agent reports
    Row("prompt accepted",                HEARD,                        "I W W W J B E"),
    Row("prompt of an ended session",     OUTLIVED,                     "I W N R J B E", fields=OVER),
    Row("prompt after its end",           HEARD,                        "I W N R J B E", fields=DOWN),
    Row("a tool after its end",           TOOL,                         "I W N R J B E", fields=DOWN),
    Row("a tool is used",                 TOOL,                         "I W W R J B E"),
    Row("permission wanted",              PERMISSION,                   "I N N R N B E"),
    Row("question asked",                 QUESTION,                     "I N N R N B E"),
    Row("turn over, new commit",          turn_over(B),                 "R R R R R B E"),
    Row("turn over, the rejected commit", turn_over(A),                 "R R R R N B E"),
    Row("turn over, no commit",           turn_over(None),              "I N N R N B E"),
    Row("turn over, dirty",               turn_over(None, dirty=True),  "I N N R N B E"),
    Row("turn over, something runs on",   turn_over(B, background=True), "I W N R J B E"),
    Row("turn over, resolved",            turn_over(A),                 "- - - - - B -", fields=REBASE_OVER),
    Row("turn over, skipped",             turn_over(None),              "- - - - - N -", fields=NOTHING_THERE),
    Row("turn over, elsewhere",           turn_over(B, elsewhere="a detached HEAD"), "R N N R N B E"),
    Row("turn over, rebase begins",       turn_over(A),                 "- - - - - B -", REBASE),
    Row("interrupted",                    INTERRUPTED,                  "I N N R N B E"),
    Row("interrupted, by its screen",     INTERRUPTED_SCREEN,           "I N N R N B E", fields=OPEN),
    Row("its budget is spent",            BROKE,                        "I N N R N B E"),
    Row("interrupted, text on its way",   INTERRUPTED_SCREEN,           "I W N R J B E", TEXT, fields=OPEN),
    Row("interrupted, turn over",         INTERRUPTED_SCREEN,           "I W N R J B E", fields=OVER),
    Row("turn failed",                    TURN_FAILED,                  "I N N R N B E"),
    # what git, the screen, the process and the clock show
    Row("commit, turn over",              commit(B),                    "R R R R R B E", fields=OVER),
    Row("commit, turn open",              commit(B),                    "I W N R J B E", fields=OPEN),
    Row("commit, no reports",             commit(B),                    "I W N R J B E", fields=SILENT),
    Row("commit of our own making",       commit(B),                    "I W N R J B E", RESET, fields=OVER),
    Row("commit, text on its way",        commit(B),                    "I W N R J B E", TEXT, fields=OVER),
    Row("the rejected commit again",      commit(A),                    "- - - - J - -", fields=OVER),
    Row("commits restored",               RESTORED,                     "R W R R J B E"),
    Row("files restored",                 RESTORED_FILES,               "N W N N J B E"),
    Row("restored, text on its way",      RESTORED,                     "I W N R J B E", TEXT),
    Row("turn over, another repository",  turn_over(None, foreign="its .git is gone"), "I N N R N N E"),
    Row("commits gone",                   COMMITS_GONE,                 "I W N N J B E"),
    Row("commits gone by ourselves",      COMMITS_GONE,                 "I W N R J B E", MERGE),
    Row("commit elsewhere, turn over",    ELSEWHERE,                    "I N N R N B E", fields=OVER),
    Row("commit elsewhere, turn open",    ELSEWHERE,                    "I W N R J B E", fields=OPEN),
    Row("commit elsewhere, no reports",   ELSEWHERE,                    "I W N R J B E", fields=SILENT),
    Row("commit elsewhere for long",      ELSEWHERE,                    "I N N R N B E", fields=ELSEWHERE_LONG),
    Row("conflicts changed",              CONFLICTS_CHANGED,            "I W N R J B E"),
    Row("checks passed",                  CHECKED,                      "I W N R J B E"),
    Row("checks failed",                  FAILED_CHECKS,                "I W N R J B E"),
    Row("resolved, turn over",            RESOLVED,                     "I W N R J B E", fields=OVER),
    Row("resolved by skipping",           SKIPPED,                      "I W N R J N E"),
    Row("rebase quit",                    QUIT,                         "I W N R J N E"),
    Row("resolved, turn open",            RESOLVED,                     "I W N R J B E", fields=OPEN),
    Row("rebase aborted",                 ABORTED,                      "I W N R J R E"),
    Row("rebase aborted, no commits",     ABORTED_EMPTY,                "I W N R J N E"),
    Row("rebase not begun",               ABORTED,                      "I W N R J B E", REBASE),
    Row("screen quiet",                   SURELY_QUIET,                 "I W N R J B E"),
    Row("screen quiet, assist",           SURELY_QUIET,                 "I N N R N B E", policy=ASSIST),
    Row("screen quiet, no reports",       SURELY_QUIET,                 "I W N R J B E", fields=SILENT),
    Row("screen at rest",                 SURELY_RESTED,                "I W N R J B E"),
    Row("screen at rest, no reports",     SURELY_RESTED,                "I N N R N B E", fields=SILENT),
    Row("screen asks",                    SURELY_ASKS,                  "I W N R J B E"),
    Row("screen asks, no reports",        SURELY_ASKS,                  "I N N R N B E", fields=SILENT),
    Row("screen quiet, commit",           QUIET,                        "- R N R R B E", fields=SILENT_COMMIT),
    Row("screen busy, assist",            SURELY_BUSY,                  "I W N R J B E", policy=ASSIST),
    Row("agent closed",                   CLOSED,                       "I W N R J B E", policy=AUTO),
    Row("agent crashed",                  CRASHED,                      "I W N R J B E", policy=AUTO),
    Row("crashed too often",              CRASHED,                      "E E E E E E E", policy=AUTO, fields=CRASHING),
    Row("session gone",                   GONE,                         "I W N R J B E"),
    Row("session gone too often",         GONE,                         "E E E E E E E", policy=AUTO, fields=CRASHING),
    Row("session found",                  FOUND,                        "I W N R J B E", fields=DOWN),
    Row("grace over, commit",             GRACE_OVER,                   "R R R R R B E", fields=GRACE_COMMIT),
    Row("a block is over",                WAIT_OVER,                    "I W W R J B E", policy=AUTO, fields=WAITING),
    Row("something on the screen",        SCREEN_MOVED,                 "I W N R J B E"),
    Row("its worktree was removed",       WORKTREE_LOST,                "I W N R J B E"),
    Row("its worktree was removed, auto", WORKTREE_LOST,                "I W N R J B E", policy=AUTO),
    Row("its worktree is there again",    WORKTREE_FOUND,               "I W N R J B E"),
    Row("its worktree is made again",     REPLACED,                     "I W N R J B E"),
    Row("it has its ports",               PORTS,                        "I W N R J B E"),
    Row("a dialog was confirmed",         CONFIRMED,                    "I W W R J B E"),
    Row("silence",                        SILENCE,                      "I W N R J B E"),
    Row("silence, asked twice",           SILENCE,                      "I N N R N B E", policy=AUTO, fields=ASKED),
    Row("grace over, no commit",          GRACE_OVER,                   "I W N - J B E", fields=GRACE_NOTHING),
    # what came of an effect
    Row("begun",                          BEGUN,                        "I W N R J B E", TEXT),
    Row("setup begun",                    SETTING_UP,                   "I W N R J B E", START),
    Row("setup done",                     SET_UP,                       "I W N R J B E", START),
    Row("setup failed",                   NOT_SET_UP,                   "E E E E E E E", START),
    Row("setup failed, auto",             NOT_SET_UP,                   "E E E E E E E", START, AUTO, CRASHED_ONCE),
    Row("session launched",               LAUNCHED,                     "I W N R J B E", START),
    Row("session ready",                  READY,                        "I W N R J B W", START),
    Row("ready, was idle",                READY,                        "- - - - - - I", START, fields=WAS_IDLE),
    Row("ready, waited",                  READY,                        "- - - - - - N", START, fields=WAS_WAITING),
    Row("ready, reviewed",                READY,                        "- - - - - - R", START, fields=WAS_REVIEWED),
    Row("ready, rejected",                READY,                        "- - - - - - J", START, fields=WAS_REJECTED),
    Row("ready, rebased",                 READY,                        "- - - - - - B", START, fields=WAS_REBASING),
    Row("ready, nothing known",           READY,                        "- - - - - - E", START, fields=WAS_NOTHING),
    Row("session failed",                 NOT_STARTED,                  "E E E E E E E", START),
    Row("dialog seen",                    DIALOG_SEEN,                  "I N N R N B E"),
    Row("start asks",                     START_ASKS,                   "I W N R J B E", START),
    Row("not restarted at once",          NOT_STARTED,                  "I W N R J B E", START, AUTO, CRASHED_ONCE),
    Row("session stopped",                STOPPED,                      "I W N R J B E", STOP),
    Row("delivered",                      DELIVERED,                    "I W N R J B E", TEXT),
    Row("queued",                         QUEUED,                       "I W N R J B E", TEXT),
    Row("unknown",                        UNKNOWN,                      "I W N R J B E", TEXT),
    Row("cleared",                        DELIVERED,                    "I W N R J B E", CLEAR),
    Row("refused",                        REFUSED,                      "I W N R J B E", TEXT, fields=WAS_NOTHING),
    Row("refused, was idle",              REFUSED,                      "- I - - - B E", TEXT, fields=WAS_IDLE),
    Row("refused, waited",                REFUSED,                      "- N - - - B E", TEXT, fields=WAS_WAITING),
    Row("refused, reviewed",              REFUSED,                      "- R - - R - -", TEXT, fields=WAS_REVIEWED),
    Row("refused, commit gone",           REFUSED,                      "- N - - N - -", TEXT, fields=WAS_TAKEN_BACK),
    Row("refused, in error",              REFUSED,                      "- E - - - - -", TEXT, fields=WAS_ERROR),
    Row("lost",                           LOST,                         "- E - - E B E", TEXT, fields=WAS_REVIEWED),
    Row("not cleared",                    REFUSED,                      "- I - - - - -", CLEAR, fields=WAS_IDLE),
    Row("rebased",                        REBASED,                      "I W N R J R E", REBASE),
    Row("rebased, waited",                REBASED,                      "- - - - - N -", REBASE, fields=WAS_WAITING),
    Row("nothing left",                   NOTHING_LEFT,                 "I W N N J N E", REBASE),
    Row("conflicts",                      CONFLICTS,                    "I W N R J B E", REBASE),
    Row("nothing to ask",                 NO_CONFLICTS,                 "I W N R J B E", ASK_AGAIN),
    Row("resolution is sound",            SOUND,                        "I W N R J R E", CHECK),
    Row("resolution is not sound",        UNSOUND,                      "I W N R J N E", CHECK),
    Row("not sound, auto",                UNSOUND,                      "I W N R J B E", CHECK, policy=AUTO),
    Row("not sound, asked often",         UNSOUND,                      "- - - - - N -", CHECK, AUTO, ASKED_OFTEN),
    Row("merged",                         MERGED,                       "I I I I I I I", MERGE),
    Row("not merged",                     NOT_MERGED,                   "I W N R J B E", MERGE),
    Row("worktree reset",                 RESET_DONE,                   "I W N R J B E", RESET),
    Row("task dropped",                   RESET_DONE,                   "I I I I I I I", DROP_TASK),
    Row("stop failed",                    FAILED,                       "I W N R J B E", STOP),
    Row("start failed",                   FAILED,                       "E E E E E E E", START),
    Row("reset failed",                   FAILED,                       "I E E E E E E", DROP_TASK, fields=WAS_NOTHING),
    Row("task failed",                    FAILED,                       "- I - - - - -", RESET, fields=WAS_IDLE),
    Row("message failed",                 FAILED,                       "- N - - - - -", TEXT, fields=WAS_WAITING),
    Row("feedback failed",                FAILED,                       "- R - - R - -", TEXT, fields=WAS_REVIEWED),
    Row("feedback failed, commit gone",   FAILED,                       "- N - - N - -", TEXT, fields=WAS_TAKEN_BACK),
    Row("rebase failed",                  FAILED,                       "- - - - - R -", REBASE),
    Row("request failed",                 FAILED,                       "- - - - - B -", TEXT),
    Row("rebase failed, waited",          FAILED,                       "- - - - - N -", REBASE, fields=WAS_WAITING),
]  # fmt: skip


def cells():
    for row in ROWS:
        for work, letter in zip(LETTERS.values(), row.leads_to.split(), strict=True):
            if letter != "-":
                yield pytest.param(row, work, LETTERS.get(letter), id=f"{row.what}-{work.value}")


@pytest.mark.parametrize(("row", "work", "expected"), list(cells()))
def test_where_each_event_leads(row, work, expected):
    worker = row.worker(work)
    event = row.event(worker)
    if expected is None:
        with pytest.raises(IllegalEventError) as refused:
            decide(worker, event, row.policy)
        assert refused.value.hint
        assert worker == row.worker(work)
    else:
        assert decide(worker, event, row.policy).worker.work is expected


def test_the_table_has_no_line_that_is_not_shown_here():
    """Every event in every work, with everything that it may lead to, is in the rows above; and nothing else is."""
    shown = set()
    for row in ROWS:
        for work, letter in zip(LETTERS.values(), row.leads_to.split(), strict=True):
            if letter in LETTERS:
                shown.add((type(row.event(row.worker(work))), work, LETTERS[letter]))
    written = {
        (kind, work, to) for kind, rule in TABLE.items() for work, to_all in rule.targets.items() for to in to_all
    }
    assert {names(line) for line in written - shown} == set()
    assert {names(line) for line in shown - written} == set()


def names(line):
    kind, work, to = line
    return f"{kind.__name__}: {work.value} -> {to.value}"


def test_every_event_has_a_rule_and_a_name_of_its_own():
    families = (ev.Event, ev.UserCommand, ev.Fact, ev.StepResult)
    named = {**vars(ev), **vars(setup_events)}.values()
    kinds = {kind for kind in named if isinstance(kind, type) and issubclass(kind, ev.Event)} - {*families}
    assert set(TABLE) == kinds
    assert len({rule.signal for rule in TABLE.values()}) == len(TABLE)


@pytest.mark.parametrize("kind", [kind for kind in TABLE if not issubclass(kind, ev.UserCommand)])
def test_facts_are_never_refused(kind):
    assert set(TABLE[kind].targets) == set(Work)


# --- what is refused -----------------------------------------------------------------------------


NEEDS_FREE = [TASK, MESSAGE, REJECT, ACCEPT, LANDED_AT_HUB, REBASE_ASKED]
NEEDS_SESSION = [TASK, MESSAGE, REJECT]


def ready_for(happening: Happening) -> Worker:
    return STANDING[Work.IDLE if happening is TASK else Work.NEEDS_REVIEW]


def refusal(worker: Worker, happening: Happening) -> IllegalEventError:
    before = replace(worker)
    with pytest.raises(IllegalEventError) as refused:
        decide(worker, happening(worker), MANUAL)
    assert worker == before
    assert refused.value.hint
    return refused.value


def test_who_gives_a_task_to_work_that_waits_is_sent_to_its_review():
    assert f"`llmc review {STANDING[Work.NEEDS_REVIEW].name}`" in refusal(STANDING[Work.NEEDS_REVIEW], TASK).hint


@pytest.mark.lesson(33, "one at a time rebases a worktree")
@pytest.mark.parametrize("command", NEEDS_FREE)
def test_one_thing_at_a_time(command):
    assert "in the middle of something (ResetWorktree)" in refusal(with_steps(ready_for(command), RESET), command).what


@pytest.mark.lesson(12, "the first text waits for the agent's own start")
@pytest.mark.parametrize("session", [Session.DOWN, Session.STARTING, Session.CRASHED])
@pytest.mark.parametrize("command", NEEDS_SESSION)
def test_an_agent_that_does_not_run_gets_no_text(command, session):
    refused = refusal(replace(ready_for(command), session=session), command)
    assert f"its session is {session.value}" in refused.what
    assert "llmc up" in refused.hint


COMMANDS = [row for row in ROWS if isinstance(row.event(with_steps(UP, TEXT)), ev.UserCommand)]


@pytest.mark.parametrize("row", COMMANDS, ids=lambda row: row.what)
def test_a_worker_that_is_being_removed_takes_no_orders(row):
    leaving = with_steps(ready_for(row.event), REMOVE)
    if row.event is REMOVAL:
        assert steps_of(after(leaving, REMOVAL)) == "remove"
    else:
        assert "is being removed" in refusal(leaving, row.event).what


@pytest.mark.lesson(33, "one at a time rebases a worktree")
def test_an_agent_in_the_middle_of_a_turn_is_not_rebased():
    busy = replace(STANDING[Work.NEEDS_REVIEW], turn=Turn.OPEN)
    assert "in the middle of a turn" in refusal(busy, REBASE_ASKED).what


def test_a_refusal_says_what_is_needed_and_what_is():
    refused = refusal(AT_WORK, ACCEPT)
    assert refused.what == "accept needs a worker that is needs_review; adam is working"
    assert "llmc explain adam" in refused.hint


# --- whole stories -------------------------------------------------------------------------------


STEPS = {
    "start": StartSession,
    "stop": StopSession,
    "deliver": Deliver,
    "clear": ClearConversation,
    "rebase": RebaseWork,
    "ask": AskToResolve,
    "check": CheckResolution,
    "merge": MergeWork,
    "reset": ResetWorktree,
    "remove": RemoveWorker,
}
WORDS = {kind: word for word, kind in STEPS.items()}

Scenes = list[tuple[Happening, str]]
STORIES: dict[str, tuple[Policy, Worker, Scenes]] = {}

STORIES["from the first start to the merge"] = MANUAL, NEW, [
    # what happens           work         session  turn      steps to take         told           why
    (START_ASKED,           "idle         starting unknown | start               |              | command.up"),
    (READY,                 "idle         up       over    |                     |              | session.ready"),
    (TASK,                  "working      up       over    | reset clear deliver |              | command.start"),
    (RESET_DONE,            "working      up       over    | clear deliver       |              | command.start"),
    (DELIVERED,             "working      up       over    | deliver             |              | command.start"),
    (BEGUN,                 "working      up       over    | deliver*            |              | command.start"),
    (DELIVERED,             "working      up       over    |                     |              | command.start"),
    (HEARD,                 "working      up       open    |                     |              | hook.prompt"),
    (TOOL,                  "working      up       open    |                     |              | hook.prompt"),
    (commit(A),             "working      up       open    |                     |              | git.commit"),
    (turn_over(A),          "needs_review up       over    |                     | needs_review | hook.turn_end"),
    (REVIEW_OPENED,         "needs_review up       over    |                     |              | hook.turn_end"),
    (ACCEPT,                "needs_review up       over    | merge               |              | hook.turn_end"),
    (MERGED,                "idle         up       over    | reset               |              | git.merged"),
    (RESET_DONE,            "idle         up       over    |                     |              | git.merged"),
]  # fmt: skip
STORIES["sent back, reworked, asked about"] = MANUAL, STANDING[Work.NEEDS_REVIEW], [
    (REJECT,                "rejected     up       over    | deliver             |              | command.reject"),
    (DELIVERED,             "rejected     up       over    |                     |              | command.reject"),
    (HEARD,                 "rejected     up       open    |                     |              | hook.prompt"),
    (commit(A),             "rejected     up       open    |                     |              | hook.prompt"),
    (PERMISSION,            "needs_input  up       open    |                     | needs_input  | hook.permission"),
    (ANSWER,                "working      up       open    |                     |              | command.answer"),
    (turn_over(A),          "needs_input  up       over    |                     | needs_input  | hook.turn_end"),
    (MESSAGE,               "working      up       over    | deliver             |              | command.message"),
    (DELIVERED,             "working      up       over    |                     |              | command.message"),
    (HEARD,                 "working      up       open    |                     |              | hook.prompt"),
    (turn_over(B),          "needs_review up       over    |                     | needs_review | hook.turn_end"),
]  # fmt: skip
STORIES["a rebase with conflicts that the agent resolves"] = MANUAL, STANDING[Work.NEEDS_REVIEW], [
    (REBASE_ASKED,          "rebasing     up       over    | rebase              |              | command.rebase"),
    (CONFLICTS,             "rebasing     up       over    | deliver             | conflict     | command.rebase"),
    (DELIVERED,             "rebasing     up       over    |                     |              | command.rebase"),
    (HEARD,                 "rebasing     up       open    |                     |              | hook.prompt"),
    (CONFLICTS_CHANGED,     "rebasing     up       open    |                     |              | hook.prompt"),
    (RESOLVED,              "rebasing     up       open    |                     |              | git.resolved"),
    (turn_over(B),          "rebasing     up       over    | check               |              | hook.turn_end"),
    (SOUND,                 "needs_review up       over    |                     | needs_review | git.resolution"),
]  # fmt: skip
STORIES["an agent that does not get on with its conflicts, shown only"] = MANUAL, STANDING[Work.NEEDS_REVIEW], [
    (REBASE_ASKED,          "rebasing     up       over    | rebase              |              | command.rebase"),
    (CONFLICTS,             "rebasing     up       over    | deliver             | conflict     | command.rebase"),
    (REFUSED,               "rebasing     up       over    |                     | undelivered  | delivery"),
    (HELP_DUE,              "rebasing     up       over    |                     |              | delivery"),
    (ESCALATION_DUE,        "rebasing     up       over    |                     | conflict     | timer"),
    (REBASE_ASKED,          "rebasing     up       over    | ask                 |              | timer"),
    (CONFLICTS,             "rebasing     up       over    | deliver             | conflict     | timer"),
    (DELIVERED,             "rebasing     up       over    |                     |              | timer"),
    (HEARD,                 "rebasing     up       open    |                     |              | hook.prompt"),
    (turn_over(A),          "rebasing     up       over    |                     | needs_input  | hook.turn_end"),
    (RESOLVED,              "rebasing     up       over    | check               |              | git.resolved"),
    (UNSOUND,               "needs_input  up       over    |                     | needs_input  | git.resolution"),
]  # fmt: skip
STORIES["an agent that is helped with its conflicts"] = AUTO, STANDING[Work.NEEDS_REVIEW], [
    (REBASE_ASKED,          "rebasing     up       over    | rebase              |              | command.rebase"),
    (CONFLICTS,             "rebasing     up       over    | deliver             | conflict     | command.rebase"),
    (DELIVERED,             "rebasing     up       over    |                     |              | command.rebase"),
    (HEARD,                 "rebasing     up       open    |                     |              | hook.prompt"),
    (HELP_DUE,              "rebasing     up       open    |                     |              | hook.prompt"),
    (turn_over(A),          "rebasing     up       over    | ask                 |              | hook.turn_end"),
    (CONFLICTS,             "rebasing     up       over    | deliver             | conflict     | hook.turn_end"),
    (DELIVERED,             "rebasing     up       over    |                     |              | hook.turn_end"),
    (HELP_DUE,              "rebasing     up       over    | ask                 |              | hook.turn_end"),
    (CONFLICTS,             "rebasing     up       over    | deliver             | conflict     | hook.turn_end"),
    (DELIVERED,             "rebasing     up       over    |                     |              | hook.turn_end"),
    (turn_over(A),          "rebasing     up       over    |                     | needs_input  | hook.turn_end"),
    (HELP_DUE,              "rebasing     up       over    |                     |              | hook.turn_end"),
    (ESCALATION_DUE,        "rebasing     up       over    |                     | conflict     | timer"),
    (ABORTED,               "needs_review up       over    |                     | needs_review | git.rebase_aborted"),
]  # fmt: skip
STORIES["an agent that has resolved its conflicts badly"] = AUTO, replace(STANDING[Work.REBASING], turn=Turn.OVER), [
    (RESOLVED,              "rebasing     up       over    | check               |              | git.resolved"),
    (UNSOUND,               "rebasing     up       over    | deliver             | conflict     | git.resolution"),
    (DELIVERED,             "rebasing     up       over    |                     |              | git.resolution"),
    (HEARD,                 "rebasing     up       open    |                     |              | hook.prompt"),
    (turn_over(C),          "rebasing     up       over    | check               |              | hook.turn_end"),
    (SOUND,                 "needs_review up       over    |                     | needs_review | git.resolution"),
]  # fmt: skip
STORIES["an agent that crashes in the middle of its conflicts"] = AUTO, STANDING[Work.REBASING], [
    (CLOSED,                "rebasing     down     over    |                     | exited       | process.exit"),
    (START_ASKED,           "rebasing     starting over    | start               |              | command.up"),
    (READY,                 "rebasing     up       over    | ask                 |              | session.ready"),
    (NO_CONFLICTS,          "rebasing     up       over    |                     |              | session.ready"),
    (ABORTED,               "needs_review up       over    |                     | needs_review | git.rebase_aborted"),
]  # fmt: skip
STORIES["a rebase that the agent gives up"] = MANUAL, STANDING[Work.REBASING], [
    (turn_over(A),          "rebasing     up       over    |                     | needs_input  | hook.turn_end"),
    (ABORTED,               "needs_review up       over    |                     | needs_review | git.rebase_aborted"),
]  # fmt: skip
STORIES["a merge that is refused, a rebase without conflicts, a merge"] = MANUAL, STANDING[Work.NEEDS_REVIEW], [
    (ACCEPT,                "needs_review up       over    | merge               |              | created"),
    (NOT_MERGED,            "needs_review up       over    |                     |              | created"),
    (REBASE_ASKED,          "rebasing     up       over    | rebase              |              | command.rebase"),
    (commit(B),             "rebasing     up       over    | rebase              |              | command.rebase"),
    (REBASED,               "needs_review up       over    |                     |              | git.rebased"),
    (ACCEPT,                "needs_review up       over    | merge               |              | git.rebased"),
    (MERGED,                "idle         up       over    | reset               |              | git.merged"),
    (FAILED,                "idle         up       over    | reset               | failed       | step.failed"),
    (FAILED,                "idle         up       over    | reset               |              | step.failed"),
    (STOP_ASKED,            "idle         up       over    | reset stop          |              | step.failed"),
    (FAILED,                "idle         up       over    | stop reset          |              | step.failed"),
]  # fmt: skip
STORIES["an agent without reports: a commit and a quiet screen"] = MANUAL, replace(UP, reports_events=False), [
    (TASK,                  "working      up       over    | reset clear deliver |              | command.start"),
    (RESET_DONE,            "working      up       over    | clear deliver       |              | command.start"),
    (DELIVERED,             "working      up       over    | deliver             |              | command.start"),
    (DELIVERED,             "working      up       unknown |                     |              | delivery"),
    (QUIET,                 "working      up       unknown |                     |              | delivery"),
    (commit(A),             "working      up       unknown |                     |              | git.commit"),
    (SURELY_BUSY,           "working      up       unknown |                     |              | git.commit"),
    (QUIET,                 "needs_review up       unknown |                     | needs_review | screen"),
]  # fmt: skip
STORIES["an agent without reports: after the grace time the commit alone"] = MANUAL, replace(AT_WORK, **SILENT), [
    (commit(A),             "working      up       open    |                     |              | git.commit"),
    (GRACE_OVER,            "needs_review up       open    |                     | needs_review | timer"),
]  # fmt: skip
STORIES["a person works in the terminal of an idle worker"] = MANUAL, UP, [
    (HEARD,                 "idle         up       open    |                     |              | hook.prompt"),
    (PERMISSION,            "idle         up       open    |                     | needs_input  | hook.prompt"),
    (commit(A),             "idle         up       open    |                     |              | git.commit"),
    (turn_over(A),          "needs_review up       over    |                     | needs_review | hook.turn_end"),
    (COMMITS_GONE,          "needs_input  up       over    |                     | needs_input  | git.commits_gone"),
]  # fmt: skip
STORIES["a task that the agent does not take"] = MANUAL, UP, [
    (TASK,                  "working      up       over    | reset clear deliver |              | command.start"),
    (RESET_DONE,            "working      up       over    | clear deliver       |              | command.start"),
    (DELIVERED,             "working      up       over    | deliver             |              | command.start"),
    (REFUSED,               "idle         up       over    |                     |              | delivery"),
]  # fmt: skip
STORIES["a task that is lost on the way"] = MANUAL, UP, [
    (TASK,                  "working      up       over    | reset clear deliver |              | command.start"),
    (RESET_DONE,            "working      up       over    | clear deliver       |              | command.start"),
    (LOST,                  "error        up       over    |                     | error        | delivery"),
    (RESET_ASKED,           "error        up       over    | reset               |              | delivery"),
    (RESET_DONE,            "idle         up       over    |                     |              | git.reset"),
]  # fmt: skip
STORIES["a reset in the middle of a turn starts the agent afresh"] = MANUAL, AT_WORK, [
    (RESET_ASKED,           "working      up       open    | stop reset start    |              | created"),
    (STOPPED,               "working      starting over    | reset start         |              | session.stopped"),
    (RESET_DONE,            "idle         starting over    | start               |              | git.reset"),
    (READY,                 "idle         up       over    |                     |              | session.ready"),
]  # fmt: skip
STORIES["a reset that fails leaves nobody starting"] = MANUAL, AT_WORK, [
    (RESET_ASKED,           "working      up       open    | stop reset start    |              | created"),
    (STOPPED,               "working      starting over    | reset start         |              | session.stopped"),
    (FAILED,                "error        starting over    | start               | error        | step.failed"),
    (READY,                 "working      up       over    |                     | back         | session.ready"),
]  # fmt: skip
STORIES["down and up again"] = MANUAL, AT_WORK, [
    (STOP_ASKED,            "working      up       open    | stop                |              | created"),
    (GONE,                  "working      down     over    | stop                |              | session.gone"),
    (STOPPED,               "working      down     over    |                     |              | session.gone"),
    (START_ASKED,           "working      starting over    | start               |              | command.up"),
    (READY,                 "working      up       over    |                     | back         | session.ready"),
]  # fmt: skip
STORIES["an agent that does not start"] = MANUAL, replace(AT_WORK, session=Session.DOWN), [
    (START_ASKED,           "working      starting open    | start               |              | command.up"),
    (NOT_STARTED,           "error        crashed  over    |                     | error        | session.failed"),
    (START_ASKED,           "error        starting over    | start               |              | command.up"),
    (READY,                 "working      up       over    |                     | back         | session.ready"),
]  # fmt: skip
STORIES["a worker is removed"] = MANUAL, with_steps(AT_WORK, TEXT), [
    (REMOVAL,               "working      up       open    | remove              |              | created"),
    (CLOSED,                "working      up       open    | remove              |              | created"),
    (FAILED,                "working      up       open    |                     | failed       | created"),
]  # fmt: skip


def steps_of(worker: Worker) -> str:
    return " ".join(WORDS[type(from_step(step))] + "*" * step.begun for step in worker.pending)


@pytest.mark.parametrize(("policy", "worker", "scenes"), STORIES.values(), ids=STORIES.keys())
def test_a_story(policy, worker, scenes):
    for number, (happening, expected) in enumerate(scenes):
        decision = decide(worker, happening(worker), policy)
        worker = decision.worker
        seen = [
            f"{worker.work.value} {worker.session.value} {worker.turn.value}",
            steps_of(worker),
            " ".join(notice.kind for notice in decision.notices),
            worker.evidence.signal,
        ]
        assert seen == [" ".join(column.split()) for column in expected.split("|")], (
            f"scene {number}: {decision.signal}"
        )


def after(worker: Worker, *happenings: Happening, policy: Policy = MANUAL) -> Worker:
    for happening in happenings:
        worker = decide(worker, happening(worker), policy).worker
    return worker


# --- what a change leaves behind -----------------------------------------------------------------


@pytest.mark.lesson(15, "reports that are missing or not trusted are noticed, and the deciding signal is shown")
def test_evidence_has_signal_time_and_content():
    evidence = after(AT_WORK, turn_over(B)).evidence
    assert (evidence.signal, evidence.at_unix, evidence.detail) == ("hook.turn_end", NOW, f"commit {B[:12]}")


@pytest.mark.parametrize(
    ("event", "why"),
    [
        (turn_over(None), "stopped without a commit"),
        (turn_over(None, dirty=True), "stopped with uncommitted changes and without a commit"),
        (occurs(ev.PermissionWanted, "rm -rf build"), "it asks for permission: rm -rf build"),
        (occurs(ev.QuestionAsked, "which one?"), "it asks: which one?"),
        (occurs(ev.TurnFailed, "rate_limit", "resets 3pm"), "its turn failed (rate_limit): resets 3pm"),
    ],
)
def test_who_waits_for_the_person_says_why(event, why):
    decision = decide(AT_WORK, event(AT_WORK), MANUAL)
    assert decision.worker.evidence.detail == decision.detail == why
    (notice,) = decision.notices
    assert notice.text.startswith(f"adam waits for you: {why}; `llmc ")  # and how it goes on


def test_a_task_that_was_merged_leaves_nothing_behind():
    used = replace(
        with_steps(STANDING[Work.NEEDS_REVIEW], MERGE),
        rejected_sha=C,
        crash_count=2,
        resolution_attempts=2,
        timers=MappingProxyType({COMMIT_GRACE: NOW}),
    )
    done = after(used, MERGED, RESET_DONE)
    assert done == replace(
        UP,
        base_sha=TIP,
        pending=(),
        step_count=2,
        last_activity_unix=NOW,
        evidence=done.evidence,
    )


def test_looking_alone_is_no_activity():
    quiet = replace(AT_WORK, **SILENT, commit_sha=A, last_activity_unix=5.0)
    assert after(quiet, QUIET).last_activity_unix == 5.0
    assert after(quiet, commit(B)).last_activity_unix == NOW


def test_steps_have_numbers_of_their_own_for_ever():
    once = after(UP, TASK, RESET_DONE, DELIVERED, DELIVERED)
    assert once.pending == ()
    again = after(replace(once, work=Work.IDLE), TASK)
    assert [step.id for step in again.pending] == ["adam-4", "adam-5", "adam-6"]


def test_only_so_many_prompts_are_remembered():
    worker = AT_WORK
    for number in range(30):
        worker = after(worker, occurs(ev.PromptHeard, f"{number:064}"))
    assert worker.heard_prompts == tuple(f"{number:064}" for number in range(10, 30))


def test_the_verdict_of_the_reviewer_follows_the_work_through_a_rebase():
    waiting = replace(STANDING[Work.NEEDS_INPUT], commit_sha=A, rejected_sha=A)
    rebased = after(waiting, REBASE_ASKED, REBASED)
    assert (rebased.work, rebased.commit_sha, rebased.rejected_sha) == (Work.NEEDS_INPUT, B, B)
    assert after(rebased, turn_over(B)).work is Work.NEEDS_INPUT


def test_a_rejection_is_not_forgotten_because_a_later_message_was_refused():
    waiting = replace(STANDING[Work.NEEDS_INPUT], commit_sha=A, rejected_sha=A)
    refused = after(waiting, MESSAGE, REFUSED)
    assert (refused.work, refused.rejected_sha) == (Work.NEEDS_INPUT, A)
    assert after(refused, turn_over(A)).work is Work.NEEDS_INPUT


@pytest.mark.parametrize("failure", [REFUSED, FAILED])
def test_feedback_that_never_went_out_was_no_rejection(failure):
    kept = after(STANDING[Work.NEEDS_REVIEW], REJECT, failure)
    assert (kept.work, kept.commit_sha, kept.rejected_sha) == (Work.NEEDS_REVIEW, A, None)


@pytest.mark.parametrize("failure", [REFUSED, LOST])
@pytest.mark.parametrize(
    ("fields", "back_to"),
    [
        ({"commit_sha": A}, Work.NEEDS_REVIEW),
        ({"commit_sha": None}, Work.NEEDS_INPUT),
        ({"commit_sha": None, "current_prompt": ""}, Work.IDLE),
    ],
)
def test_a_message_that_fails_in_an_error_keeps_a_way_out(failure, fields, back_to):
    stuck = after(replace(STANDING[Work.ERROR], **fields), MESSAGE, failure)
    assert stuck.work is Work.ERROR
    mended = after(stuck, GONE, START_ASKED, READY)
    assert mended.work is back_to


@pytest.mark.parametrize(("sha", "back_to"), [(B, Work.NEEDS_REVIEW), (None, Work.NEEDS_INPUT)])
def test_a_rebase_that_ends_after_the_agent_failed_is_not_forgotten(sha, back_to):
    rebasing = after(replace(STANDING[Work.NEEDS_REVIEW], **CRASHING), REBASE_ASKED)
    failed = after(rebasing, CRASHED, came_of(ev.RebaseClean, sha, TIP), policy=AUTO)
    assert (failed.work, failed.commit_sha) == (Work.ERROR, sha)
    assert after(failed, START_ASKED, READY).work is back_to


@pytest.mark.lesson(41, "options are chosen by their words, and a dialog that nobody knows is a question at once")
def test_a_question_at_the_start_is_told_once_and_is_over_with_the_answer():
    starting = with_steps(replace(UP, session=Session.STARTING), START)
    asks = decide(starting, START_ASKS(starting), MANUAL)
    assert [notice.kind for notice in asks.notices] == ["needs_input"]
    assert "Do you trust it?" in asks.notices[0].text
    assert (asks.worker.status, asks.worker.work, len(asks.worker.pending)) == ("needs_input", Work.IDLE, 1)
    assert not decide(asks.worker, START_ASKS(asks.worker), MANUAL).changed
    ready = after(asks.worker, READY)
    assert (ready.status, ready.start_dialog, ready.pending) == ("idle", "", ())


@pytest.mark.lesson(41, "options are chosen by their words, and a dialog that nobody knows is a question at once")
def test_who_asks_at_its_start_takes_no_task():
    starting = with_steps(replace(UP, session=Session.STARTING), START)
    asks = after(starting, START_ASKS)
    refused = refusal(asks, TASK)
    assert "asks something before it takes a prompt: Do you trust it?" in refused.what
    assert "llmc answer" in refused.hint


def test_work_that_turned_up_during_an_error_is_reviewed():
    failed = after(with_steps(replace(UP, session=Session.STARTING), START), NOT_STARTED)
    found = after(failed, commit(A), START_ASKED, READY)
    assert (found.work, found.commit_sha) == (Work.NEEDS_REVIEW, A)


# --- what peers learned the hard way -------------------------------------------------------------


LOSSES = [
    GONE,
    CLOSED,
    occurs(ev.AgentExited, 1, last_words="out of memory"),
    occurs(ev.AgentExited, None, signal=9),
    occurs(ev.AgentExited, None),
]


@pytest.mark.lesson(13, "the loss of a session never erases the work")
@pytest.mark.parametrize("work", Work)
@pytest.mark.parametrize("loss", LOSSES, ids=["gone", "closed", "crashed", "killed", "nobody saw"])
def test_going_offline_never_erases_the_work(work, loss):
    """Two axes: a session that is lost hides the work and does not touch it; coming back restores it."""
    worker = STANDING[work]
    lost = after(worker, loss)
    assert lost.session in (Session.DOWN, Session.CRASHED)
    assert lost.status == ("error" if work is Work.ERROR else "offline")
    kept = ("work", "current_prompt", "commit_sha", "rejected_sha", "base_sha", "resume_work", "conflicted_files")
    assert {name: getattr(lost, name) for name in kept} == {name: getattr(worker, name) for name in kept}
    found, started = after(lost, occurs(ev.SessionFound, True)), after(lost, START_ASKED, READY)
    assert (found.session, found.work) == (Session.UP, work)
    assert started.session is Session.UP
    assert started.work is (Work.WORKING if work is Work.ERROR else work)  # a start mends the error
    assert found.current_prompt == started.current_prompt == worker.current_prompt


@pytest.mark.lesson(14, "the end of a turn is not the end of the work: git decides")
@pytest.mark.parametrize(
    ("event", "work"),
    [
        (turn_over(B), Work.NEEDS_REVIEW),
        (turn_over(None, dirty=True), Work.NEEDS_INPUT),
        (turn_over(None), Work.NEEDS_INPUT),
    ],
)
def test_the_end_of_a_turn_means_stopped_talking_and_git_decides_what_that_is(event, work):
    """An agent's turn ends many times in a task: only new commits make it work to review."""
    assert after(AT_WORK, event).work is work


@pytest.mark.lesson(14, "the end of a turn is not the end of the work: git decides")
def test_a_turn_that_ends_with_only_the_rejected_commit_is_no_rework():
    """The end of a turn is not "done": the commit that was sent back is still the same one."""
    ended = after(STANDING[Work.REJECTED], turn_over(A))
    assert ended.work is Work.NEEDS_INPUT
    assert ended.evidence.detail == "stopped without a new commit since the rejection"


@pytest.mark.lesson(16, "interrupts and deaths that nobody reports are seen by process and screen")
def test_an_end_that_no_report_tells_of_is_seen_by_the_process():
    """Reports miss kills: the process itself closes the turn, and the work stays."""
    killed = after(AT_WORK, occurs(ev.AgentExited, None, signal=9))
    assert (killed.work, killed.turn, killed.session) == (Work.WORKING, Turn.OVER, Session.CRASHED)


def test_a_screen_that_was_read_before_something_else_happened_says_nothing():
    worker = replace(STANDING[Work.WORKING], **SILENT_COMMIT)
    at = worker.last_activity_unix
    before, since = (decide(worker, ev.ScreenRead(at + n, "READY", None, True), ASSIST).worker for n in (-1, 0))
    assert before == worker
    assert since.work is Work.NEEDS_REVIEW


@pytest.mark.lesson(16, "interrupts and deaths that nobody reports are seen by process and screen")
@pytest.mark.parametrize(
    ("reading", "why"),
    [
        (SURELY_QUIET, "its screen is quiet and the end of its turn was not reported"),
        (occurs(ev.ScreenRead, "NEEDS_CONFIRMATION", "permission", True), "its screen shows a dialog (permission)"),
        (occurs(ev.ScreenRead, "ERROR", "rate_limit", True), "its screen shows an error (rate_limit)"),
    ],
)
def test_what_reports_miss_the_screen_shows_to_who_may_be_helped(reading, why):
    """Reports miss interrupts and some failures of the provider: with `assist` the screen makes up for it."""
    assert after(AT_WORK, reading, policy=MANUAL) == AT_WORK
    helped = after(AT_WORK, reading, policy=ASSIST)
    assert (helped.work, helped.evidence.signal, helped.evidence.detail) == (Work.NEEDS_INPUT, "screen", why)
    assert after(helped, TOOL).work is Work.WORKING  # and the agent's own word is the last


@pytest.mark.lesson(19, "limits and logins are states of their own, with the time of their end")
@pytest.mark.parametrize("kind", ["rate_limit", "auth", "api", "network"])
def test_a_rate_limit_or_a_login_is_no_crash_and_no_work(kind):
    """A rate limit, a login screen, an exhausted quota are waited for by a person, and counted as no crash."""
    failed = after(AT_WORK, occurs(ev.TurnFailed, kind, "resets 3pm"), policy=ASSIST)
    assert (failed.work, failed.session, failed.turn) == (Work.NEEDS_INPUT, Session.UP, Turn.OVER)
    assert (failed.crash_count, failed.pending, failed.timers) == (0, (), {})
    assert f"({kind}): resets 3pm" in failed.evidence.detail


@pytest.mark.lesson(20, "who has something running in the background is busy")
def test_something_that_still_runs_in_the_background_is_busy_not_done():
    """The turn is over, its shells and sub-agents are not: even a commit is no review yet."""
    waiting = after(AT_WORK, turn_over(B, background=True))
    assert (waiting.work, waiting.turn) == (Work.WORKING, Turn.OPEN)
    assert after(waiting, commit(B)).work is Work.WORKING
    assert after(waiting, turn_over(B)).work is Work.NEEDS_REVIEW


@pytest.mark.lesson(21, "not knowing moves nobody")
@pytest.mark.parametrize("policy", [MANUAL, ASSIST, AUTO], ids=lambda policy: policy.autonomy.value)
@pytest.mark.parametrize("work", Work)
@pytest.mark.parametrize(
    "reading",
    [
        occurs(ev.ScreenRead, "UNKNOWN", confident=True),
        occurs(ev.ScreenRead, "UNKNOWN"),
        occurs(ev.ScreenRead, "READY", confident=False),
        occurs(ev.ScreenRead, "NEEDS_CONFIRMATION", "permission", confident=False),
        occurs(ev.ScreenRead, "ERROR", "api", confident=False),
    ],
)
def test_an_unknown_reading_never_moves_a_worker(policy, work, reading):
    """Every probe answers seen, absent or unknown; unknown leaves everything as it is."""
    assert after(STANDING[work], reading, policy=policy) == STANDING[work]


def test_an_exit_that_nobody_saw_says_so():
    """Unknown is not taken for an exit code."""
    lost = after(AT_WORK, occurs(ev.AgentExited, None))
    assert lost.evidence.detail == "the agent crashed (nobody saw how)"


def quiet_forever(worker: Worker, policy: Policy) -> Worker:
    for hour in range(48):
        at = NOW + 3_600.0 * hour
        for event in (ev.ScreenRead(at, "READY", None, True), ev.Woke(at, RESTART), ev.Woke(at, COMMIT_GRACE)):
            worker = decide(worker, event, policy).worker
    return worker


@pytest.mark.lesson(22, "idleness ends nobody, restarts are bounded, a stop that was asked for is kept")
@pytest.mark.parametrize("policy", [MANUAL, ASSIST, AUTO], ids=lambda policy: policy.autonomy.value)
@pytest.mark.parametrize("work", Work)
def test_idleness_alone_ends_nobody(policy, work):
    """A worker that does nothing for two days is not stopped, restarted or reset."""
    quiet = quiet_forever(STANDING[work], policy)
    assert (quiet.session, quiet.pending, quiet.crash_count) == (Session.UP, (), 0)


def crash_and_come_back(worker: Worker, at: float) -> Worker:
    worker = decide(worker, ev.AgentExited(at, 1), AUTO).worker
    if RESTART not in worker.timers:
        return worker
    worker = decide(worker, ev.Woke(worker.timers[RESTART], RESTART), AUTO).worker
    return decide(worker, ev.SessionReady(at + 1, worker.pending[0].id, True), AUTO).worker


@pytest.mark.lesson(22, "idleness ends nobody, restarts are bounded, a stop that was asked for is kept")
def test_restarts_are_bounded_and_come_later_and_later():
    """After a few crashes in a day the worker is in error, and no longer restarted."""
    worker, delays = AT_WORK, []
    for number in range(AUTO.crash_limit - 1):
        at = NOW + 100 * number
        crashed = decide(worker, ev.AgentExited(at, 1), AUTO).worker
        delays.append(crashed.timers[RESTART] - at)
        worker = crash_and_come_back(worker, at)
        assert (worker.work, worker.session) == (Work.WORKING, Session.UP)
    assert delays == [5.0, 10.0]
    last = crash_and_come_back(worker, NOW + 1_000)
    assert (last.work, last.session, last.resume_work) == (Work.ERROR, Session.CRASHED, Work.WORKING)
    assert (last.timers, last.pending) == ({}, ())
    assert "3 crashes, not restarted again" in last.evidence.detail


def test_crashes_of_another_day_do_not_count():
    """The bound is on crashes in a row."""
    long_ago = replace(AT_WORK, crash_count=3, last_crash_unix=NOW - AUTO.crash_count_reset_secs - 1)
    assert after(long_ago, CRASHED, policy=AUTO).crash_count == 1


@pytest.mark.parametrize("policy", [MANUAL, ASSIST], ids=lambda policy: policy.autonomy.value)
def test_nothing_is_restarted_unasked(policy):
    """Recovery is for who chose it: otherwise the person is told what happened and what to type."""
    decision = decide(AT_WORK, ev.AgentExited(NOW, 1, last_words="out of memory"), policy)
    assert (decision.worker.timers, decision.worker.pending) == ({}, ())
    assert [notice.text for notice in decision.notices] == [
        "adam: the agent crashed (exit code 1): out of memory; `llmc restart adam` starts it again, "
        "with --resend it also gets its task again"
    ]


@pytest.mark.lesson(22, "idleness ends nobody, restarts are bounded, a stop that was asked for is kept")
def test_a_stop_that_the_user_asked_for_is_remembered():
    """A crash that waits for its restart is not restarted after the user has said `down`."""
    crashed = after(AT_WORK, CRASHED, policy=AUTO)
    stopped = after(crashed, STOP_ASKED, STOPPED, policy=AUTO)
    assert stopped.stopped_by_user
    assert after(stopped, occurs(ev.Woke, RESTART), policy=AUTO).session is Session.DOWN
    assert not after(stopped, START_ASKED).stopped_by_user


@pytest.mark.parametrize(
    "trouble",
    [
        REFUSED,
        LOST,
        FAILED,
    ],
)
def test_a_stop_is_not_forgotten_because_something_before_it_failed(trouble):
    """The user said `down` while a text was on its way."""
    stopping = after(STANDING[Work.NEEDS_INPUT], MESSAGE, STOP_ASKED, trouble)
    assert steps_of(stopping) == "stop"


@pytest.mark.lesson(39, "the daemon never undoes what a command did")
@pytest.mark.parametrize("turn", Turn)
def test_a_stop_is_not_forgotten_because_of_a_reset(turn):
    """The user said `down`, then `reset`: the worker is reset and stays down."""
    both = after(replace(AT_WORK, turn=turn), STOP_ASKED, RESET_ASKED)
    assert steps_of(both) == "stop reset"
    done = after(both, STOPPED, RESET_DONE)
    assert (done.work, done.session, done.stopped_by_user) == (Work.IDLE, Session.DOWN, True)


@pytest.mark.lesson(39, "the daemon never undoes what a command did")
def test_a_worker_that_is_being_removed_is_not_restarted():
    """It had crashed, and its restart was due."""
    leaving = after(AT_WORK, CRASHED, REMOVAL, policy=AUTO)
    assert RESTART in leaving.timers
    assert steps_of(after(leaving, occurs(ev.Woke, RESTART), policy=AUTO)) == "remove"


def test_a_start_is_not_forgotten_because_of_a_reset():
    """The user said `up`, then `reset`: the worktree is reset, then the session comes up."""
    both = after(replace(UP, session=Session.DOWN), START_ASKED, RESET_ASKED)
    assert steps_of(both) == "reset start"
    assert after(both, RESET_DONE, READY).session is Session.UP


def test_nobody_waits_for_a_start_that_was_called_off():
    """A stop during the start fails: the session is down as far as anybody knows, and can be started again."""
    failed = after(replace(UP, session=Session.DOWN), START_ASKED, STOP_ASKED, FAILED)
    assert (failed.session, failed.pending) == (Session.DOWN, ())
    assert steps_of(after(failed, START_ASKED)) == "start"


@pytest.mark.parametrize("work", Work)
def test_the_end_that_was_asked_for_is_no_crash(work):
    """Whoever stops the session reports its end."""
    stopping = after(STANDING[work], STOP_ASKED)
    assert after(stopping, occurs(ev.AgentExited, None, signal=15), policy=AUTO).crash_count == 0


@pytest.mark.lesson(38, "an intention is saved before its effect, and an effect can be repeated")
def test_the_intention_is_saved_before_the_effect():
    """What is to be done is part of the decision itself: a crash right after it loses nothing."""
    decision = decide(UP, TASK(UP), MANUAL)
    assert [from_step(step) for step in decision.worker.pending] == [
        ResetWorktree(),
        ClearConversation(),
        Deliver("the whole prompt", Purpose.TASK),
    ]
    assert decision.notices == ()


@pytest.mark.lesson(38, "an intention is saved before its effect, and an effect can be repeated")
@pytest.mark.parametrize(
    ("worker", "result"),
    [
        (with_steps(AT_WORK, TEXT), DELIVERED),
        (with_steps(STANDING[Work.NEEDS_REVIEW], MERGE), MERGED),
        (with_steps(STANDING[Work.REBASING], REBASE), CONFLICTS),
        (with_steps(UP, START), READY),
        (with_steps(UP, RESET), RESET_DONE),
        (with_steps(AT_WORK, TEXT), FAILED),
    ],
)
def test_a_result_that_is_told_twice_changes_nothing_the_second_time(worker, result):
    """Effects are repeated after a crash, and so are their results."""
    event = result(worker)
    once = decide(worker, event, MANUAL).worker
    again = decide(once, event, MANUAL)
    assert (again.worker, again.notices, again.changed) == (once, (), False)


def test_a_text_that_failed_on_its_way_may_have_arrived():
    """A message that was begun is never taken for unsent: the task is kept, and the person is told."""
    sending = after(UP, TASK, RESET_DONE, DELIVERED, BEGUN)
    decision = decide(sending, FAILED(sending), MANUAL)
    assert (decision.worker.work, decision.worker.current_prompt) == (Work.WORKING, "add a parser")
    assert decision.worker.pending == ()
    assert [notice.kind for notice in decision.notices] == ["unknown"]


@pytest.mark.lesson(1, "a receipt says delivered, queued, undelivered or unknown, and never guesses success")
def test_an_unknown_delivery_is_neither_repeated_nor_called_a_success():
    """The person is told; nothing is sent again."""
    sending = after(UP, TASK, RESET_DONE, DELIVERED)
    decision = decide(sending, UNKNOWN(sending), AUTO)
    assert (decision.worker.work, decision.worker.pending) == (Work.WORKING, ())
    assert [notice.kind for notice in decision.notices] == ["unknown"]


# --- whatever happens ----------------------------------------------------------------------------


RESULTS = {
    StartSession: [READY, NOT_STARTED],
    StopSession: [STOPPED],
    Deliver: [DELIVERED, UNKNOWN, LOST, REFUSED],
    ClearConversation: [DELIVERED, REFUSED],
    RebaseWork: [
        REBASED,
        NOTHING_LEFT,
        CONFLICTS,
    ],
    AskToResolve: [CONFLICTS, NO_CONFLICTS],
    CheckResolution: [SOUND, UNSOUND],
    MergeWork: [MERGED, NOT_MERGED],
    ResetWorktree: [RESET_DONE],
    RemoveWorker: [],
}
UNPROMPTED = [row.event for row in ROWS if row.pending is None]


def possible(worker: Worker) -> list[Happening]:
    if not worker.pending:
        return UNPROMPTED
    first = RESULTS[type(from_step(worker.pending[0]))]
    return [*UNPROMPTED, *[BEGUN, FAILED, *first] * 5]


def happens(worker: Worker, happening: Happening, policy: Policy) -> Worker:
    try:
        return decide(worker, happening(worker), policy).worker
    except IllegalEventError:
        return worker


@settings(max_examples=200)
@given(st.data(), st.sampled_from([MANUAL, ASSIST, AUTO]), st.sampled_from(list(Work)), st.integers(0, 3))
def test_no_history_is_a_dead_end(data, policy, work, crashes):
    """Whatever happened: nobody waits for a start that nobody makes, and a reset always leads back to idle."""
    worker = replace(STANDING[work], crash_count=crashes, last_crash_unix=NOW)
    for _ in range(25):
        worker = happens(worker, data.draw(st.sampled_from(possible(worker))), policy)
        if worker.session is Session.STARTING:
            assert {"start", "stop", "remove"} & {word.rstrip("*") for word in steps_of(worker).split()}
        assert (worker.resume_work is not None) <= (worker.work in RESUMING)
    if not any(isinstance(from_step(step), RemoveWorker) for step in worker.pending):
        assert settled(after(worker, RESET_ASKED)).work is Work.IDLE


RESUMING = (Work.WORKING, Work.REJECTED, Work.REBASING, Work.ERROR)


def settled(worker: Worker) -> Worker:
    """Every step is taken, and each goes well."""
    while worker.pending:
        worker = after(worker, RESULTS[type(from_step(worker.pending[0]))][0])
    return worker


@pytest.mark.parametrize(("told_by", "why"), [("report", "stopped without a commit"), ("screen", "interrupted")])
def test_the_end_of_a_turn_that_its_screen_showed_to_be_interrupted_is_no_news(told_by, why):
    """A late report of an interrupt may come in the next turn, whose end is told as ever."""
    interrupted = decide(AT_WORK, ev.TurnInterrupted(NOW, told_by), MANUAL).worker
    ended = decide(interrupted, ev.TurnEnded(NOW + 1, None), MANUAL).worker
    assert ended.work is Work.NEEDS_INPUT
    assert ended.evidence.detail.startswith(why)


def test_a_setup_is_remembered_for_as_long_as_its_worktree_is_there():
    starting = with_steps(replace(UP, session=Session.STARTING), StartSession())
    begun = after(starting, SETTING_UP)
    assert (begun.evidence.signal, begun.evidence.detail, begun.set_up) == ("setup", "npm ci", False)
    done = decide(begun, SET_UP(begun), MANUAL)
    assert done.worker.set_up
    assert "package-lock.json" in done.notices[0].text
    assert steps_of(done.worker) == steps_of(starting)
    assert not after(done.worker, REPLACED).set_up


def test_a_setup_that_failed_is_tried_again_when_somebody_asks_for_it():
    failed = after(with_steps(replace(UP, session=Session.STARTING), StartSession()), NOT_SET_UP, policy=AUTO)
    assert (failed.work, failed.session, failed.pending, dict(failed.timers)) == (Work.ERROR, Session.CRASHED, (), {})
    assert "npm ci" in failed.evidence.detail
    asked = after(failed, START_ASKED)
    assert (asked.session, len(asked.pending)) == (Session.STARTING, 1)
