"""The input box of a CLI: where it is on the screen, and what is typed in it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from llmc.core.screen.screen import cut_cells
from llmc.values import Value


class ComposerShape(Value):
    """The input box, in one of four forms.

    With a `rule`: the lines between two rules, the first of which begins with the prompt. With a `bottom`: the lines
    above it, each of which begins with the prompt, but for the last. With a `top`: the last lines that begin with the
    prompt, all of them, and what is above them up to the top. With none of these: the last line that begins with the
    prompt, and what is indented below it.
    """

    prompt: re.Pattern[str]
    rule: re.Pattern[str] | None = None
    bottom: re.Pattern[str] | None = None
    top: re.Pattern[str] | None = None
    footer: re.Pattern[str] | None = None
    """With neither: the line below the box, so that it may hold blank lines."""
    placeholder: re.Pattern[str] | None = None
    """Stands for a long paste that is not shown."""
    hint: re.Pattern[str] | None = None
    """Words that an empty composer shows by itself."""
    edge: re.Pattern[str] | None = None
    """What ends each line of a box at the right."""
    below: int = 400
    """The most lines with something in them that may stand below the box."""
    history: re.Pattern[str] | None = None
    """A line that never stands below the box: what is above one is a prompt of the conversation."""
    otherwise: ComposerShape | None = None
    """What it looks like where the terminal cannot show the first form."""


class Box(Value):
    """The lines from `first` up to, not including, `end`: frame and all; `text` is what is typed."""

    first: int
    end: int
    text: str
    width: int = 0
    """Where its frame tells: what stands to the right of it is another part of the screen."""
    closed: bool = False
    """Its form tells where it ends."""
    prompted: bool = False
    """Nothing is an input box of this form without its prompt."""


def find_box(shape: ComposerShape, lines: Sequence[str]) -> Box | None:
    box = _find_box(shape, lines)
    return find_box(shape.otherwise, lines) if box is None and shape.otherwise is not None else box


def _find_box(shape: ComposerShape, lines: Sequence[str]) -> Box | None:
    found = _place(shape, lines)
    if found is None:
        return None
    first, end, inside, width = found
    if _is_history(shape, lines[end:]):
        return None
    text = "\n".join(_typed(shape.prompt, _without_edge(shape, line)) for line in inside).strip()
    empty = shape.hint is not None and shape.hint.fullmatch(text)
    closed = any(edge is not None for edge in (shape.rule, shape.bottom, shape.top, shape.footer))
    return Box(first, end, "" if empty else text, width, closed, shape.prompt.match("") is None)


def _typed(prompt: re.Pattern[str], line: str) -> str:
    match = prompt.match(line)
    return line[match.end() :] if match else line


def _without_edge(shape: ComposerShape, line: str) -> str:
    return shape.edge.sub("", line) if shape.edge is not None else line


def _is_history(shape: ComposerShape, below: Sequence[str]) -> bool:
    if sum(1 for line in below if line) > shape.below:
        return True
    return shape.history is not None and any(shape.history.search(line) for line in below)


Place = tuple[int, int, Sequence[str], int]
"""Where it begins and ends with its frame, the lines in it, and how wide it is where that is known."""


def _place(shape: ComposerShape, lines: Sequence[str]) -> Place | None:
    if shape.rule is not None:
        return _between_rules(shape.prompt, shape.rule, lines)
    if shape.bottom is not None:
        return _above_bottom(shape.prompt, shape.bottom, lines)
    if shape.top is not None:
        return _below_top(shape.prompt, shape.top, lines)
    return _last_prompt(shape.prompt, shape.footer, lines)


def _between_rules(prompt: re.Pattern[str], rule: re.Pattern[str], lines: Sequence[str]) -> Place | None:
    rules = [n for n, line in enumerate(lines) if rule.search(line)]
    for upper, lower in zip(reversed(rules[:-1]), reversed(rules[1:]), strict=True):
        inside = lines[upper + 1 : lower]
        if inside and prompt.match(inside[0]):
            return upper, lower + 1, inside, 0
    return None


def _above_bottom(prompt: re.Pattern[str], bottom: re.Pattern[str], lines: Sequence[str]) -> Place | None:
    edges = [(n, match.end()) for n, line in enumerate(lines) if (match := bottom.search(line))]
    if not edges:
        return None
    below, width = edges[-1]
    first = below
    while first > 0 and prompt.match(lines[first - 1]):
        first -= 1
    # What stands to the right of the box is not in it.
    inside = [cut_cells(line, width) for line in lines[first : below - 1]]
    return (first, below + 1, inside, width) if inside else None


def _below_top(prompt: re.Pattern[str], top: re.Pattern[str], lines: Sequence[str]) -> Place | None:
    starts = [n for n, line in enumerate(lines) if prompt.match(line)]
    if not starts:
        return None
    begin = end = starts[-1]
    while begin > 0 and prompt.match(lines[begin - 1]):
        begin -= 1
    first = begin  # the top may be out of sight when there is much in the box
    while first > 0 and lines[first] and not top.search(lines[first]):
        first -= 1
    return first if top.search(lines[first]) else begin, end + 1, lines[begin : end + 1], 0


def _last_prompt(prompt: re.Pattern[str], footer: re.Pattern[str] | None, lines: Sequence[str]) -> Place | None:
    starts = [n for n, line in enumerate(lines) if prompt.match(line)]
    if not starts:
        return None
    first = starts[-1]
    end = _footer_below(first, footer, lines) if footer is not None else None
    if end is None:
        end = first + 1
        while end < len(lines) and lines[end].startswith("  ") and lines[end].strip():
            end += 1
    return first, end, lines[first:end], 0


def _footer_below(first: int, footer: re.Pattern[str], lines: Sequence[str]) -> int | None:
    """The line below the box, when only what can be typed is in between: indented lines and blank ones."""
    for at in range(first + 1, len(lines)):
        if footer.search(lines[at]):
            return at
        if lines[at] and not lines[at].startswith("  "):
            return None
    return None


CLEARLY_OURS = 20
"""So many letters and digits in a row are no coincidence."""


def composer_holds(shape: ComposerShape | None, typed: str, text: str) -> bool:
    """Whether the composer shows this text: whole, a part of a long one, or the placeholder of a long paste."""
    if shape is not None and shape.placeholder is not None and shape.placeholder.search(typed):
        return is_only_placeholder(shape, typed)
    shown = _shown_letters(typed, text)
    if not shown:
        return False
    whole = _letters(text)
    return shown == whole or (len(shown) >= CLEARLY_OURS and shown in whole)


def composer_keeps(shape: ComposerShape | None, typed: str, text: str) -> bool:
    """Whether the composer still shows this text: whole, its end, or the placeholder of a paste of its size.

    Words that only begin like it are somebody else's, who has changed it or writes the like; a placeholder of another
    size, or of none, is somebody else's paste.
    """
    if shape is not None and shape.placeholder is not None and shape.placeholder.search(typed):
        return is_only_placeholder(shape, typed) and _is_sized_like(typed, text)
    return composer_holds(shape, typed, text) and _letters(text).endswith(_shown_letters(typed, text))


PASTE_SIZE = re.compile(r"(\d{1,9}) (lines|chars)")
SHIELDED = 2
"""Characters that LLMC or the CLI may have added to a paste."""


def _is_sized_like(placeholder: str, text: str) -> bool:
    sizes = PASTE_SIZE.findall(placeholder)
    if len(sizes) != 1:
        return False
    size, unit = int(sizes[0][0]), sizes[0][1]
    if unit == "chars":
        return abs(size - len(text)) <= SHIELDED
    return size - text.strip().count("\n") in (0, 1)  # some count the lines, some the ends of lines


def is_only_placeholder(shape: ComposerShape, typed: str) -> bool:
    """Whether the composer shows the sign of a paste, and nothing else."""
    placeholder = shape.placeholder
    return placeholder is not None and bool(placeholder.search(typed)) and not _beside_placeholder(placeholder, typed)


def is_part_of(typed: str, text: str) -> bool:
    """Whether nothing is typed that is not in the text."""
    return _shown_letters(typed, text) in _letters(text)


def composer_mixes(shape: ComposerShape | None, typed: str, text: str) -> bool:
    """Whether the composer shows this text, or the placeholder of a paste, among other words."""
    if shape is not None and shape.placeholder is not None and shape.placeholder.search(typed):
        return _beside_placeholder(shape.placeholder, typed)
    shown = _shown_letters(typed, text)
    if not shown:
        return False
    whole = _letters(text)
    return shown != whole and whole in shown


def _beside_placeholder(placeholder: re.Pattern[str], typed: str) -> bool:
    """Whether there are other words. A pattern may leave the end of the brackets open."""
    found = placeholder.search(typed)
    while found is not None:
        end = found.end() if found[0].endswith("]") else typed.find("]", found.end()) + 1 or len(typed)
        typed = typed[: found.start()] + typed[end:]
        found = placeholder.search(typed)
    return any(c.isalnum() for c in typed)


def _shown_letters(typed: str, text: str) -> str:
    """prompt_toolkit 3 (aider 0.86) shows a tab as `^I`, whose letter is none of the text's."""
    return _letters(typed.replace("^I", "") if "\t" in text else typed)


@lru_cache(maxsize=4)  # one delivery asks for the same long text at every look
def _letters(text: str) -> str:
    """Letters and digits only: terminals break lines, expand tabs, and show emoji each in their own way."""
    normal = unicodedata.normalize("NFC", text)
    return "".join(filter(str.isalnum, normal)) or "".join(normal.split())


TELLING_CHARACTERS = 40


def is_prompt_again(typed: str, screen: str) -> bool:
    """Who reads lines that were there before it asked for them writes one prompt after the other: no draft."""
    last = screen.rstrip().rpartition("\n")[2].split()
    return len(last) > 1 and set(last) == {typed}


def times_shown(screen: str, text: str) -> int:
    """How often the beginning and the end of the text are on the screen, wherever lines are broken."""
    everything = "".join(screen.split())
    return sum(everything.count(part) for part in _telling_parts(text))


@lru_cache(maxsize=4)  # as above
def _telling_parts(text: str) -> tuple[str, ...]:
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return ()
    first, last = ("".join(line.split()) for line in (lines[0], lines[-1]))
    return first[:TELLING_CHARACTERS], last[-TELLING_CHARACTERS:]
