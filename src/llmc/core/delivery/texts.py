"""Texts on their way through a terminal: which can be sent at all, and recognising them when an agent reports them."""

from __future__ import annotations

import re
import unicodedata

from llmc.errors import LlmcError

MAX_BYTES = 4 * 1024 * 1024


class UnfitTextError(LlmcError):
    """The text cannot be delivered as it is; nothing was sent."""

    exit_code = 2


_UNFIT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
"""Control characters but tab and newline, and halves of characters."""


def check_text(text: str) -> None:
    """Refuses what a terminal would act upon instead of passing it on."""
    if not text.strip():
        raise UnfitTextError("the text is empty", "give the agent something to read")
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > MAX_BYTES:
        raise UnfitTextError(
            f"the text has {size:,} bytes, more than {MAX_BYTES:,}",
            "put it into a file in the worktree and tell the agent to read that file",
        )
    unfit = _UNFIT.search(text)
    if unfit is None:
        return
    if "\ud800" <= unfit[0] <= "\udfff":
        raise UnfitTextError("the text is not valid Unicode", "save it as UTF-8 and try again")
    line = text.count("\n", 0, unfit.start()) + 1
    raise UnfitTextError(
        f"the text has the control character U+{ord(unfit[0]):04X} in line {line}",
        "remove it: a terminal would act on it instead of passing it on",
    )


def text_digest(text: str) -> str:
    return _sha256(text.encode("utf-8", "surrogatepass"))


def _sha256(content: bytes) -> str:
    import hashlib  # slow to load, and what only concerns git has no texts to compare

    return hashlib.sha256(content).hexdigest()


def screen_digest(text: str, title: str, command: str, *, dead: bool = False) -> str:
    """Of all that a terminal shows. What turns or blinks in its title says nothing new."""
    title = "".join(filter(str.isalnum, title))
    return _sha256("\0".join((text, title, command, str(dead))).encode("utf-8", "replace"))


def told_digest(text: str) -> str:
    """Of a text that an agent tells us: CLIs trim what is submitted, expand its tabs and compose its accents."""
    return text_digest("".join(unicodedata.normalize("NFC", text).split()))


def prompt_digests(text: str) -> frozenset[str]:
    """The digests under which this text may be reported: exactly, or as a CLI has changed it."""
    return frozenset((text_digest(text), told_digest(text)))


def last_line_digests(text: str) -> frozenset[str]:
    """Of its last line with something in it: who reads line by line reports that one when all of it was read."""
    lines = [line for line in text.splitlines() if line.strip()]
    return prompt_digests(lines[-1]) if lines else frozenset()
