"""Whether a dialog may be confirmed unasked. Pure: what the terminal shows and the person's rules in, a verdict out.

Everything must be sure: the pack knows the dialog and tells where in it the command stands, nothing on the screen
contradicts that, the agent's own report (where it reports) names the same command, and a rule covers all of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from llmc.core.dialogs.choosing import Goal, NoSuchAnswerError, goal_for
from llmc.core.dialogs.dialog import Dialog
from llmc.core.display import one_line
from llmc.core.lifecycle.policy import AutoConfirm
from llmc.core.screen.assessment import Assessment
from llmc.core.screen.classify import Pack, look_at, read_screen
from llmc.core.screen.cues import Cue
from llmc.core.screen.patterns import is_spelled_out
from llmc.core.screen.screen import Screen
from llmc.values import Value

SURE = 0.9
LONGEST = 160
"""What an agent reports is kept as a short line: nothing longer could be compared."""
OPERATORS = frozenset(";&|<>`$()\n")
"""What makes a shell do more than one thing, or something else than it says."""
COMMANDS = "permission"
"""The kind of dialog that asks for a command."""
QUESTIONS = "question"


class ConfirmVerdict(Value):
    kind: str = ""
    asked: str = ""
    pattern: str = ""
    """Of the rule that allows it."""
    refusal: str = ""
    goal: Goal | None = None
    """What to take in the dialog, if that is allowed."""


def judge(
    pack: Pack, screen: Screen, agent: str, rules: Iterable[AutoConfirm], told: Assessment | None
) -> ConfirmVerdict:
    """`told` is what the agent itself has reported last; None for one that does not report what it does."""
    reading = read_screen(pack, screen)
    dialog, kind = reading.matched, reading.detail or ""
    if reading.state != "NEEDS_CONFIRMATION" or dialog is None or reading.dialog is None:
        return ConfirmVerdict(refusal="no dialog is open")
    named = [rule for rule in rules if rule.agent == agent and rule.kind == kind]
    if not named:
        return ConfirmVerdict(kind, refusal=f"no rule is for the dialog {dialog.name} of {agent}")
    goal = _yes(reading.dialog, dialog)
    if reading.confidence < SURE or goal is None:
        return ConfirmVerdict(
            kind, refusal=f"the pack is not sure of this dialog ({dialog.name}, {reading.confidence})"
        )
    asked = dialog.asks.asked(look_at(pack, screen).lines) if dialog.asks else None
    if asked is None or (dialog.asks and dialog.asks.reported and told is None):
        return ConfirmVerdict(kind, refusal="the pack cannot tell for sure what the dialog asks for")
    refusal = _unfit(asked) or _otherwise_told(kind, asked, told)
    if refusal:
        return ConfirmVerdict(kind, asked, refusal=refusal)
    for rule in named:
        if covers(rule.pattern, kind, asked):
            return ConfirmVerdict(kind, asked, rule.pattern, goal=goal)
    return ConfirmVerdict(kind, asked, refusal="no rule covers the whole of what it asks for")


def _yes(dialog: Dialog, cue: Cue) -> Goal | None:
    """A rule for a question means its first option: that is the one that the agent recommends."""
    if cue.detail == QUESTIONS and dialog.options:
        return Goal(dialog, 0)
    try:
        return goal_for(dialog, "yes", cue.ways)
    except NoSuchAnswerError:
        return None


def covers(pattern: str, kind: str, asked: str) -> bool:
    """Whether the pattern matches all of it, from the first letter to the last.

    A command that does more than one thing is only covered by a pattern that spells it out: `.*` must not let one in.
    """
    several = "\n" in asked or (kind == COMMANDS and not OPERATORS.isdisjoint(asked))
    if several and not is_spelled_out(pattern):
        return False
    return re.fullmatch(pattern, asked) is not None


def _unfit(asked: str) -> str:
    if len(asked) > LONGEST:
        return "what it asks for is too long to be sure of"
    if not all(character.isprintable() or character == "\n" for character in asked):
        return "what it asks for has characters that cannot be seen"
    if "…" in asked:
        return "what it asks for is not shown to its end"
    return ""


def _otherwise_told(kind: str, asked: str, told: Assessment | None) -> str:
    """The agent's report has the command itself, whatever its screen makes of it."""
    if told is None:
        return ""
    reported = str(told.get("summary") or "")
    tool, _, words = reported.partition(": ")
    same = one_line(asked, LONGEST) in (reported, words if " " not in tool else None)
    return (
        "" if _dialog_told(told) == kind and same else "the agent itself reports something else than its screen shows"
    )


def _dialog_told(told: Assessment) -> str | None:
    """The kind of dialog that it has reported; None when it said something else."""
    asks = (told["state"], told.get("source")) == ("NEEDS_CONFIRMATION", "hook")
    return told.get("detail") if asks else None
