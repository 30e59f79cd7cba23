"""What a text must look like to be a line, a place, a pattern, an address."""

from __future__ import annotations

import re

from llmc.core.screen.patterns import UnsafePatternError, safe_pattern

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_WEB_ADDRESS = re.compile(r"https?://[^\s/?#]\S*")


def printable(text: str) -> bool:
    """Newlines and tabs are text; other control characters are not, because a terminal would act on them."""
    return not _CONTROL.search(text)


def some_text(text: str) -> bool:
    return bool(text.strip())


def one_line(text: str) -> bool:
    return "\n" not in text and "\t" not in text


def one_full_line(text: str) -> bool:
    return one_line(text) and some_text(text)


def one_word(text: str) -> bool:
    return some_text(text) and len(text.split()) == 1 and text == text.strip()


def one_word_or_nothing(text: str) -> bool:
    return not text or one_word(text)


def absolute_path(text: str) -> bool:
    return one_line(text) and text.startswith(("/", "~/"))


def inner_glob(text: str) -> bool:
    """It stays inside the repository that it is taken from."""
    return one_full_line(text) and not text.startswith(("/", "~")) and ".." not in text.split("/")


def inner_file(text: str) -> bool:
    """The name of a file, and no directory, inside of where it is taken from."""
    return inner_glob(text) and not text.endswith("/") and any(part not in ("", ".") for part in text.split("/"))


def quick_expression(text: str) -> bool:
    """A regular expression for text that somebody else has chosen."""
    try:
        safe_pattern(text)
    except UnsafePatternError:
        return False
    return some_text(text)


def web_address(text: str) -> bool:
    return bool(_WEB_ADDRESS.fullmatch(text))


def web_address_or_nothing(text: str) -> bool:
    return not text or web_address(text)
