"""What agents write into the spool, in LLMC's own words."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from llmc.core.delivery.texts import told_digest
from llmc.core.usage.answer import ModelAnswer, reported_answer
from llmc.model import Worker
from llmc.values import Value

KINDS = frozenset(
    (
        "session_start",
        "prompt",
        "activity",
        "turn_end",
        "interrupted",
        "permission",
        "question",
        "failure",
        "session_end",
        "usage",
    )
)
SAID_IN = ("text", "last_message", "command", "tool", "message", "reason")
"""The keys that may hold the words of a report, the first that does counts."""


class Report(Value):
    kind: str
    text: str = ""
    sha256: str = ""
    """Of a prompt."""
    background: bool = False
    """Something of the turn that is over still runs."""
    failure: str = ""
    conversation: str = ""
    """The agent's own name of the conversation that this is about."""
    answer: ModelAnswer | None = None
    """What one answer of its model has cost."""


def is_of_session(worker: Worker, data: Mapping[str, object], at: float) -> bool:
    """Whether an event file was written by the session that the worker is in now.

    One that does not say which session it is of counts, unless it is older than that one.
    """
    session = data.get("session")
    if session and worker.launch:
        return session == worker.launch
    return worker.launched_at_unix is None or at >= worker.launched_at_unix


def understood(translate: Callable[[Mapping[str, object]], Report | None], data: Mapping[str, object]) -> Report | None:
    """What an event file tells. Anything may stand in one: what makes no sense says nothing, and never too much."""
    try:
        report = translate(data)
    except (TypeError, ValueError, LookupError, AttributeError, RecursionError):
        return None
    if report is None:
        return None
    return replace(
        report,
        text=_sayable(report.text[:LONGEST_TEXT]),
        sha256=report.sha256 if _DIGEST.fullmatch(report.sha256) else "",
        failure=_sayable(report.failure[:LONGEST_NAME]),
        conversation=report.conversation if _NAME.fullmatch(report.conversation) else "",
    )


LONGEST_TEXT = 16 << 10
LONGEST_NAME = 100
_DIGEST = re.compile(r"[0-9a-f]{64}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/+=-]{0,199}")
"""A conversation is named on a command line when it is taken up again."""


def _sayable(text: str) -> str:
    """JSON can name halves of characters, which no file and no terminal takes."""
    return text.encode("utf-8", "replace").decode("utf-8")


def read_report(data: Mapping[str, object]) -> Report | None:
    """The report in an event file of LLMC's own form; None for one that says nothing to us."""
    kind = str(data.get("event", ""))
    if kind not in KINDS:
        return None
    if kind == "usage":
        return Report(kind, answer=reported_answer(data))
    text = next((str(data[key]) for key in SAID_IN if data.get(key)), "")
    if kind == "prompt":
        return prompt_report(text, str(data.get("sha256") or ""), str(data.get("conversation") or ""))
    return Report(kind, text, "", bool(data.get("background")), str(data.get("kind", "unknown")))


def prompt_report(text: str, sha256: str = "", conversation: str = "") -> Report:
    return Report("prompt", text, sha256 or told_digest(text), conversation=conversation)
