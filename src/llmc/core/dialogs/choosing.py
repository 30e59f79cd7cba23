"""Which option an answer means: a number, the option's words, `yes`, `no`, or a text of one's own."""

from __future__ import annotations

import re

from llmc.core.dialogs.dialog import Dialog, Option, bare
from llmc.errors import LlmcError
from llmc.values import Value

YES = frozenset(("yes", "y", "allow", "ok"))
NO = frozenset(("no", "n", "deny", "cancel"))
ALLOWS = re.compile(
    r"(?i)^(?:yes|allow|approve|accept|proceed|continue|confirm|ok(?:ay)?|trust|run|apply|agree|i (?:trust|accept))\b"
)
REFUSES = re.compile(
    r"(?i)^(?:no(?=[^\w\s]|\s*$|\s+(?:[^\w\s]|thank|keep|stay|go back|exit|i\b|don.t|do not))|deny|reject|refuse|cancel"
    r"|not now|don.t|do not|decline|disallow|never|exit|quit|abort|stop|dismiss)(?!\w)"
)
"""`No sandbox` refuses nothing."""
LIFTS = re.compile(
    r"(?i)^(?:don.t|do not|never|no|stop|quit)\W+(?:\w+\W+)?(?:ask|prompt|confirm|warn|remind)|^exit plan\b"
)
"""What begins like a refusal, and gives more freedom: `Don't ask again`, `Exit plan mode and start coding`."""
FOR_GOOD = re.compile(
    r"(?i)\b(?:always|don.t ask|do not ask|(?:never|stop) ask|session|every|all|any|auto(?:matically)?|permanent(?:ly)?"
    r"|remember|parent|forever|for good|from now on|future|until|similar|for \d+ \w+"
    r"|for (?:this|the|my) (?:\w+ )?(?:project|workspace|repo(?:sitory)?|folder|directory|conversation|day|hour))\b"
)
"""An answer for more than this once: only for who asks for it by its words."""
CHOOSES = re.compile(r"(?i)^(?:confirm|select|choose|pick|toggle)\b")
"""What an Enter does where there is something to choose: nobody knows what, where no options can be read."""
OWN_TEXT = re.compile(
    r"(?i)\b(?:type|something|other|custom|your own|feedback|tell \w+ what|differently|suggest|none of the above)\b"
)
SHORTEST_WORDS = 3


class Ways(Value):
    """What the pack of a CLI knows about the answers of a dialog, beside what its words say."""

    yes: re.Pattern[str] | None = None
    no: re.Pattern[str] | None = None
    refuse: str = ""
    """A key that refuses it."""


USUAL_WAYS = Ways()


class Goal(Value):
    """What is to be done with a dialog."""

    dialog: Dialog
    option: int | None = None
    key: str = ""
    """Pressed instead of choosing an option."""
    text: str = ""
    """Typed at the option, or as the answer itself."""


class NoSuchAnswerError(LlmcError):
    """The dialog cannot be answered in that way; nothing was pressed."""


def goal_for(dialog: Dialog, choice: str, ways: Ways = USUAL_WAYS) -> Goal:
    """Raises when it is not clear which option is meant: nothing is pressed on a guess."""
    word = choice.strip().casefold()
    if word.isdecimal():
        return _numbered(dialog, int(word), choice)
    exact = [at for at, option in enumerate(dialog.options) if bare(option.words) == bare(choice) != ""]
    if len(exact) == 1:
        return Goal(dialog, exact[0])
    if word in YES:
        return _agreeing(dialog, ways)
    if word in NO:
        return _refusing(dialog, ways)
    return _by_words(dialog, choice) or _own_text(dialog, choice)


def goal_by_pattern(dialog: Dialog, pattern: re.Pattern[str]) -> Goal | None:
    """The option that a pack names by its words; None unless exactly one fits."""
    fits = [at for at, option in enumerate(dialog.options) if pattern.search(option.words)]
    return Goal(dialog, fits[0]) if len(fits) == 1 else None


def _numbered(dialog: Dialog, number: int, choice: str) -> Goal:
    fits = [at for at in range(len(dialog.options)) if dialog.number_of(at) == number]
    if len(fits) == 1:
        return Goal(dialog, fits[0])
    if dialog.typed and not dialog.options:
        return Goal(dialog, text=choice.strip())
    raise NoSuchAnswerError(f"the open dialog has no option {number}", _choices(dialog))


def _agreeing(dialog: Dialog, ways: Ways) -> Goal:
    if ways.yes is not None and (goal := goal_by_pattern(dialog, ways.yes)):
        return goal
    fits = [at for at, option in enumerate(dialog.options) if ALLOWS.search(option.words) or option.key == "Enter"]
    once = [at for at in fits if _is_for_once(dialog.options[at])]
    if len(once) == 1:
        return Goal(dialog, once[0])
    raise NoSuchAnswerError(f"it is not clear which option of the open dialog is {'yes'!r}", _choices(dialog))


def _refusing(dialog: Dialog, ways: Ways) -> Goal:
    if ways.no is not None and (goal := goal_by_pattern(dialog, ways.no)):
        return goal
    fits = [at for at, option in enumerate(dialog.options) if _refuses(option)]
    if len(fits) == 1:
        return Goal(dialog, fits[0])
    key = ways.refuse or dialog.dismiss
    if key:
        return Goal(dialog, key=key)
    raise NoSuchAnswerError(f"it is not clear which option of the open dialog is {'no'!r}", _choices(dialog))


def _refuses(option: Option) -> bool:
    return REFUSES.search(option.words) is not None and LIFTS.search(option.words) is None


def _is_for_once(option: Option) -> bool:
    """What is taken by `yes`: neither a refusal, nor for longer, nor whatever a mark that nobody sees stands on."""
    return not (_chooses(option) or REFUSES.search(option.words) or FOR_GOOD.search(f"{option.words} {option.about}"))


def _chooses(option: Option) -> bool:
    return option.key == "Enter" and CHOOSES.search(option.words) is not None


def is_choice(notice: Dialog) -> bool:
    """Whether its Enter takes what is marked above it, and not what is typed."""
    return any(map(_chooses, notice.options))


def _by_words(dialog: Dialog, choice: str) -> Goal | None:
    """By the first words of an option, or words that only one of them has."""
    said = bare(choice)
    if len(said) < SHORTEST_WORDS:
        return None
    for fits in (
        [at for at, option in enumerate(dialog.options) if bare(option.words).startswith(said)],
        [at for at, option in enumerate(dialog.options) if said in bare(option.words)],
    ):
        if len(fits) == 1:
            return Goal(dialog, fits[0])
        if fits:
            meant = ", ".join(f"{dialog.number_of(at)} {dialog.options[at].words}" for at in fits)
            raise NoSuchAnswerError(f"{choice!r} could be each of: {meant}", "answer with a number")
    return None


def _own_text(dialog: Dialog, choice: str) -> Goal:
    if dialog.typed and choice.strip():
        return Goal(dialog, text=choice)
    takes = [at for at, option in enumerate(dialog.options) if OWN_TEXT.search(option.words) and not option.key]
    fits = [at for at in takes if not _refuses(dialog.options[at])] or takes
    if choice.strip() and fits:
        return Goal(dialog, fits[0], text=choice)
    raise NoSuchAnswerError(f"the open dialog cannot be answered with {choice!r}", _choices(dialog))


def _choices(dialog: Dialog) -> str:
    if not dialog.options:
        return "answer it in the terminal itself: `llmc attach`"
    return f"answer with a number or the words of an option: {dialog.listed}"
