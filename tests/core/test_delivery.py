"""The delivery of a text, as playbooks: what is seen, and what is done about it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmc.core.delivery.machine import (
    MAX_ATTEMPTS,
    MAX_SUBMITS,
    PROVEN_WITHIN,
    READ_WITHIN,
    READY_WITHIN,
    REPORTED_WITHIN,
    SEEN_WITHIN,
    SUBMITTED_WITHIN,
    DeliveryLook,
    DeliveryProgress,
    DeliveryStage,
    Do,
    advance,
)
from llmc.core.delivery.texts import MAX_BYTES, UnfitTextError, check_text
from llmc.model import Outcome, Proof

EMPTY = {"composer": ""}
FILLED = {"composer": "the text", "holds_text": True}
DRAFT = {"composer": "what I was about to"}
HIDDEN = {"composer": None}
DIALOG = {"composer": None, "dialog": "permission"}
DIALOG_OVER_DRAFT = {"composer": "1. Yes", "dialog": "trust"}
COPY_MODE = {"composer": "", "in_mode": True}
BUSY = {"composer": "", "busy": True}
BUSY_FILLED = {"composer": "the text", "holds_text": True, "busy": True}
BUSY_HIDDEN = {"composer": None, "busy": True}
UNREAD = {"composer": "", "unread": True}
UNREAD_FILLED = {**FILLED, "unread": True}
MIXED = {"composer": "what I was the text about to", "mixed": True}
IN_TURN = {"composer": "", "in_turn": True}
STARTING = {"composer": "", "busy": True, "starting": True}
GONE = {"gone": True}
HEARD = {"composer": "", "heard": True}

PASTE, SUBMIT, LOOK, LEAVE, END = Do.PASTE, Do.SUBMIT, Do.LOOK_AGAIN, Do.LEAVE_COPY_MODE, Do.FINISH
SOON, LATER, MUCH_LATER = 0.125, SUBMITTED_WITHIN, READY_WITHIN


def play(*scenes, reports_events=False, **begin):
    """Shows each scene `(seconds later, what is seen, what is expected)`. How it ended, and how far it came."""
    progress, action, at = DeliveryProgress(reports_events=reports_events, **begin), None, 1_000.0
    for number, (later, seen, expected) in enumerate(scenes):
        at += later
        progress, action = advance(progress, DeliveryLook(at, **seen))
        assert action.do is expected, f"scene {number}: {seen} led to {action}"
    return action, progress


def ended(action):
    assert action.do is Do.FINISH
    return action.outcome, action.proof


SENT = ((SOON, EMPTY, PASTE), (SOON, FILLED, SUBMIT))
QUIET = ((SOON, EMPTY, LOOK), (SOON, EMPTY, END))


# --- it arrives ----------------------------------------------------------------------------------


@pytest.mark.lesson(2, "proof is the agent's own report, or an input line seen full and then empty")
def test_the_agent_reports_the_prompt():
    action, progress = play(*SENT, (SOON, FILLED, LOOK), (SOON, HEARD, END), reports_events=True)
    assert ended(action) == (Outcome.DELIVERED, Proof.HOOK)
    assert progress.attempts == 1


@pytest.mark.parametrize(
    ("in_same_turn", "outcome"),
    [
        (True, Outcome.QUEUED),  # Claude Code 2.1.325 reports a prompt when it puts it aside
        (False, Outcome.DELIVERED),  # the turn was over by then
    ],
)
def test_a_prompt_that_is_reported_in_the_middle_of_a_turn_is_queued(in_same_turn, outcome):
    heard = {**HEARD, "in_turn": True, "in_same_turn": in_same_turn}
    action, _ = play((SOON, IN_TURN, PASTE), (SOON, FILLED, SUBMIT), (SOON, heard, END), reports_events=True)
    assert ended(action) == (outcome, Proof.HOOK)


@pytest.mark.lesson(45, "two identical texts need two proofs")
def test_a_report_of_words_that_it_reported_before_proves_nothing_while_they_stand_in_the_input_line():
    """It may be a second report of the text before."""
    again = {"heard": True, "repeated": True}
    waiting = ((SOON, {**FILLED, **again}, LOOK), (LATER, {**FILLED, **again}, SUBMIT), (SOON, {**HEARD, **again}, END))
    action, progress = play(*SENT, *waiting, reports_events=True)
    assert ended(action) == (Outcome.DELIVERED, Proof.HOOK)
    assert progress.submits == 2


@pytest.mark.lesson(2, "proof is the agent's own report, or an input line seen full and then empty")
def test_the_composer_was_filled_and_is_empty():
    action, progress = play(*SENT, *QUIET)
    assert ended(action) == (Outcome.DELIVERED, Proof.COMPOSER)
    assert (progress.attempts, progress.submits) == (1, 1)


def test_a_person_types_something_new_right_after_the_submit():
    action, _ = play(*SENT, (SOON, DRAFT, LOOK), (SOON, DRAFT, END))
    assert ended(action) == (Outcome.DELIVERED, Proof.COMPOSER)


def test_an_agent_that_reports_gets_time_to_do_so():
    waiting = [(SOON, EMPTY, LOOK)] * 20
    action, _ = play(*SENT, *waiting, (SOON, HEARD, END), reports_events=True)
    assert ended(action) == (Outcome.DELIVERED, Proof.HOOK)


def test_a_report_that_never_comes_leaves_the_composer_as_proof():
    action, _ = play(*SENT, (SOON, EMPTY, LOOK), (PROVEN_WITHIN, EMPTY, END), reports_events=True)
    assert ended(action) == (Outcome.DELIVERED, Proof.COMPOSER)


@pytest.mark.lesson(2, "proof is the agent's own report, or an input line seen full and then empty")
@pytest.mark.parametrize("seen", [EMPTY, BUSY_HIDDEN])
def test_an_agent_that_always_reported_and_does_not_now_may_not_have_got_it(seen):
    proven = {"reports_events": True, "events_proven": True}
    action, _ = play(*SENT, (SOON, seen, LOOK), (PROVEN_WITHIN, seen, LOOK), (REPORTED_WITHIN, seen, END), **proven)
    assert ended(action) == (Outcome.UNKNOWN, Proof.NONE)
    assert action.reason


def test_an_agent_that_hides_its_composer_while_it_works():
    seen = ((SOON, BUSY_HIDDEN, LOOK), (SOON, BUSY_HIDDEN, LOOK), (PROVEN_WITHIN, BUSY_HIDDEN, END))
    action, _ = play(*SENT, *seen)
    assert ended(action) == (Outcome.DELIVERED, Proof.COMPOSER)


def test_an_agent_that_submits_a_paste_by_itself_and_says_so():
    action, _ = play((SOON, EMPTY, PASTE), (SOON, HEARD, END), reports_events=True)
    assert ended(action) == (Outcome.DELIVERED, Proof.HOOK)


@pytest.mark.lesson(2, "proof is the agent's own report, or an input line seen full and then empty")
def test_a_single_look_at_a_half_drawn_screen_proves_nothing():
    action, progress = play(*SENT, (SOON, HIDDEN, LOOK), (SOON, FILLED, LOOK), (LATER, FILLED, SUBMIT), *QUIET)
    assert ended(action) == (Outcome.DELIVERED, Proof.COMPOSER)
    assert progress.submits == 2


# --- it is queued --------------------------------------------------------------------------------


@pytest.mark.lesson(3, "who was busy before proves nothing by being busy after")
def test_a_busy_agent_takes_it_into_its_queue():
    action, _ = play((SOON, BUSY, PASTE), (SOON, BUSY_FILLED, SUBMIT), (SOON, BUSY, LOOK), (SOON, BUSY, END))
    assert ended(action) == (Outcome.QUEUED, Proof.COMPOSER)


@pytest.mark.lesson(3, "who was busy before proves nothing by being busy after")
def test_being_busy_before_confirms_nothing_by_being_busy_after():
    sent = ((SOON, BUSY, PASTE), (SOON, BUSY_FILLED, SUBMIT))
    action, _ = play(*sent, (SOON, BUSY_HIDDEN, LOOK), (PROVEN_WITHIN, BUSY_HIDDEN, END))
    assert ended(action) == (Outcome.UNKNOWN, Proof.NONE)


def test_a_turn_goes_on_though_the_screen_looks_idle():
    sent = ((SOON, IN_TURN, PASTE), (SOON, FILLED, SUBMIT), (SOON, EMPTY, LOOK), (PROVEN_WITHIN, EMPTY, END))
    action, _ = play(*sent, reports_events=True, events_proven=True)
    assert ended(action) == (Outcome.QUEUED, Proof.COMPOSER)


def test_what_only_looked_busy_may_report_the_prompt_at_once():
    sent = ((SOON, BUSY, PASTE), (SOON, BUSY_FILLED, SUBMIT), (SOON, EMPTY, LOOK), (SOON, EMPTY, LOOK))
    action, _ = play(*sent, (SOON, HEARD, END), reports_events=True)
    assert ended(action) == (Outcome.DELIVERED, Proof.HOOK)


# --- it is refused -------------------------------------------------------------------------------


@pytest.mark.lesson(11, "copy mode is left first, and a dialog gets neither text nor Enter")
@pytest.mark.parametrize("dialog", [DIALOG, DIALOG_OVER_DRAFT])
def test_a_dialog_would_take_the_text_for_an_answer(dialog):
    action, progress = play((SOON, dialog, END))
    assert ended(action) == (Outcome.UNDELIVERED, Proof.NONE)
    assert action.refused
    assert "dialog is open" in action.reason
    assert progress.attempts == 0


@pytest.mark.lesson(10, "a person's draft is waited for, never cleared or added to")
def test_a_draft_is_waited_for():
    action, _ = play((SOON, DRAFT, LOOK), (SOON, DRAFT, LOOK), *SENT, *QUIET)
    assert ended(action) == (Outcome.DELIVERED, Proof.COMPOSER)


@pytest.mark.lesson(10, "a person's draft is waited for, never cleared or added to")
def test_a_draft_that_stays_is_left_alone():
    action, progress = play((SOON, DRAFT, LOOK), (MUCH_LATER, DRAFT, END))
    assert ended(action) == (Outcome.UNDELIVERED, Proof.NONE)
    assert action.refused
    assert "draft" in action.reason
    assert progress.attempts == 0


def test_how_long_a_draft_is_waited_for_is_for_the_user_to_say():
    action, _ = play((SOON, DRAFT, LOOK), (1.0, DRAFT, LOOK), (1.0, DRAFT, END), ready_within=2.0)
    assert "draft" in action.reason


def test_our_own_text_from_before_is_a_draft_like_any_other():
    action, _ = play((SOON, FILLED, LOOK), (MUCH_LATER, FILLED, END))
    assert ended(action) == (Outcome.UNDELIVERED, Proof.NONE)
    assert action.refused


@pytest.mark.lesson(12, "the first text waits for the agent's own start")
def test_an_agent_without_a_composer_is_waited_for():
    action, _ = play((SOON, HIDDEN, LOOK), (SOON, HIDDEN, LOOK), *SENT, *QUIET)
    assert ended(action) == (Outcome.DELIVERED, Proof.COMPOSER)
    action, _ = play((SOON, HIDDEN, LOOK), (MUCH_LATER, HIDDEN, END))
    assert ended(action) == (Outcome.UNDELIVERED, Proof.NONE)
    assert action.refused


def test_the_time_in_which_it_did_not_read_is_not_held_against_its_input_line():
    slow = ((SOON, UNREAD, LOOK), (MUCH_LATER, UNREAD, LOOK), (SOON, HIDDEN, LOOK))
    action, _ = play(*slow, *SENT, *QUIET)
    assert ended(action) == (Outcome.DELIVERED, Proof.COMPOSER)
    action, _ = play(*slow, (MUCH_LATER, HIDDEN, END))
    assert "input line is not on the screen" in action.reason


def test_nothing_is_typed_behind_what_waits_to_be_read():
    action, _ = play((SOON, UNREAD, LOOK), (SOON, UNREAD, LOOK), *SENT, *QUIET)
    assert ended(action) == (Outcome.DELIVERED, Proof.COMPOSER)
    action, progress = play((SOON, UNREAD, LOOK), (MUCH_LATER, UNREAD, LOOK), (READ_WITHIN, UNREAD, END))
    assert ended(action) == (Outcome.UNDELIVERED, Proof.NONE)
    assert action.refused
    assert progress.attempts == 0


def test_an_agent_that_has_ended_gets_nothing():
    action, _ = play((SOON, GONE, END))
    assert ended(action) == (Outcome.UNDELIVERED, Proof.NONE)
    assert action.refused


# --- copy mode -----------------------------------------------------------------------------------


@pytest.mark.lesson(11, "copy mode is left first, and a dialog gets neither text nor Enter")
def test_copy_mode_is_left_before_anything_is_typed():
    action, _ = play((SOON, COPY_MODE, LEAVE), *SENT, *QUIET)
    assert ended(action) == (Outcome.DELIVERED, Proof.COMPOSER)


def test_copy_mode_is_left_again_whenever_somebody_enters_it():
    middle = ((SOON, EMPTY, PASTE), (SOON, COPY_MODE, LEAVE), (SOON, FILLED, SUBMIT), (SOON, COPY_MODE, LEAVE))
    action, progress = play(*middle, *QUIET)
    assert ended(action) == (Outcome.DELIVERED, Proof.COMPOSER)
    assert progress.attempts == 1


@pytest.mark.parametrize(
    ("before", "outcome", "refused"),
    [((), Outcome.UNDELIVERED, True), (SENT[:1], Outcome.UNDELIVERED, False), (SENT, Outcome.UNKNOWN, False)],
)
def test_copy_mode_that_cannot_be_left_is_given_up(before, outcome, refused):
    action, _ = play(*before, (SOON, COPY_MODE, LEAVE), (MUCH_LATER, COPY_MODE, END))
    assert (action.outcome, action.proof, action.refused) == (outcome, Proof.NONE, refused)


# --- it does not show ----------------------------------------------------------------------------


def test_a_text_that_never_shows_is_tried_a_few_times():
    try_again = ((SOON, EMPTY, PASTE), (SOON, EMPTY, LOOK), (SEEN_WITHIN, EMPTY, LOOK))
    last = ((SOON, EMPTY, PASTE), (SEEN_WITHIN, EMPTY, END))
    action, progress = play(*try_again * (MAX_ATTEMPTS - 1), *last)
    assert ended(action) == (Outcome.UNDELIVERED, Proof.NONE)
    assert not action.refused  # something was typed, wherever it went
    assert progress.attempts == MAX_ATTEMPTS == 3


def test_a_text_that_shows_at_the_second_try():
    action, progress = play((SOON, EMPTY, PASTE), (SEEN_WITHIN, EMPTY, LOOK), *SENT, *QUIET)
    assert ended(action) == (Outcome.DELIVERED, Proof.COMPOSER)
    assert progress.attempts == 2


def test_what_shows_instead_is_somebodys_draft_and_stays():
    seen = ((SOON, EMPTY, PASTE), (SEEN_WITHIN, DRAFT, LOOK), (SOON, DRAFT, LOOK), (MUCH_LATER, DRAFT, END))
    action, progress = play(*seen)
    assert ended(action) == (Outcome.UNDELIVERED, Proof.NONE)
    assert not action.refused
    assert progress.attempts == 1


def test_a_text_that_nobody_has_read_yet_is_not_pasted_again():
    waiting = [(LATER, UNREAD, LOOK)] * 20
    action, progress = play((SOON, EMPTY, PASTE), *waiting, (SOON, EMPTY, LOOK), (SOON, FILLED, SUBMIT), *QUIET)
    assert ended(action) == (Outcome.DELIVERED, Proof.COMPOSER)
    assert progress.attempts == 1


def test_a_text_that_nobody_ever_reads_may_be_read_later():
    action, _ = play((SOON, EMPTY, PASTE), (SOON, UNREAD, LOOK), (READ_WITHIN, UNREAD, END))
    assert ended(action) == (Outcome.UNKNOWN, Proof.NONE)
    assert "look before you resend" in action.reason


@pytest.mark.lesson(10, "a person's draft is waited for, never cleared or added to")
def test_a_text_between_somebodys_words_is_left_to_them_and_not_pasted_again():
    action, progress = play((SOON, EMPTY, PASTE), (SOON, MIXED, LOOK), (SOON, EMPTY, LOOK), (SEEN_WITHIN, EMPTY, END))
    assert ended(action) == (Outcome.UNKNOWN, Proof.NONE)
    assert (progress.attempts, progress.submits) == (1, 0)


@pytest.mark.lesson(11, "copy mode is left first, and a dialog gets neither text nor Enter")
def test_a_dialog_that_opens_after_the_paste_gets_no_enter():
    action, _ = play((SOON, EMPTY, PASTE), (SOON, DIALOG, END))
    assert ended(action) == (Outcome.UNDELIVERED, Proof.NONE)
    assert not action.refused


# --- the Enter -----------------------------------------------------------------------------------


@pytest.mark.lesson(7, "the Enter comes by itself, once the text is seen")
def test_a_swallowed_enter_is_pressed_again():
    action, progress = play(*SENT, (SOON, FILLED, LOOK), (LATER, FILLED, SUBMIT), *QUIET)
    assert ended(action) == (Outcome.DELIVERED, Proof.COMPOSER)
    assert (progress.attempts, progress.submits) == (1, 2)


@pytest.mark.lesson(44, "after an Enter nobody promises that nothing was taken")
def test_an_enter_that_is_never_taken_is_given_up():
    again = [(LATER * 2**n, FILLED, SUBMIT) for n in range(MAX_SUBMITS - 1)]
    action, progress = play(*SENT, *again, (LATER, FILLED, LOOK), (LATER * 2**MAX_SUBMITS, FILLED, END))
    assert ended(action) == (Outcome.UNKNOWN, Proof.NONE)
    assert "does not take the Enter" in action.reason
    assert progress.submits == MAX_SUBMITS == 5


def test_a_composer_that_is_gone_says_nothing():
    action, _ = play(*SENT, (SOON, HIDDEN, LOOK), (SOON, HIDDEN, LOOK), (PROVEN_WITHIN, HIDDEN, END))
    assert ended(action) == (Outcome.UNKNOWN, Proof.NONE)


def test_a_dialog_in_front_of_the_composer_says_nothing():
    action, _ = play(*SENT, (SOON, DIALOG, LOOK), (SOON, DIALOG, LOOK), (PROVEN_WITHIN, DIALOG, END))
    assert ended(action) == (Outcome.UNKNOWN, Proof.NONE)


@pytest.mark.lesson(7, "the Enter comes by itself, once the text is seen")
def test_an_enter_that_nobody_has_read_is_not_pressed_again():
    waiting = [(LATER, UNREAD_FILLED, LOOK)] * 20
    action, progress = play(*SENT, *waiting, (SOON, FILLED, LOOK), *QUIET)
    assert ended(action) == (Outcome.DELIVERED, Proof.COMPOSER)
    assert progress.submits == 1


def test_an_enter_that_nobody_ever_reads_may_be_read_later():
    action, _ = play(*SENT, (SOON, UNREAD_FILLED, LOOK), (READ_WITHIN, UNREAD_FILLED, END))
    assert ended(action) == (Outcome.UNKNOWN, Proof.NONE)


@pytest.mark.lesson(11, "copy mode is left first, and a dialog gets neither text nor Enter")
def test_a_dialog_gets_no_second_enter():
    dialog = {**FILLED, "dialog": "permission"}
    action, progress = play(*SENT, (SOON, dialog, LOOK), (LATER, dialog, LOOK), (SOON, HEARD, END))
    assert ended(action) == (Outcome.DELIVERED, Proof.HOOK)
    assert progress.submits == 1


# --- the agent dies ------------------------------------------------------------------------------


def test_an_agent_that_dies_before_the_enter_has_not_got_it():
    action, _ = play((SOON, EMPTY, PASTE), (SOON, GONE, END))
    assert ended(action) == (Outcome.UNDELIVERED, Proof.NONE)
    assert not action.refused


def test_an_agent_that_dies_after_the_enter_may_have_got_it():
    action, _ = play(*SENT, (SOON, GONE, END))
    assert ended(action) == (Outcome.UNKNOWN, Proof.NONE)


def test_an_agent_that_took_the_prompt_and_died_may_not_have_asked_its_model():
    action, _ = play(*SENT, (SOON, {**GONE, "heard": True}, END))
    assert ended(action) == (Outcome.UNKNOWN, Proof.NONE)


# --- whatever is seen ----------------------------------------------------------------------------


SCENES = (EMPTY, FILLED, DRAFT, HIDDEN, DIALOG, DIALOG_OVER_DRAFT, COPY_MODE, BUSY, BUSY_FILLED, BUSY_HIDDEN, GONE)
LESS_USUAL = (UNREAD, UNREAD_FILLED, MIXED, IN_TURN)
PAUSES = st.sampled_from([0.02, 0.5, SUBMITTED_WITHIN, PROVEN_WITHIN, SEEN_WITHIN, READY_WITHIN])
LIKELY = st.tuples(PAUSES, st.sampled_from([*SCENES, *LESS_USUAL, HEARD]))
ANYTHING = st.tuples(
    PAUSES,
    st.fixed_dictionaries(
        {
            "composer": st.sampled_from([None, "", "words"]),
            "dialog": st.sampled_from([None, "trust"]),
            **dict.fromkeys(
                ("gone", "in_mode", "holds_text", "mixed", "unread", "busy", "in_turn", "heard"), st.booleans()
            ),
        }
    ),
)


REPORTS = st.sampled_from([{}, {"reports_events": True}, {"reports_events": True, "events_proven": True}])


def history(scenes, reports):
    """Every look with the action that it led to, up to the end."""
    progress, at = DeliveryProgress(**reports), 0.0
    for later, seen in scenes:
        at += later
        look = DeliveryLook(at, **seen)
        progress, action = advance(progress, look)
        yield look, action
        if action.do is Do.FINISH:
            return


@pytest.mark.lesson(4, "what may have arrived is looked for and not sent again")
@pytest.mark.lesson(7, "the Enter comes by itself, once the text is seen")
@given(st.lists(st.one_of(LIKELY, ANYTHING), max_size=60), REPORTS)
def test_nothing_is_sent_twice_or_blindly(scenes, reports):
    seen = list(history(scenes, reports))
    done = [action.do for _, action in seen]
    if Do.SUBMIT in done:
        assert Do.PASTE not in done[done.index(Do.SUBMIT) :]
    assert done.count(Do.PASTE) <= MAX_ATTEMPTS
    assert done.count(Do.SUBMIT) <= MAX_SUBMITS
    assert all(look.holds_text for look, action in seen if action.do is Do.SUBMIT)
    targets = [(look.composer, look.dialog, look.in_mode) for look, action in seen if action.do is Do.PASTE]
    assert set(targets) <= {("", None, False)}


@pytest.mark.lesson(1, "a receipt says delivered, queued, undelivered or unknown, and never guesses success")
@pytest.mark.lesson(44, "after an Enter nobody promises that nothing was taken")
@given(st.lists(st.one_of(LIKELY, ANYTHING), max_size=60), REPORTS)
def test_nothing_is_claimed_without_proof(scenes, reports):
    seen = list(history(scenes, reports))
    if not seen or seen[-1][1].do is not Do.FINISH:
        return  # it goes on
    (last, end), done = seen[-1], [action.do for _, action in seen]
    filled_before = any(look.holds_text for look, _ in seen[:-1])
    emptied = Do.SUBMIT in done and filled_before and not last.holds_text and not last.gone
    match end.outcome:
        case Outcome.DELIVERED:
            proven = reports.get("events_proven", False)
            assert last.heard if end.proof is Proof.HOOK else emptied and not proven
        case Outcome.QUEUED:
            assert emptied if end.proof is Proof.COMPOSER else last.heard
        case Outcome.UNDELIVERED:
            assert Do.SUBMIT not in done
        case Outcome.UNKNOWN:
            assert Do.PASTE in done or last.heard
    assert (end.proof is Proof.NONE) == (end.outcome in (Outcome.UNDELIVERED, Outcome.UNKNOWN)) == bool(end.reason)
    assert not (end.refused and Do.PASTE in done)


@given(st.lists(st.one_of(LIKELY, ANYTHING), min_size=1, max_size=6), REPORTS)
def test_every_delivery_comes_to_an_end(scenes, reports):
    """Whatever is seen again and again: the machine's own limits end it."""
    endless = [(max(later, 0.5), seen) for later, seen in scenes] * 300
    seen = list(history(endless, reports))
    assert seen[-1][1].do is Do.FINISH


def test_the_machine_begins_with_looking():
    assert DeliveryProgress().stage is DeliveryStage.CHECKING


# --- texts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        *("plain", "-leading", "/slash", "trailing;", "tab\tinside", "line\nline\n", "\n\nlate", "\u00a0x"),
        *("日本語", "e\u0301", "👩\u200d💻", "\U0001f916", "\u202ertl", "a\u2028b", "\ufeffbom", "\uffff"),
        *("x" * MAX_BYTES, "[200~", "${HOME} `id` \\ '\""),
    ],
    ids=lambda text: ascii(text[:12]),
)
def test_texts_that_are_delivered_as_they_are(text):
    assert check_text(text) is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "empty"),
        (" \n\t ", "empty"),
        ("a\0b", "U+0000 in line 1"),
        ("one\ntwo\x1b[201~", "U+001B in line 2"),
        ("a\rb", "U+000D"),
        ("a\x07", "U+0007"),
        ("a\x08", "U+0008"),
        ("a\x7f", "U+007F"),
        ("a\x80", "U+0080"),
        ("a\x85", "U+0085"),
        ("a\x9b31m", "U+009B"),
        ("a\x9f", "U+009F"),
        (f"a{chr(0xD800)}b", "not valid Unicode"),
        (f"a{chr(0xDCFF)}b", "not valid Unicode"),
        ("x" * (MAX_BYTES + 1), "4,194,305 bytes, more than 4,194,304"),
        ("日" * (MAX_BYTES // 3 + 1), "4,194,306 bytes"),
    ],
    ids=lambda text: ascii(text[:12]),
)
def test_texts_that_are_refused_with_the_reason(text, told):
    with pytest.raises(UnfitTextError) as refused:
        check_text(text)
    assert told in refused.value.what
    assert refused.value.hint
    assert refused.value.exit_code == 2


def is_fit(text):
    try:
        check_text(text)
    except UnfitTextError:
        return False
    return True


ACTED_UPON = {chr(number) for number in (*range(32), *range(0x7F, 0xA0))} - {"\n", "\t"}


@given(st.text(st.characters(), min_size=1))
def test_exactly_what_a_terminal_would_act_upon_is_refused(text):
    surrogates = any(0xD800 <= ord(character) < 0xE000 for character in text)
    assert is_fit(text) == (bool(text.strip()) and not surrogates and not ACTED_UPON & set(text))


# --- programs that read lines, and screens that nobody knows ----------------------------------------

LINES = {"composer": "", "reads_lines": True}
LINES_UNREAD = {**LINES, "unread": True}
ECHOED = {**LINES, "shown": 2}
BEGUN = {**LINES_UNREAD, "told": True}
NOWHERE = {"composer": None}


@pytest.mark.lesson(4, "what may have arrived is looked for and not sent again")
@pytest.mark.parametrize("sign", [{"told": True}, {"shown": 1}], ids=["reported otherwise", "shown elsewhere"])
def test_what_was_taken_past_the_input_line_is_not_sent_again(sign):
    action, progress = play((SOON, EMPTY, PASTE), (SEEN_WITHIN, {**EMPTY, **sign}, END))
    assert ended(action) == (Outcome.UNKNOWN, Proof.NONE)
    assert progress.attempts == 1
    assert "look before you resend" in action.reason


def test_what_was_on_the_screen_before_is_no_sign():
    shown = {**EMPTY, "shown": 1}
    play((SOON, shown, PASTE), (SEEN_WITHIN, shown, LOOK), (SOON, shown, PASTE))


def test_a_report_from_before_the_paste_is_none_of_this_text():
    play((SOON, HEARD, PASTE), (SOON, HEARD, END))


def test_lines_are_submitted_as_they_are_and_proven_by_the_report_of_the_last():
    scenes = ((SOON, LINES, PASTE), (SOON, LINES_UNREAD, SUBMIT), (SOON, BEGUN, LOOK), (SOON, {**HEARD}, END))
    action, progress = play(*scenes, reports_events=True, many_lines=True)
    assert ended(action) == (Outcome.DELIVERED, Proof.HOOK)
    assert progress.attempts == 1


def test_a_last_line_that_is_complete_gets_no_empty_one_behind_it():
    scenes = ((SOON, LINES, PASTE), (SOON, LINES_UNREAD, LOOK), (SOON, ECHOED, END))
    assert ended(play(*scenes, many_lines=True, ends_line=True)[0]) == (Outcome.DELIVERED, Proof.COMPOSER)


def test_one_that_works_on_the_first_lines_has_the_others_waiting():
    scenes = ((SOON, LINES, PASTE), (SOON, LINES, SUBMIT), (SOON, BEGUN, LOOK), (REPORTED_WITHIN, BEGUN, END))
    action, _ = play(*scenes, reports_events=True, events_proven=True, many_lines=True)
    assert ended(action) == (Outcome.QUEUED, Proof.HOOK)


def test_lines_that_nobody_reads_are_not_sent_again():
    scenes = ((SOON, LINES, PASTE), (SOON, LINES, SUBMIT), (SOON, LINES_UNREAD, LOOK), (READ_WITHIN, LINES_UNREAD, END))
    assert ended(play(*scenes, many_lines=True)[0]) == (Outcome.UNKNOWN, Proof.NONE)


def test_lines_that_leave_no_trace_are_not_said_to_be_there():
    scenes = ((SOON, LINES, PASTE), (SOON, LINES, SUBMIT), (SOON, LINES, LOOK), (SEEN_WITHIN, LINES, END))
    assert ended(play(*scenes, many_lines=True)[0]) == (Outcome.UNKNOWN, Proof.NONE)


def test_one_line_is_seen_before_it_is_submitted_there_too():
    play((SOON, LINES, PASTE), (SOON, LINES, LOOK), (SOON, {**FILLED, "reads_lines": True}, SUBMIT))


def test_a_screen_that_nobody_knows_is_typed_into_and_only_a_report_counts():
    scenes = ((SOON, NOWHERE, PASTE), (SOON, NOWHERE, SUBMIT), (SOON, {**NOWHERE, "shown": 2}, LOOK))
    told = {"reports_events": True, "events_proven": True, "screen_unknown": True}
    assert ended(play(*scenes, (SOON, HEARD, END), **told)[0]) == (Outcome.DELIVERED, Proof.HOOK)
    silent = (REPORTED_WITHIN, {**NOWHERE, "shown": 2}, END)
    assert ended(play(*scenes, silent, **told)[0]) == (Outcome.UNKNOWN, Proof.NONE)


def test_a_question_on_it_gets_no_enter():
    asks = {**NOWHERE, "dialog": "as it reports"}
    action, _ = play((SOON, asks, END), screen_unknown=True)
    assert (ended(action), action.refused) == ((Outcome.UNDELIVERED, Proof.NONE), True)
    action, _ = play((SOON, NOWHERE, PASTE), (SOON, asks, END), screen_unknown=True)
    assert (ended(action), action.refused) == ((Outcome.UNDELIVERED, Proof.NONE), False)


def test_lines_that_were_typed_before_the_end_of_the_agent_may_have_been_read():
    action, _ = play((SOON, LINES, PASTE), (SOON, GONE, END), many_lines=True)
    assert ended(action) == (Outcome.UNKNOWN, Proof.NONE)


def test_a_text_waits_for_one_that_is_still_starting():
    action, _ = play(
        (0, STARTING, LOOK),
        (LATER, STARTING, LOOK),
        (LATER, EMPTY, PASTE),
        (SOON, FILLED, SUBMIT),
        (SOON, HEARD, END),
        reports_events=True,
    )
    assert ended(action) == (Outcome.DELIVERED, Proof.HOOK)


def test_one_that_never_comes_up_is_given_nothing():
    action, _ = play((0, STARTING, LOOK), (MUCH_LATER, STARTING, END))
    assert (*ended(action), action.reason) == (Outcome.UNDELIVERED, Proof.NONE, "it is still starting")


# --- a text of our own that was never submitted ---------------------------------------------------


def test_a_leftover_of_our_own_is_cleared_line_by_line_before_anything_is_typed() -> None:
    progress = DeliveryProgress()
    lines = ["half a task", "of ours", ""]
    done: list[Do] = []
    for at in range(100):
        left = "\n".join(lines).strip()
        look = DeliveryLook(at * 0.06, composer=left, leftover=left == "half a task\nof ours", leftover_rest=True)
        progress, action = advance(progress, look)
        if action.do is Do.CLEAR_INPUT:
            lines.pop()
        if action.do is not Do.LOOK_AGAIN:
            done.append(action.do)
        if action.do is Do.PASTE:
            break
    assert done[-1] is Do.PASTE
    assert set(done[:-1]) == {Do.CLEAR_INPUT}


@pytest.mark.lesson(10, "a person's draft is waited for, never cleared or added to")
def test_words_of_somebody_else_are_never_cleared() -> None:
    progress = DeliveryProgress()
    for at in range(400):
        progress, action = advance(progress, DeliveryLook(at * 0.06, composer="my draft", leftover_rest=True))
        assert action.do is not Do.CLEAR_INPUT
        if action.do is Do.FINISH:
            break
    assert action.refused
