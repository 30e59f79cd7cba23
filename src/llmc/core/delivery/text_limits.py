"""Which texts can be sent through a terminal at all."""

from __future__ import annotations

import re

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
