"""What a person has to agree to before it is done."""

from __future__ import annotations

from llmc.app import App
from llmc.errors import DeclinedError, LlmcError


def require_agreement(app: App, question: str, nobody: LlmcError, declined: str = "nothing was changed") -> None:
    """`nobody` is raised where there is nobody to ask."""
    if not app.console.confirm(question):
        raise DeclinedError(declined) if app.console.can_ask else nobody
