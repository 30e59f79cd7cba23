"""Colours for a terminal, by what they mean. Light on imports."""

from __future__ import annotations

SGR = {
    "waits": "1;33",
    "review": "1;32",
    "broken": "1;31",
    "busy": "36",
    "faint": "2",
    "strong": "1",
    "added": "32",
    "removed": "31",
}


class Paint:
    """Leaves every text as it is where nobody wants colours."""

    __slots__ = ("wanted",)

    def __init__(self, *, wanted: bool) -> None:
        self.wanted = wanted

    def __call__(self, meaning: str, text: str) -> str:
        code = SGR.get(meaning) if self.wanted else None
        return f"\x1b[{code}m{text}\x1b[0m" if code and text.strip() else text


NO_PAINT = Paint(wanted=False)
