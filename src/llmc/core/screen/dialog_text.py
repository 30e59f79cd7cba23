"""Where on the screen a dialog says what it asks for, so that nothing else is ever taken for it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from llmc.core.screen.screen import LONGEST_LINE
from llmc.values import Value


class Asks(Value):
    """All that stands between two lines of the CLI's own. Where one of them is not there exactly once, none is known:

    what an agent quotes, or hides in a command of many lines, may look like a dialog too.
    """

    after: re.Pattern[str]
    until: re.Pattern[str]
    line: re.Pattern[str]
    """A line of it; its group `asked` is what counts. Lines that do not match are the CLI's own."""
    begins: re.Pattern[str] | None = None
    """Its first line, where lines of another kind stand above; exactly one as well."""
    remark: bool = False
    """The last line is a remark on it."""
    reported: bool = False
    """The screen alone does not tell it from what stands around it: the agent's own report must say the same."""

    def asked(self, lines: Sequence[str]) -> str | None:
        """None when it cannot be told for sure."""
        start, end = _only(self.after, lines), _only(self.until, lines)
        if start is None or end is None:
            return None
        found = self._lines_of_it(lines[start + 1 : end])
        return "\n".join(found[:-1] if self.remark else found) or None

    def _lines_of_it(self, between: Sequence[str]) -> list[str]:
        if self.begins is not None:
            first = _only(self.begins, between)
            if first is None:
                return []
            between = between[first:]
        matches = [(line, self.line.search(line[:LONGEST_LINE])) for line in between if line.strip()]
        return [match["asked"].rstrip() + line[LONGEST_LINE:] for line, match in matches if match]


def _only(pattern: re.Pattern[str], lines: Sequence[str]) -> int | None:
    found = [number for number, line in enumerate(lines) if pattern.search(line[:LONGEST_LINE])]
    return found[0] if len(found) == 1 else None
