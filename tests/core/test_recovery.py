"""Recovery as playbooks: what happens, then what is decided under each autonomy."""

from __future__ import annotations

from dataclasses import replace

import pytest

from llmc.core.delivery.texts import prompt_digests, told_digest
from llmc.core.lifecycle import events as ev
from llmc.core.lifecycle.effects import (
    AskToResolve,
    ClearConversation,
    Deliver,
    Purpose,
    StartSession,
    StopSession,
    from_step,
)
from llmc.core.lifecycle.exit_cause import ExitCause, exit_cause
from llmc.core.lifecycle.policy import Policy
from llmc.core.lifecycle.table import Decision, decide
from llmc.core.lifecycle.transitions.blocked import GO_ON, MOST_WAITS
from llmc.core.lifecycle.transitions.queued import reports_owed
from llmc.core.lifecycle.transitions.shared import REBASE_ESCALATE, REBASE_HELP, RESTART, with_steps
from llmc.core.lifecycle.transitions.silence import nudge_texts
from llmc.model import Autonomy, Blocked, Outcome, Proof, Session, Turn, Work, Worker

NOW = 100_000.0
A = "a" * 40
MANUAL, ASSIST, AUTO = Policy(Autonomy.MANUAL), Policy(Autonomy.ASSIST), Policy(Autonomy.AUTO)
UP = Worker(
    "adam", "/w/adam", "llmc/adam", "llmc-adam", "demo", 0.0, NOW, session=Session.UP, turn=Turn.OVER,
    reports_events=True, base_sha="0" * 40,
)  # fmt: skip
AT_WORK = replace(UP, work=Work.WORKING, current_prompt="add a parser", turn=Turn.OPEN, conversation="c-1")
EVERY_POLICY = pytest.mark.parametrize("policy", [MANUAL, ASSIST, AUTO], ids=lambda policy: policy.autonomy.value)
UNASKED = pytest.mark.parametrize("policy", [MANUAL, ASSIST], ids=lambda policy: policy.autonomy.value)


def play(worker: Worker, *events: ev.Event, policy: Policy = AUTO) -> Worker:
    for event in events:
        worker = decide(worker, event, policy).worker
    return worker


def effects(worker: Worker) -> list[object]:
    return [from_step(step) for step in worker.pending]


def first(worker: Worker) -> str:
    return worker.pending[0].id


def said(decision: Decision) -> list[str]:
    return [notice.text for notice in decision.notices]


# --- how an agent ended -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "signal", "words", "cause"),
    [
        (0, None, "", ExitCause.CLOSED),
        (0, None, "Error: rate limit", ExitCause.CLOSED),
        (130, None, "", ExitCause.CLOSED),
        (None, 2, "", ExitCause.CLOSED),
        (137, None, "rate limit", ExitCause.CRASH),
        (None, 9, "Rate limit reached", ExitCause.CRASH),
        (143, None, "", ExitCause.CRASH),
        (None, None, "", ExitCause.CRASH),
        (1, None, "something went wrong", ExitCause.CRASH),
        (1, None, "API Error: Request rejected (429) · Rate limit reached", ExitCause.RATE_LIMIT),
        (1, None, "Claude usage limit reached. Your limit resets at 3pm", ExitCause.RATE_LIMIT),
        (1, None, "Not logged in · Please run /login", ExitCause.AUTH),
        (1, None, "API Error: 401 Invalid authentication credentials", ExitCause.AUTH),
        (101, None, "thread 'main' panicked at src/main.rs:4", ExitCause.FATAL),
        (1, None, "reading / FATAL cannot find its files", ExitCause.FATAL),
        (1, None, "do not panic", ExitCause.CRASH),
    ],
)
def test_how_an_agent_ended(code, signal, words, cause):
    assert exit_cause(code, signal, words) is cause


def test_a_closed_agent_is_neither_restarted_nor_counted():
    closed = play(AT_WORK, ev.AgentExited(NOW, 0))
    assert (closed.session, closed.work, closed.crash_count, dict(closed.timers)) == (
        Session.DOWN, Work.WORKING, 0, {},
    )  # fmt: skip


def test_a_crashed_agent_comes_back_to_its_conversation():
    crashed = play(AT_WORK, ev.AgentExited(NOW, None, signal=9))
    assert crashed.timers == {RESTART: NOW + 5.0}
    starting = play(crashed, ev.Woke(NOW + 5, RESTART))
    assert effects(starting) == [StartSession()]
    back = play(starting, ev.SessionReady(NOW + 8, first(starting), True, resumed=True, go_on="go on, please"))
    assert effects(back) == [Deliver("go on, please", Purpose.GO_ON)]
    assert (back.work, back.conversation, back.crash_count) == (Work.WORKING, "c-1", 1)
    done = play(back, ev.TextSent(NOW + 9, first(back), Outcome.DELIVERED, Proof.HOOK))
    assert (done.work, done.pending) == (Work.WORKING, ())


@UNASKED
def test_what_crashed_is_shown_with_the_command_and_left_alone(policy):
    decision = decide(AT_WORK, ev.AgentExited(NOW, 1, last_words="out of memory"), policy)
    assert (dict(decision.worker.timers), decision.worker.pending) == ({}, ())
    assert said(decision) == [
        "adam: the agent crashed (exit code 1): out of memory; `llmc restart adam` starts it again, "
        "with --resend it also gets its task again"
    ]


@UNASKED
def test_an_agent_that_was_restarted_by_hand_is_told_nothing_unasked(policy):
    starting = play(AT_WORK, ev.AgentExited(NOW, 1), ev.StartAsked(NOW + 60), policy=policy)
    decision = decide(starting, ev.SessionReady(NOW + 62, first(starting), True, resumed=True, go_on="go on"), policy)
    assert decision.worker.pending == ()
    assert said(decision) == [
        "adam is back and was working; it has its conversation; `llmc message adam ...` lets it go on"
    ]


@pytest.mark.parametrize("work", [Work.IDLE, Work.NEEDS_INPUT, Work.NEEDS_REVIEW])
def test_who_waited_for_a_person_still_waits_after_a_restart(work):
    waiting = with_steps(replace(UP, work=work, commit_sha=A, session=Session.STARTING), StartSession())
    assert play(waiting, ev.SessionReady(NOW, first(waiting), True, go_on="go on")).pending == ()


def test_an_agent_that_says_it_cannot_run_is_not_restarted():
    fatal = play(AT_WORK, ev.AgentExited(NOW, 1, last_words="FATAL no such model"))
    assert (fatal.work, dict(fatal.timers)) == (Work.ERROR, {})


def test_the_third_crash_is_the_last_and_everything_is_written_down():
    twice = replace(AT_WORK, crash_count=2, last_crash_unix=NOW - 60)
    decision = decide(twice, ev.AgentExited(NOW, 1), AUTO)
    assert decision.worker.work is Work.ERROR
    assert [notice.escalates for notice in decision.notices] == [True]


def test_a_restart_that_fails_is_tried_again_within_the_bound():
    starting = with_steps(replace(AT_WORK, crash_count=1, last_crash_unix=NOW - 5), StartSession())
    again = play(starting, ev.SessionFailed(NOW, first(starting), "it was not ready within 60 s"))
    assert (again.work, again.crash_count, again.timers) == (Work.WORKING, 2, {RESTART: NOW + 10.0})
    missing = ev.SessionFailed(NOW, first(starting), "claude is not installed", hopeless=True)
    assert play(starting, missing).work is Work.ERROR


def test_the_crash_count_is_forgotten_after_a_day_and_after_a_merge():
    twice = replace(AT_WORK, crash_count=2, last_crash_unix=NOW - AUTO.crash_count_reset_secs - 1)
    assert play(twice, ev.AgentExited(NOW, 1)).crash_count == 1
    merging = play(replace(UP, work=Work.NEEDS_REVIEW, commit_sha=A, crash_count=2), ev.AcceptAsked(NOW))
    assert play(merging, ev.WorkMerged(NOW, first(merging), A)).crash_count == 0


def test_a_session_that_is_gone_is_brought_back_and_a_reboot_is_no_crash():
    gone = play(AT_WORK, ev.SessionVanished(NOW))
    assert (gone.session, gone.crash_count, gone.timers) == (Session.DOWN, 1, {RESTART: NOW + 5.0})
    assert effects(play(gone, ev.Woke(NOW + 5, RESTART))) == [StartSession()]
    rebooted = play(AT_WORK, ev.SessionVanished(NOW, while_away=True))
    assert (rebooted.session, rebooted.crash_count, dict(rebooted.timers)) == (Session.DOWN, 0, {})


def test_a_stop_that_was_asked_for_outlives_a_restart_that_was_due():
    crashed = play(AT_WORK, ev.SessionVanished(NOW), ev.StopAsked(NOW + 1))
    stopped = play(crashed, ev.SessionStopped(NOW + 2, first(crashed)), ev.Woke(NOW + 9, RESTART))
    assert (stopped.session, stopped.pending) == (Session.DOWN, ())


# --- rate limits, logins, providers -----------------------------------------------------------------


@pytest.mark.lesson(19, "limits and logins are states of their own, with the time of their end")
def test_a_rate_limit_is_waited_for_and_gone_on_from():
    limited = play(AT_WORK, ev.TurnFailed(NOW, "rate_limit", "resets 3pm", until=NOW + 3600))
    assert (limited.work, limited.blocked) == (Work.NEEDS_INPUT, Blocked("rate_limit", NOW, NOW + 3600))
    assert limited.timers == {GO_ON: NOW + 3605}
    on = play(limited, ev.Woke(NOW + 3605, GO_ON))
    assert (on.work, on.blocked) == (Work.WORKING, None)
    (text,) = effects(on)
    assert isinstance(text, Deliver)
    assert "rate limit" in text.text
    assert text.purpose == Purpose.GO_ON


def test_without_a_time_the_waits_grow_and_end():
    worker, waits = AT_WORK, []
    for number in range(MOST_WAITS):
        at = NOW + 10_000 * number
        worker = play(worker, ev.TurnFailed(at, "rate_limit"))
        waits.append(worker.timers[GO_ON] - at)
        worker = replace(play(worker, ev.Woke(at + 5_000, GO_ON)), pending=(), turn=Turn.OPEN)
    assert waits[:5] == [300.0, 600.0, 1200.0, 2400.0, 2400.0]
    decision = decide(worker, ev.TurnFailed(NOW * 10, "rate_limit"), AUTO)
    assert GO_ON not in decision.worker.timers
    assert [notice.escalates for notice in decision.notices] == [True]


def test_a_turn_that_ends_well_forgets_the_failures_before_it():
    failed = replace(AT_WORK, retries=2, blocked=Blocked("api", NOW))
    assert (play(failed, ev.TurnEnded(NOW, A)).retries, play(failed, ev.TurnEnded(NOW, A)).blocked) == (0, None)


@UNASKED
@pytest.mark.parametrize("kind", ["rate_limit", "api", "network", "auth"])
def test_a_block_is_shown_and_waited_for_by_a_person(kind, policy):
    blocked = play(AT_WORK, ev.TurnFailed(NOW, kind, until=NOW + 60), policy=policy)
    assert (blocked.work, blocked.blocked, dict(blocked.timers)) == (
        Work.NEEDS_INPUT, Blocked(kind, NOW, NOW + 60), {},
    )  # fmt: skip


@pytest.mark.lesson(19, "limits and logins are states of their own, with the time of their end")
def test_only_a_person_can_log_in():
    assert dict(play(AT_WORK, ev.TurnFailed(NOW, "auth")).timers) == {}


def test_who_was_helped_meanwhile_is_left_alone():
    limited = play(AT_WORK, ev.TurnFailed(NOW, "rate_limit"), ev.PromptHeard(NOW + 10, "d" * 64, "c-1"))
    assert limited.blocked is None
    after = play(limited, ev.Woke(NOW + 300, GO_ON))
    assert (after.work, after.pending) == (Work.WORKING, ())


@pytest.mark.lesson(19, "limits and logins are states of their own, with the time of their end")
def test_an_agent_that_ends_for_a_limit_has_not_crashed():
    limited = play(AT_WORK, ev.AgentExited(NOW, 1, last_words="429 rate limit", until=NOW + 100))
    assert (limited.session, limited.crash_count, limited.blocked) == (
        Session.DOWN, 0, Blocked("rate_limit", NOW, NOW + 100),
    )  # fmt: skip
    assert limited.timers == {RESTART: NOW + 105}
    out = play(AT_WORK, ev.AgentExited(NOW, 1, last_words="Not logged in"))
    assert (out.session, out.crash_count, dict(out.timers)) == (Session.DOWN, 0, {})


def test_an_error_on_the_screen_is_a_failure_of_the_turn():
    seen = play(AT_WORK, ev.ScreenRead(NOW, "ERROR", "rate_limit", confident=True))
    assert (seen.work, seen.blocked) == (Work.NEEDS_INPUT, Blocked("rate_limit", NOW))
    assert GO_ON in seen.timers
    told = play(AT_WORK, ev.ScreenRead(NOW, "ERROR", "rate_limit", confident=True, until=NOW + 3600))
    assert (told.blocked, told.timers[GO_ON]) == (Blocked("rate_limit", NOW, NOW + 3600), NOW + 3605)


# --- silence ----------------------------------------------------------------------------------------


def silence(worker: Worker, minutes: float, policy: Policy = AUTO) -> Decision:
    return decide(worker, ev.SilenceLasted(worker.last_activity_unix + minutes * 60), policy)


def nudged(worker: Worker, minutes: float) -> Worker:
    """Asked, and the agent takes the question without answering it."""
    worker = silence(worker, minutes).worker
    text = from_step(worker.pending[0])
    assert isinstance(text, Deliver)
    at = worker.last_activity_unix + minutes * 60 + 1
    worker = play(worker, ev.PromptHeard(at, told_digest(text.text), "c-1"))
    return play(worker, ev.TextSent(at, first(worker), Outcome.DELIVERED, Proof.HOOK))


def test_who_is_silent_is_asked_after_30_and_40_minutes_and_a_person_is_called_after_45():
    assert silence(AT_WORK, 29).worker == AT_WORK
    once = nudged(AT_WORK, 30)
    assert (once.nudges, once.last_activity_unix) == (1, AT_WORK.last_activity_unix)
    assert silence(once, 40).worker == once  # the question took a second to arrive
    twice = nudged(once, 40.1)
    assert silence(twice, 45.1).worker == twice
    called = silence(twice, 45.2)
    assert called.worker.work is Work.NEEDS_INPUT
    assert called.worker.session is Session.UP
    (words,) = said(called)
    assert words.startswith("adam waits for you: no sign of life for 45m, although it was asked twice; `llmc message")
    assert called.notices[0].escalates


@pytest.mark.lesson(46, "every threshold counts from what was done last, also after a gap")
def test_after_a_gap_each_question_has_its_time_to_be_answered():
    """A machine that slept through the whole night: all three times are over when it wakes up."""
    night = 8 * 60
    once = nudged(AT_WORK, night)
    assert silence(once, night + 9).worker == once
    twice = nudged(once, night + 11)
    assert silence(twice, night + 15).worker == twice
    assert silence(twice, night + 17).worker.work is Work.NEEDS_INPUT


def test_a_question_that_was_asked_late_has_its_time_from_then_on():
    """The daemon ended between the decision and the delivery, and came back the next morning."""
    asked = silence(AT_WORK, 30).worker
    late = play(asked, ev.TextSent(NOW + 8 * 3600, first(asked), Outcome.DELIVERED, Proof.HOOK))
    assert silence(late, 8 * 60 + 9).worker == late
    assert silence(late, 8 * 60 + 10).worker.nudges == 2


def test_a_record_from_before_that_time_was_kept():
    old = replace(AT_WORK, nudges=1, nudged_at_unix=None)
    assert silence(old, 39).worker == old
    assert silence(old, 40).worker.nudges == 2


@pytest.mark.lesson(46, "every threshold counts from what was done last, also after a gap")
def test_after_a_gap_help_with_conflicts_has_its_time_before_a_person_is_called():
    stuck = replace(
        UP, work=Work.REBASING, conflicted_files=("f",), rebase_started_at_unix=NOW, resolution_attempts=1,
        timers={REBASE_HELP: NOW + 120, REBASE_ESCALATE: NOW + 300},
    )  # fmt: skip
    late = NOW + 8 * 3600
    helped = decide(stuck, ev.Woke(late, REBASE_HELP), AUTO)
    assert effects(helped.worker) == [AskToResolve(help=True)]
    put_off = decide(helped.worker, ev.Woke(late, REBASE_ESCALATE), AUTO)
    assert (put_off.worker, said(put_off)) == (helped.worker, [])
    called = decide(helped.worker, ev.Woke(late + 180, REBASE_ESCALATE), AUTO)
    assert [notice.escalates for notice in called.notices] == [True]


def test_the_words_of_the_nudges_say_how_long():
    first_words, second_words = nudge_texts(AUTO)
    assert "30 minutes" in first_words
    assert "5 minutes" in second_words


def test_a_sign_of_life_begins_the_count_anew():
    once = nudged(AT_WORK, 30)
    alive = play(once, ev.ActivityHeard(NOW + 31 * 60, "Bash"))
    assert (alive.nudges, alive.last_activity_unix) == (0, NOW + 31 * 60)
    assert silence(alive, 29).worker == alive


def test_an_agent_that_uses_tools_is_alive():
    busy = AT_WORK
    for minute in range(1, 120):
        busy = play(busy, ev.ActivityHeard(NOW + minute * 60, "Bash"), ev.SilenceLasted(NOW + minute * 60 + 59))
    assert (busy.nudges, busy.pending) == (0, ())


@pytest.mark.lesson(45, "two identical texts need two proofs")
@pytest.mark.parametrize(
    ("outcome", "owed"), [(Outcome.UNDELIVERED, 0), (Outcome.DELIVERED, 0), (Outcome.UNKNOWN, 1), (Outcome.QUEUED, 1)]
)
def test_the_next_nudge_of_the_same_words_needs_a_proof_of_its_own(outcome, owed):
    asked = silence(AT_WORK, 30).worker
    proof = Proof.HOOK if outcome is Outcome.DELIVERED else Proof.NONE
    after = play(asked, ev.TextSent(NOW + 1801, first(asked), outcome, proof))
    assert reports_owed(after.sent, prompt_digests(nudge_texts(AUTO)[0])) == owed


@pytest.mark.parametrize("outcome", [Outcome.UNDELIVERED, Outcome.UNKNOWN, Outcome.QUEUED])
def test_a_nudge_that_does_not_arrive_changes_nothing(outcome):
    asked = silence(AT_WORK, 30).worker
    after = play(asked, ev.TextSent(NOW + 1801, first(asked), outcome, Proof.NONE, "a dialog is open", refused=True))
    assert (after.work, after.pending, after.nudges) == (Work.WORKING, (), 1)
    assert after.last_activity_unix == AT_WORK.last_activity_unix
    failed = play(asked, ev.StepFailed(NOW + 1801, first(asked), "no space"))
    assert (failed.work, failed.pending) == (Work.WORKING, ())


@UNASKED
def test_a_person_is_told_once_of_the_silence_and_nobody_is_asked(policy):
    told = silence(AT_WORK, 30, policy)
    assert told.worker.pending == ()
    assert said(told) == ["adam gives no sign of life for 30m; `llmc peek adam` shows its terminal"]
    assert silence(told.worker, 400, policy).notices == ()
    assert silence(told.worker, 400, policy).worker.work is Work.WORKING


@EVERY_POLICY
@pytest.mark.parametrize("work", [Work.IDLE, Work.NEEDS_INPUT, Work.NEEDS_REVIEW, Work.REBASING, Work.ERROR])
def test_who_is_not_at_work_may_be_silent(work, policy):
    resting = replace(UP, work=work, commit_sha=A)
    assert silence(resting, 10_000, policy).worker == resting


def test_a_quiet_screen_with_a_commit_is_work_to_review_where_the_screen_may_speak():
    committed = replace(AT_WORK, commit_sha=A)
    quiet = ev.ScreenRead(NOW, "READY", confident=True)
    assert play(committed, quiet, policy=ASSIST).work is Work.NEEDS_REVIEW
    assert play(committed, quiet, policy=MANUAL) == committed


# --- lost texts -------------------------------------------------------------------------------------


def lost(worker: Worker, *, refused: bool = False, policy: Policy = AUTO) -> Worker:
    step = first(worker)
    return play(worker, ev.TextSent(NOW, step, Outcome.UNDELIVERED, Proof.NONE, "lost", refused), policy=policy)


def test_a_text_that_got_lost_is_sent_once_more_to_a_new_agent():
    waiting = replace(UP, work=Work.NEEDS_INPUT, current_prompt="add a parser", conversation="c-1")
    sending = play(waiting, ev.MessageGiven(NOW, "go on"))
    again = lost(sending)
    assert effects(again) == [StopSession(), StartSession(), Deliver("go on", Purpose.MESSAGE, last_try=True)]
    again = play(again, ev.SessionStopped(NOW + 1, first(again)))
    again = play(again, ev.SessionReady(NOW + 2, first(again), True, resumed=True, go_on="never sent"))
    assert effects(again) == [Deliver("go on", Purpose.MESSAGE, last_try=True)]
    assert not again.stopped_by_user
    assert lost(again).work is Work.ERROR


def test_a_conversation_that_is_not_cleared_is_replaced_by_a_new_agent():
    given = play(UP, ev.TaskGiven(NOW, "task", "the task"))
    given = play(given, ev.WorktreeReset(NOW, first(given), A))
    again = lost(given)
    assert effects(again) == [StopSession(), StartSession(), Deliver("the task", Purpose.TASK)]
    assert not any(isinstance(effect, ClearConversation) for effect in effects(again))


def test_an_agent_in_the_middle_of_a_turn_is_never_ended_for_a_text():
    sending = play(AT_WORK, ev.MessageGiven(NOW, "by the way"))
    assert StopSession() not in effects(lost(sending))


@UNASKED
def test_a_lost_text_is_told_and_not_sent_again_unasked(policy):
    sending = play(replace(UP, work=Work.NEEDS_INPUT), ev.MessageGiven(NOW, "go on"), policy=policy)
    after = lost(sending, policy=policy)
    assert (after.work, after.pending) == (Work.ERROR, ())


@pytest.mark.lesson(4, "what may have arrived is looked for and not sent again")
@EVERY_POLICY
def test_what_may_have_arrived_is_never_sent_again(policy):
    sending = play(replace(UP, work=Work.NEEDS_INPUT), ev.MessageGiven(NOW, "go on"), policy=policy)
    after = play(sending, ev.TextSent(NOW, first(sending), Outcome.UNKNOWN, Proof.NONE, "no sign"), policy=policy)
    assert after.pending == ()


def test_an_agent_that_cannot_be_told_to_go_on_waits_for_a_person():
    starting = with_steps(replace(AT_WORK, session=Session.STARTING), StartSession())
    back = play(starting, ev.SessionReady(NOW, first(starting), True, go_on="go on"))
    assert lost(back, refused=True).work is Work.NEEDS_INPUT
