"""What a person is told when a terminal or a worker wants them: who, why, and what is asked."""

from __future__ import annotations

import json

from llmc.core.display import one_line
from llmc.core.screen.assessment import Assessment
from llmc.values import Value

WORDS = {"READY": "is ready", "NEEDS_CONFIRMATION": "asks you", "ERROR": "has failed", "EXITED": "has ended"}
LONGEST = 200
DISCORD_LONGEST = 2000
TAGS = {"needs_review": "eyes", "needs_input": "question", "error": "rotating_light", "crashed": "rotating_light"}
"""ntfy shows them as pictures."""


class Notice(Value):
    """Safe to show: text from agents has lost everything that a terminal would act upon."""

    who: str
    kind: str
    why: str
    asked: str = ""

    @property
    def text(self) -> str:
        return f"{self.who} {self.why}" + (f"; {self.asked}" if self.asked else "")


def as_posted(notice: Notice, form: str, at_unix: float) -> tuple[bytes, dict[str, str]]:
    """Body and headers, as the service behind the address wants them."""
    if form == "ntfy":
        kind = {"Title": f"LLMC: {notice.who}", "Tags": TAGS.get(notice.kind, "robot"), "Content-Type": "text/plain"}
        return notice.text.encode(), kind
    said = f"LLMC: {notice.text}"
    document: dict[str, object]
    if form == "slack":
        # What stands between these has a meaning there: links, mentions of everybody.
        document = {"text": said.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")}
    elif form == "discord":
        document = {"content": said[:DISCORD_LONGEST], "allowed_mentions": {"parse": []}}
    else:
        own = {"who": notice.who, "kind": notice.kind, "why": notice.why, "asked": notice.asked, "text": notice.text}
        document = {**own, "at_unix": at_unix}
    return json.dumps(document).encode(), {"Content-Type": "application/json"}


def notice_of(who: str, said: Assessment) -> Notice:
    state = said["state"]
    detail = f" ({said['detail']})" if said["detail"] and state != "READY" else ""
    summary = f": {one_line(said['summary'], LONGEST)}" if said["summary"] else ""
    asked = one_line("; ".join(said["actions_needed"]), LONGEST)
    return Notice(who, state, f"{WORDS.get(state, state)}{detail}{summary}", asked)


def plain_notice(who: str, kind: str, text: str) -> Notice:
    """A text that names whom it is about already, and perhaps ends with what to type."""
    line = one_line(text, 2 * LONGEST)
    why, advised, words = line.removeprefix(f"{who}:").removeprefix(who).strip().partition("; `llmc ")
    return Notice(who, kind, why, f"`llmc {words}" if advised else "")
