"""Recognising a prompt when the agent reports it, and a screen that was seen before."""

from __future__ import annotations

import unicodedata


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
