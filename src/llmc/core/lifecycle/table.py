"""The lifecycle of a worker: one table, and the one function that uses it.

For each kind of event the table says from which work it is taken and where it may lead. What is not
in the table is illegal. The diagram in `docs/state-machine.md` is made from it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from llmc.core.lifecycle import events as ev
from llmc.core.lifecycle.effects import Notify, RemoveWorker
from llmc.core.lifecycle.policy import Policy
from llmc.core.lifecycle.setup_events import PortsGiven, SetupBegun, SetupDone, SetupFailed, WorktreeReplaced
from llmc.core.lifecycle.transitions import (
    agent_reports,
    blocked,
    conflicts,
    crashes,
    interrupts,
    observed,
    setup,
    silence,
    step_results,
    user_commands,
)
from llmc.core.lifecycle.transitions.shared import Move, awaits, pending_step
from llmc.errors import IllegalEventError
from llmc.model import Evidence, Work, Worker
from llmc.values import Value

IDLE, WORKING, INPUT = Work.IDLE, Work.WORKING, Work.NEEDS_INPUT
REVIEW, REJECTED, REBASING, ERROR = Work.NEEDS_REVIEW, Work.REJECTED, Work.REBASING, Work.ERROR

Targets = Mapping[Work, tuple[Work, ...]]


def _same(*works: Work) -> Targets:
    return {work: (work,) for work in works}


ANY = _same(*Work)
"""Taken in every work, leaving it as it is."""


class Rule(Value):
    signal: str
    """The name under which users see this event in evidence and in the log."""
    move: Callable[[Worker, Any, Policy], Move]
    targets: Targets


_OR_ERROR: Targets = {work: (work, ERROR) if work is not ERROR else (ERROR,) for work in Work}
_ASKS: Targets = {**ANY, WORKING: (INPUT,), REJECTED: (INPUT,)}
_MAY_ASK: Targets = {**ANY, WORKING: (WORKING, INPUT), REJECTED: (REJECTED, INPUT)}
_DELIVERED: Targets = {
    **ANY,
    WORKING: (WORKING, IDLE, INPUT, REVIEW, ERROR),
    REJECTED: (REJECTED, REVIEW, INPUT, ERROR),
}
"""Where a finished or failed delivery may lead: on, back to what was before, or to an error."""

TABLE: Mapping[type[ev.Event], Rule] = {
    # what a user asks
    ev.TaskGiven: Rule("command.start", user_commands.task_given, {IDLE: (WORKING,)}),
    ev.MessageGiven: Rule(
        "command.message",
        user_commands.message_given,
        {
            **_same(IDLE, WORKING, REJECTED, REBASING),
            INPUT: (WORKING,),
            REVIEW: (WORKING,),
            ERROR: (WORKING,),
        },
    ),
    ev.AnswerGiven: Rule("command.answer", user_commands.answer_given, {**ANY, INPUT: (WORKING,)}),
    ev.ReviewOpened: Rule("command.review", user_commands.review_opened, _same(REVIEW)),
    ev.WorkRejected: Rule("command.reject", user_commands.work_rejected, {REVIEW: (REJECTED,)}),
    ev.AcceptAsked: Rule("command.accept", user_commands.accept_asked, _same(REVIEW)),
    ev.LandedAtHub: Rule("hub.landed", user_commands.landed_at_hub, dict.fromkeys((REVIEW, INPUT), (IDLE,))),
    ev.RebaseAsked: Rule(
        "command.rebase", user_commands.rebase_asked, dict.fromkeys((REVIEW, INPUT, REBASING), (REBASING,))
    ),
    ev.ResetAsked: Rule("command.reset", user_commands.reset_asked, ANY),
    ev.StartAsked: Rule("command.up", user_commands.start_asked, ANY),
    ev.StopAsked: Rule("command.down", user_commands.stop_asked, ANY),
    ev.RemovalAsked: Rule("command.nuke", user_commands.removal_asked, ANY),
    # what the agent reports
    ev.PromptHeard: Rule(
        "hook.prompt", agent_reports.prompt_heard, {**ANY, INPUT: (WORKING, INPUT), REVIEW: (WORKING, REVIEW)}
    ),
    ev.ActivityHeard: Rule("hook.activity", agent_reports.activity_heard, {**ANY, INPUT: (WORKING, INPUT)}),
    ev.PermissionWanted: Rule("hook.permission", agent_reports.permission_wanted, _ASKS),
    ev.QuestionAsked: Rule("hook.question", agent_reports.question_asked, _ASKS),
    ev.TurnEnded: Rule(
        "hook.turn_end",
        agent_reports.turn_ended,
        {
            **ANY,
            IDLE: (IDLE, REVIEW),
            WORKING: (REVIEW, INPUT, WORKING),
            REJECTED: (REVIEW, INPUT, REJECTED),
            INPUT: (REVIEW, INPUT),
            REBASING: (REBASING, INPUT),
        },
    ),
    ev.TurnInterrupted: Rule("interrupted", interrupts.turn_interrupted, _MAY_ASK),
    ev.BudgetSpent: Rule(interrupts.BUDGET, interrupts.budget_spent, _ASKS),
    ev.TurnFailed: Rule("hook.failure", blocked.turn_failed, _ASKS),
    # what git, the screen, the process and the clock show
    ev.CommitSeen: Rule(
        "git.commit",
        observed.commit_seen,
        {
            **ANY,
            IDLE: (IDLE, REVIEW),
            WORKING: (WORKING, REVIEW),
            REJECTED: (REJECTED, REVIEW),
            INPUT: (INPUT, REVIEW),
        },
    ),
    ev.CommitElsewhere: Rule("git.elsewhere", observed.commit_elsewhere, _MAY_ASK),
    ev.WorktreeLost: Rule("worktree.gone", observed.worktree_lost, ANY),
    ev.WorktreeFound: Rule("worktree.found", observed.worktree_found, ANY),
    WorktreeReplaced: Rule("worktree.replaced", setup.worktree_replaced, ANY),
    PortsGiven: Rule("ports", setup.ports_given, ANY),
    ev.WorkRestored: Rule(
        "backup.restored",
        observed.work_restored,
        {**ANY, **dict.fromkeys((IDLE, INPUT, REVIEW), (REVIEW, INPUT)), IDLE: (IDLE, REVIEW, INPUT)},
    ),
    ev.CommitsGone: Rule("git.commits_gone", observed.commits_gone, {**ANY, REVIEW: (INPUT, REVIEW)}),
    ev.ChecksRan: Rule(observed.CHECKS, observed.checks_ran, ANY),
    ev.ConflictsChanged: Rule("git.conflicts_changed", conflicts.conflicts_changed, ANY),
    ev.ConflictsResolved: Rule("git.resolved", conflicts.conflicts_resolved, {**ANY, REBASING: (REBASING, INPUT)}),
    ev.RebaseAborted: Rule(
        "git.rebase_aborted", conflicts.rebase_aborted, {**ANY, REBASING: (REVIEW, INPUT, REBASING)}
    ),
    ev.ScreenRead: Rule(
        "screen",
        observed.screen_read,
        {**ANY, WORKING: (WORKING, REVIEW, INPUT), REJECTED: (REJECTED, REVIEW, INPUT)},
    ),
    ev.DialogSeen: Rule("screen.dialog", observed.dialog_seen, _ASKS),
    ev.ScreenMoved: Rule("screen.moved", observed.screen_moved, ANY),
    ev.DialogConfirmed: Rule("policy.auto_confirm", observed.dialog_confirmed, {**ANY, INPUT: (WORKING,)}),
    ev.AgentExited: Rule("process.exit", crashes.agent_exited, _OR_ERROR),
    ev.SessionVanished: Rule("session.gone", crashes.session_vanished, _OR_ERROR),
    ev.SessionFound: Rule("session.found", observed.session_found, ANY),
    ev.Woke: Rule(
        "timer",
        observed.woke,
        {**ANY, **{work: (work, REVIEW) for work in (IDLE, WORKING, REJECTED)}, INPUT: (INPUT, REVIEW, WORKING)},
    ),
    ev.SilenceLasted: Rule("silence", silence.silence_lasted, _MAY_ASK),
    # what came of an effect
    ev.StepBegun: Rule("step.begun", step_results.step_begun, ANY),
    SetupBegun: Rule("setup", setup.setup_begun, ANY),
    SetupDone: Rule("setup.done", setup.setup_done, ANY),
    SetupFailed: Rule("setup.failed", setup.setup_failed, dict.fromkeys(Work, (ERROR,))),
    ev.SessionLaunched: Rule("session.launched", step_results.session_launched, ANY),
    ev.SessionReady: Rule("session.ready", step_results.session_ready, {**ANY, ERROR: tuple(Work)}),
    ev.StartWaits: Rule("session.asks", step_results.start_waits, ANY),
    ev.SessionFailed: Rule("session.failed", crashes.not_started, _OR_ERROR),
    ev.SessionStopped: Rule("session.stopped", step_results.session_stopped, ANY),
    ev.TextSent: Rule("delivery", step_results.text_sent, _DELIVERED),
    ev.RebaseClean: Rule(
        "git.rebased", step_results.rebase_clean, {**ANY, REBASING: (REVIEW, INPUT), REVIEW: (REVIEW, INPUT)}
    ),
    ev.RebaseConflicted: Rule("git.conflict", conflicts.rebase_conflicted, ANY),
    ev.ResolutionChecked: Rule(
        "git.resolution", conflicts.resolution_checked, {**ANY, REBASING: (REVIEW, INPUT, REBASING)}
    ),
    ev.WorkMerged: Rule("git.merged", step_results.work_merged, dict.fromkeys(Work, (IDLE,))),
    ev.MergeRefused: Rule("git.merge_refused", step_results.merge_refused, ANY),
    ev.WorktreeReset: Rule("git.reset", step_results.worktree_reset, {work: (work, IDLE) for work in Work}),
    ev.StepFailed: Rule(
        "step.failed",
        step_results.step_failed,
        {
            **{work: (work, ERROR) for work in Work},
            WORKING: (IDLE, INPUT, REVIEW, WORKING, ERROR),
            REJECTED: (REVIEW, REJECTED, INPUT, ERROR),
            REBASING: (REVIEW, INPUT, REBASING, ERROR),
        },
    ),
}


NO_ACTIVITY = (ev.StepBegun, ev.Woke, ev.ScreenRead, ev.DialogSeen, ev.SilenceLasted)
"""That somebody looked, or that time went by, is no sign of life."""


class Decision(Value):
    """What an event led to. Lasting effects are in `worker.pending`; `notices` are told once."""

    before: Worker
    worker: Worker
    signal: str
    detail: str = ""
    notices: tuple[Notify, ...] = ()

    @property
    def changed(self) -> bool:
        return self.worker != self.before


def decide(worker: Worker, event: ev.Event, policy: Policy) -> Decision:
    """The worker after the event. Raises IllegalEventError, and then nothing has changed."""
    rule = TABLE[type(event)]
    if isinstance(event, ev.StepResult) and pending_step(worker, event.step) is None:
        return Decision(worker, worker, rule.signal, "already known")  # told twice, after a crash
    _check_legal(worker, event, rule)
    move = rule.move(worker, event, policy)
    if move.worker.work not in rule.targets[worker.work]:
        raise AssertionError(f"{rule.signal} must not lead from {worker.work} to {move.worker.work}")
    after = _with_evidence(worker, move, rule.signal, event)
    return Decision(worker, after, rule.signal, move.detail, move.notices)


def _check_legal(worker: Worker, event: ev.Event, rule: Rule) -> None:
    if isinstance(event, ev.UserCommand) and awaits(worker, RemoveWorker) and not isinstance(event, ev.RemovalAsked):
        raise IllegalEventError(f"{worker.name} is being removed", "see `llmc status`")
    if worker.work not in rule.targets:
        needed = " or ".join(work.value for work in rule.targets)
        verb = rule.signal.removeprefix("command.")
        stands = "has failed" if worker.work is ERROR else f"is {worker.work.value}"
        hint = f"`llmc explain {worker.name}` says why, and what comes next"
        if worker.work is REVIEW:
            hint = f"`llmc review {worker.name}` shows the work that waits"
        raise IllegalEventError(f"{verb} needs a worker that is {needed}; {worker.name} {stands}", hint)


def _with_evidence(before: Worker, move: Move, signal: str, event: ev.Event) -> Worker:
    after = move.worker
    if after == before and not move.evident:
        return after
    told = (after.work, after.session, after.turn, after.commit_sha)
    if move.evident or told != (before.work, before.session, before.turn, before.commit_sha):
        after = replace(after, evidence=Evidence(signal, event.at, move.detail))
    if move.is_activity and not isinstance(event, NO_ACTIVITY):
        # A report may bear any time: what was known to be later stays.
        at = max(before.last_activity_unix, event.at)
        after = replace(after, last_activity_unix=at, nudges=0, nudged_at_unix=None)
    return after
