"""How an agent's process ended, by its exit status and by what it said last."""

from __future__ import annotations

import re
from enum import StrEnum

SIGINT = 2


class ExitCause(StrEnum):
    CLOSED = "closed"
    """Somebody left it."""
    RATE_LIMIT = "rate_limit"
    AUTH = "auth"
    FATAL = "fatal"
    """It says itself that it cannot run."""
    CRASH = "crash"


_SAID = (
    (ExitCause.RATE_LIMIT, re.compile(r"(?i)\brate.?limit|\busage limit|\bquota (?:exceeded|exhausted)|\b429\b")),
    (ExitCause.AUTH, re.compile(r"(?i)\bnot logged in\b|\bplease (?:run /)?log ?in\b|\binvalid api key\b|\b401\b")),
    (ExitCause.FATAL, re.compile(r"(?:^|/ )(?:FATAL\b|fatal error:|panic: )|\bpanicked at ")),
)


def exit_cause(code: int | None, signal: int | None, last_words: str) -> ExitCause:
    """Words count only for an agent that ended by itself and badly: a killed one said what it said before."""
    if code in (0, 128 + SIGINT) or signal == SIGINT:
        return ExitCause.CLOSED
    if signal is not None or code is None or code > 128:
        return ExitCause.CRASH
    return next((cause for cause, words in _SAID if words.search(last_words)), ExitCause.CRASH)
