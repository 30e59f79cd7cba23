"""What a command answers: for people as text, for scripts as data."""

from __future__ import annotations

from llmc.values import Value


class Result(Value):
    text: str = ""
    data: object = None
    """What `--json` prints."""
    exit_code: int = 0
    coloured: bool = False
    """The text has the colours of a program that was given nothing harmful to show."""
