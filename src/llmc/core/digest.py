"""Recognising a prompt when the agent reports it."""

from __future__ import annotations

import hashlib


def text_digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def prompt_digests(text: str) -> frozenset[str]:
    """The digests under which this text may be reported: exactly, or without the space around it.

    CLIs trim what is submitted before they report it.
    """
    return frozenset((text_digest(text), text_digest(text.strip())))
