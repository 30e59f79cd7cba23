"""What a command wrote to standard error, taken apart."""

from __future__ import annotations


def complaint_in(text: str) -> tuple[str, str]:
    """What happened and what to do now."""
    before, _, hint = text.partition("\nhint: ")
    words = before if before else text
    told = words[words.find("error: ") + len("error: ") :] if "error: " in words else words
    return told.strip(), hint.strip()
