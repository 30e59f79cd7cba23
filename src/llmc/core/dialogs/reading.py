"""Reading the dialog at the end of a screen, whichever CLI draws it.

Options below each other with a mark at one of them, or side by side with one of them in another colour, or keys that
are named for what they do. What is quoted higher up is followed by something else, and is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from llmc.core.dialogs.choosing import ALLOWS, CHOOSES
from llmc.core.dialogs.colours import odd_one
from llmc.core.dialogs.dialog import Dialog, Option
from llmc.core.dialogs.lists import OptionList, Row, last_row, marked_list, rows_of, unmarked_list

BELOW = 6
"""Lines that may stand below the options: the keys, a note."""
QUESTION_LINES = 24

SPOKEN = re.compile(r"^ ?[•●⏺✻✦■›❯>$#✔✗✕ℹ*](?: ?\S|\s*$)")
"""The first line of something that was said before, or an input line."""
KEYS = {
    "enter": "Enter",
    "return": "Enter",
    "↵": "Enter",
    "⏎": "Enter",
    "esc": "Escape",
    "escape": "Escape",
    "tab": "Tab",
    "shift+tab": "BTab",
    "space": "Space",
}
HINT = re.compile(
    r"(?i)^\W{0,2}(?:press |use |hit )?(?P<key>enter|return|↵|⏎|esc(?:ape)?|shift\+tab|tab|space)(?:/\w{1,9})?"
    r"(?: key)?(?: again)?(?: to| =)? (?P<does>\S.*?)\W{0,2}$"
)
BETWEEN_HINTS = re.compile(r" {0,2}[·•|,] {1,2}|\s{2,}| (?=or esc)")
ARROW_KEYS = re.compile(r"(?i)\(.{0,40}\b(?:arrow keys|arrows)\b.{0,40}\)$")
"""Some name the keys behind the question: `? Install it? (Use arrow keys)`."""
UP_AND_DOWN = re.compile(r"[↑↓]")
LEFT_AND_RIGHT = re.compile(r"⇆|↔|← ?/? ?→")
CONFIRMS = re.compile(r"(?i)\benter\b|↵|⏎")
NAMES_KEY = re.compile(r"(?i)[↑↓⇆←→↔]|(?:ctrl|shift|alt)[+-]\S|(?:enter|esc|tab|space)\b")
APART = re.compile(r"\s{2,}")
LETTER = re.compile(r"\[(?P<key>[A-Za-z])\] ?(?P<words>[A-Za-z][^\[\]]{0,60}?)(?=\s*(?:\[[A-Za-z]\]|$))")
YES_OR_NO = re.compile(
    r"(?i)[\[(](?P<yes>y(?:es)?)(?:/[^/\])]{1,20}){0,3}/(?P<no>n(?:o)?)(?:/[^/\])]{1,20}){0,3}[\])]"
    r"|\((?P<y>y)\)es.{0,20}\((?P<n>n)\)o"
)


def read_dialog(lines: Sequence[str], styled: str | None = None) -> Dialog | None:
    """The dialog at the end of the screen; None when there is none. `styled` is the screen with its colours."""
    rows = rows_of(lines)
    end = last_row(rows)
    if end is None:
        return None
    return (
        _listed(rows, end)
        or _listed_in_colour(rows, end, lines, styled)
        or _side_by_side(rows, end, lines, styled)
        or _lettered(rows, end)
    )


def read_choice(lines: Sequence[str]) -> Dialog | None:
    """Of a screen that is known to be a dialog: a mark alone makes a list of options, also without any keys."""
    rows = rows_of(lines)
    end = last_row(rows)
    found = marked_list(rows, end) if end is not None else None
    if end is None or found is None or len(_filled(rows[found.last + 1 : end + 1])) > BELOW:
        return None
    return Dialog(_question(rows, found.first), found.options, found.marked, lines=_lines(rows, found))


def read_notice(lines: Sequence[str]) -> Dialog | None:
    """What shows no options but names the keys that lead on: `Enter to continue · Esc to cancel`."""
    rows = rows_of(lines)
    end = last_row(rows)
    hints = _hints(rows[end].text) if end is not None else []
    if end is None or not any(key == "Enter" for key, _ in hints):
        return None
    options = tuple(Option(does, key=key) for key, does in hints)
    return Dialog(_question(rows, end), options, dismiss=_dismiss(hints), lines=_line(rows[end]))


def read_prompt(lines: Sequence[str]) -> Dialog | None:
    """A line that asks for yes or no, to be typed: `Overwrite it? [y/N]`."""
    rows = rows_of(lines)
    end = last_row(rows)
    if end is None:
        return None
    # A narrow terminal breaks the line anywhere.
    for first in (end, end - 1) if end else (end,):
        text = "".join(row.text for row in rows[first : end + 1])
        if found := YES_OR_NO.search(text):
            yes, no = (found[1] or found[3]).lower(), (found[2] or found[4]).lower()
            question = text[: found.start()].strip() or _question(rows, first)
            options = (Option("yes", key=yes), Option("no", key=no))
            return Dialog(question, options, typed=True, lines=range(rows[first].at, rows[end].at + 1))
    return None


def _line(row: Row) -> range:
    return range(row.at, row.at + 1)


# --- options below each other ---------------------------------------------------------------------


def _listed(rows: Sequence[Row], end: int) -> Dialog | None:
    found = marked_list(rows, end)
    return _dialog(rows, end, found, found.marked) if found is not None else None


def _listed_in_colour(rows: Sequence[Row], end: int, lines: Sequence[str], styled: str | None) -> Dialog | None:
    """Without a mark only the keys below make a dialog of a list."""
    keys = next((at for at in range(end, max(-1, end - BELOW), -1) if _moves(rows[at], UP_AND_DOWN)), None)
    found = unmarked_list(rows, keys - 1) if keys else None
    if found is None:
        return None
    return _dialog(rows, end, found, odd_one(lines, styled, [(rows[at], rows[at].indent) for at in found.places]))


def _moves(row: Row, arrows: re.Pattern[str]) -> bool:
    return bool(arrows.search(row.text) and CONFIRMS.search(row.text))


def _dialog(rows: Sequence[Row], end: int, found: OptionList, marked: int | None) -> Dialog | None:
    below = _filled(rows[found.last + 1 : end + 1])
    # Some name the keys below their title, and nothing stands below the options.
    keys = below or _question_rows(rows, found.first)
    hints = [hint for row in keys for hint in _hints(row.text)]
    above = next((row.text for row in reversed(rows[: found.first]) if not row.blank), "")
    if len(below) > BELOW or not _leads_on(above, below, found, hints):
        return None
    leaves = any("(esc)" in option.words and not ALLOWS.search(option.words) for option in found.options)
    dismiss = "Escape" if leaves else _dismiss(hints)
    question = _question(rows, found.first)
    return Dialog(question, found.options, marked, dismiss=dismiss, lines=_lines(rows, found))


def _lines(rows: Sequence[Row], found: OptionList) -> range:
    return range(rows[found.first].at, rows[found.last].at + 1)


def _filled(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if not row.blank]


def _leads_on(above: str, below: Sequence[Row], found: OptionList, hints: Sequence[tuple[str, str]]) -> bool:
    """Below the options stand the keys, if anything; more conversation means that the dialog is quoted.

    A line with a mark is common in any text: without numbers only the keys make a dialog of it.
    """
    if any(SPOKEN.match(row.text) and not _hints(row.text) for row in below):
        return False
    if found.is_numbered or ARROW_KEYS.search(above):
        return True
    return any(key == "Enter" and (found.sure or CHOOSES.search(does)) for key, does in hints)


# --- options side by side, and keys that are named ------------------------------------------------


def _side_by_side(rows: Sequence[Row], end: int, lines: Sequence[str], styled: str | None) -> Dialog | None:
    """`Allow once   Allow always   Reject` with one of them in another colour, and the keys behind them or below."""
    for at in range(end, max(-1, end - BELOW), -1):
        names = [(words, start) for words, start in _parts(rows[at].text) if not NAMES_KEY.match(words)]
        keys = Row(at, " ".join(row.text for row in rows[at : end + 1]))
        if len(names) < 2 or not _moves(keys, LEFT_AND_RIGHT):
            continue
        marked = odd_one(lines, styled, [(rows[at], start) for _, start in names])
        options = tuple(Option(words) for words, _ in names)
        dismiss = _dismiss(_hints(keys.text))
        return Dialog(_question(rows, at), options, marked, across=True, dismiss=dismiss, lines=_line(rows[at]))
    return None


def _parts(text: str) -> Iterator[tuple[str, int]]:
    """What stands in a line some spaces apart, each with the column where it begins."""
    start = 0
    for gap in [*APART.finditer(text), None]:
        part = text[start : gap.start() if gap else len(text)]
        if part.strip():
            yield part.strip(), start + len(part) - len(part.lstrip())
        start = gap.end() if gap else len(text)


def _lettered(rows: Sequence[Row], end: int) -> Dialog | None:
    """`[y] Approve   [n] Deny`."""
    for at in range(end, max(-1, end - BELOW), -1):
        found = list(LETTER.finditer(rows[at].text))
        if len(found) >= 2 and not rows[at].text[: found[0].start()].strip():
            options = tuple(Option(each["words"].strip(), key=each["key"]) for each in found)
            return Dialog(_question(rows, at), options, lines=_line(rows[at]))
    return None


def _hints(text: str) -> list[tuple[str, str]]:
    """The keys that a line names, as tmux calls them, with what they do."""
    matches = (HINT.match(part.strip()) for part in BETWEEN_HINTS.split(text.strip()) if part)
    return [(KEYS[match["key"].lower()], match["does"].strip()) for match in matches if match]


def _dismiss(hints: Sequence[tuple[str, str]]) -> str:
    return "Escape" if any(key == "Escape" and not ALLOWS.search(does) for key, does in hints) else ""


# --- the question ---------------------------------------------------------------------------------


def _question(rows: Sequence[Row], first: int) -> str:
    return "\n".join(row.words.strip() for row in _question_rows(rows, first))


def _question_rows(rows: Sequence[Row], first: int) -> list[Row]:
    """What stands above the options: up to the edge of the frame, a rule, or what was said before."""
    framed = rows[first].shift > 0
    said: list[Row] = []
    for row in reversed(rows[:first]):
        if row.is_rule and row.shift == 0 and said:
            break
        if not row.blank and (_is_said_before(row, framed=framed) or len(said) >= QUESTION_LINES):
            break
        if not row.blank:
            said.append(row)
    return said[::-1]


def _is_said_before(row: Row, *, framed: bool) -> bool:
    return row.shift == 0 and (framed or SPOKEN.match(row.text) is not None)
