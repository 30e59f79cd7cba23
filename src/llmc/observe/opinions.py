"""What each signal says of a terminal, in the words that standings are made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llmc.core.dialogs.dialog import Dialog
from llmc.core.display import one_line, plain
from llmc.core.screen.classify import ACTIONS, Reading
from llmc.core.screen.readiness import Opinion, Standing, is_stable, seen_alone
from llmc.host.processes import remind_of_children
from llmc.observe.watched_terminal import Subject
from llmc.tmux.parsing import Pane

LASTING_SECS = 3.0
LONGEST_ASKED = 4000
LONGEST_OPTION = 300
LONGEST_QUESTION = 100
LONGEST_SUMMARY = 200


def opinion_of(reading: Reading) -> Opinion:
    return Opinion(
        reading.state,
        reading.detail,
        reading.confidence,
        _summary(reading),
        reading.actions_needed,
        reading.cue,
        guess=reading.guess,
    )


def _summary(reading: Reading) -> str:
    """With what is asked, where a dialog is open: a notice that does not say it is noise."""
    dialog = reading.dialog
    if dialog is None or not dialog.options:
        return reading.summary
    last = one_line(dialog.question.rpartition("\n")[2], LONGEST_QUESTION)
    return one_line(f"{reading.summary}: {last} ({dialog.listed})", LONGEST_SUMMARY)


def dialog_shown(dialog: Dialog | None) -> dict[str, Any] | None:
    """The dialog as scripts and faces read it."""
    if dialog is None:
        return None
    options = [one_line(option.words, LONGEST_OPTION) for option in dialog.options]
    return {"id": dialog.id, "text": plain(dialog.question)[-LONGEST_ASKED:], "options": options}


def exited(subject: Subject, pane: Pane) -> Opinion:
    how = f" (exit code {pane.exit_code})" if pane.exit_code is not None else ""
    if pane.exit_signal is not None:
        how = f" (signal {pane.exit_signal})"
    if not how:
        remind_of_children(pane.server_pid)  # tmux 3.3a misses the end of its children now and then
    actions = (f"`llmc pty close {subject.name}` clears it away",)
    return Opinion("EXITED", None, 1.0, f"its program has ended{how}", actions, "process", "process")


def opinion_told(told: Mapping[str, Any], screen: Opinion) -> Opinion:
    """What the agent itself tells; the screen, where it agrees, says more of it."""
    agrees = screen.state == told["state"]
    summary = str(told.get("summary") or (screen.summary if agrees else ""))
    actions = screen.actions_needed if agrees else ACTIONS.get(str(told["state"]), ())
    return Opinion(
        told["state"], told["detail"], told["confidence"], summary, actions, str(told["source"]), told["source"]
    )


def screen_alone(
    subject: Subject, standing: Standing, screen: Opinion, stable_looks: int, before: Mapping[str, Any]
) -> dict[str, Any]:
    """What the screen says by itself, and whether it has said so for long enough to be taken seriously."""
    shown = seen_alone(standing, screen, stable_looks)
    since = before["since_unix"] if before.get("state") == shown.state else standing.looked_at
    return {
        "state": shown.state,
        "detail": shown.detail,
        "confidence": shown.confidence,
        "source": shown.source,
        "at_unix": standing.changed_at,
        "since_unix": since,
        "lasting": is_stable(standing, stable_looks) or standing.looked_at - since >= LASTING_SECS,
        "quiet_after_secs": subject.quiet_after_secs,
    }
