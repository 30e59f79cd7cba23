"""Templates. Whatever an agent wrote is escaped, everywhere: there is no way to switch that off."""

from __future__ import annotations

import time
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from llmc.core.display import age, plain, spent_words, usage_words
from llmc.core.lifecycle.signal_words import reason

STATIC = Path(__file__).parent / "static"


def drawn(template: str, **facts: Any) -> str:  # noqa: ANN401 - of a page
    return _templates().get_template(template).render(**facts)


@cache
def _templates() -> Environment:
    templates = Environment(
        loader=PackageLoader("llmc.web"),
        autoescape=True,
        finalize=_shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    templates.filters.update(age=_age, clock=_clock, words=event_words, short=lambda sha: (sha or "")[:12])
    templates.filters.update(spent=spent_words, usage=usage_words)
    templates.globals.update(build=_build())
    return templates


def _shown(value: object) -> object:
    """What turns the direction of a line around, or is half a character, is seen as a mark, as in every command."""
    return plain(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _build() -> str:
    """Names the build: a browser keeps what it has of this one, and nothing of another."""
    stamp = STATIC / "built-from"
    return stamp.read_text("utf-8")[:12] if stamp.is_file() else "none"


def _age(since_unix: float) -> str:
    return age(max(0.0, time.time() - since_unix)) if since_unix else ""


def _clock(at_unix: float) -> str:
    return time.strftime("%H:%M:%S", time.localtime(at_unix))


def event_words(event: dict[str, Any]) -> str:
    """What it means to a person, and what moved."""
    moves = []
    if event["work_before"] != event["work_after"]:
        moves.append(f"{event['work_before']} → {event['work_after']}".replace("_", " "))
    if event["session_before"] != event["session_after"]:
        moves.append(f"session {event['session_before']} → {event['session_after']}")
    said = reason(str(event["signal"] or event["kind"]), str(event["detail"] or ""))
    return f"{said} ({', '.join(moves)})" if moves else said
