"""What a person is told when a terminal or a worker wants them: who, why, and what is asked."""

from __future__ import annotations

from llmc.core.display import one_line
from llmc.core.screen.assessment import Assessment
from llmc.values import Value

WORDS = {"READY": "is ready", "NEEDS_CONFIRMATION": "asks you", "ERROR": "has failed", "EXITED": "has ended"}
LONGEST = 200


class Notice(Value):
    """Safe to show: text from agents has lost everything that a terminal would act upon."""

    who: str
    kind: str
    why: str
    asked: str = ""

    @property
    def text(self) -> str:
        return f"{self.who} {self.why}" + (f"; {self.asked}" if self.asked else "")


def notice_of(who: str, said: Assessment) -> Notice:
    state = said["state"]
    detail = f" ({said['detail']})" if said["detail"] and state != "READY" else ""
    summary = f": {one_line(said['summary'], LONGEST)}" if said["summary"] else ""
    asked = one_line("; ".join(said["actions_needed"]), LONGEST)
    return Notice(who, state, f"{WORDS.get(state, state)}{detail}{summary}", asked)


def plain_notice(who: str, kind: str, text: str) -> Notice:
    """A text that names whom it is about already."""
    line = one_line(text, 2 * LONGEST)
    return Notice(who, kind, line.removeprefix(f"{who}:").removeprefix(who).strip())
