"""What a single word of the command line may be."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentTypeError

MOST_LINES = 1_000_000
MOST_LOOKS = 1000
MOST_DAY_DIGITS = 4


def some_path(text: str) -> str:
    """Anything but nothing: `--root "$UNSET"` is a mistake and not a wish for the usual root."""
    if not text:
        raise _wrong("it is empty")
    return text


def some_text(text: str) -> str:
    """Only paths may hold bytes that are no text."""
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise _wrong("it is not UTF-8 text")
    return text


def some_flags(text: str) -> str:
    """Flags of another program, in one word."""
    return some_text(text)


def some_name(text: str) -> str:
    return some_text(some_path(text))


def some_tree(text: str) -> str:
    if not 7 <= len(text) <= 64 or set(text.lower()) - set("0123456789abcdef"):
        raise _wrong("it must be the name of a tree: 7 to 64 digits from 0 to f")
    return text.lower()


def some_task(text: str) -> str:
    """One id, or several with commas between them; empty for none."""
    if any(part and not _is_task(part) for part in text.split(",")):
        raise _wrong("it must be the id of a task, such as t3")
    return text


def _is_task(word: str) -> bool:
    return word[:1] == "t" and word[1:].isdecimal() and word.isascii() and len(word) <= 15


def some_glob(text: str) -> str:
    from llmc.core.tasks.touches import is_inside

    if not all(map(is_inside, text.split(","))):
        raise _wrong("it must be a path or a pattern inside the repository")
    return some_text(text)


def goes_on(takes: object, word: str) -> bool:
    """Whether a word belongs to the option whose value stands before it: `--after t1 t2`."""
    if takes is some_task:
        return all(map(_is_task, word.split(",")))
    return takes is some_glob and not word.startswith("-") and bool(word) and not any(c.isspace() for c in word)


def some_priority(text: str) -> int:
    digits = text.removeprefix("-")
    if not digits.isdecimal() or not digits.isascii() or len(digits) > 6:
        raise _wrong("it must be a whole number, such as 5 or -5")
    return int(text)


def some_day(text: str) -> str:
    """A day of the calendar, or how many days back."""
    from datetime import date

    days = text.removesuffix("d") if text.endswith("d") and text.isascii() else ""
    if text in ("today", "yesterday") or (days.isdecimal() and len(days) <= MOST_DAY_DIGITS and int(days)):
        return text
    try:
        if date.fromisoformat(text).isoformat() == text:
            return text
    except ValueError:
        pass
    raise _wrong("it must be a day such as 2026-11-19, today, yesterday, or a number of days such as 7d")


def some_lines(text: str) -> int:
    return _count(text, MOST_LINES)


def some_line(text: str) -> str:
    if not text.strip() or any(ord(character) < 32 or character == "\x7f" for character in text):
        raise _wrong("it must be one line without control characters")
    return some_text(text)


def some_seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0.05 <= seconds <= 86_400:
        raise _wrong("it must be a number of seconds from 0.05 to 86400")
    return seconds


def some_looks(text: str) -> int:
    return _count(text, MOST_LOOKS)


def some_cursor(text: str) -> tuple[int, int]:
    column, comma, row = text.partition(",")
    if not comma or not (column.isdecimal() and row.isdecimal()) or len(text) > 20:
        raise _wrong("it must be a column and a row, such as 2,17")
    return int(column), int(row)


def _count(text: str, most: int) -> int:
    if not text.isdecimal() or len(text) > len(str(most)) or not 1 <= int(text) <= most:
        raise _wrong(f"it must be a number from 1 to {most}")
    return int(text)


def _wrong(why: str) -> ArgumentTypeError:
    from argparse import ArgumentTypeError  # late, so that the commands can be listed without it

    return ArgumentTypeError(why)
