"""Whoever asks, and what they may: every act goes through here, as a command and into the log of events."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import MappingProxyType
from typing import Any

from llmc.app import open_site
from llmc.commands.shared.beside import T, beside
from llmc.commands.shared.fields import CommandWords
from llmc.commands.shared.own_process import ask_llmc
from llmc.commands.status import status_document
from llmc.errors import LlmcError
from llmc.root import Root
from llmc.site import Site
from llmc.store.event_log import EventLog, LoggedEvent
from llmc.store.ledger import UnknownWorkerError
from llmc.values import Value

DONE, UNKNOWN = 0, 4
LOGGED = "mcp"
"""The kind of the log's entries."""


class Desk(Value):
    root: Root
    kinds: tuple[str, ...]
    """Those of the tools that are offered here."""
    worker: str = ""
    """The one whose agent asks; empty for a client that is in no worker."""

    async def beside(self, action: Callable[[Site], T]) -> T:
        """With the settings as they are now, in a thread of its own."""
        return await beside(lambda: action(open_site(self.root)))

    async def ask(self, words: CommandWords) -> Any:  # noqa: ANN401 - whatever the command answers
        """What the command says as JSON; raises what it was refused for."""
        argv = [words.argv[0], "--json", *words.argv[1:]]
        host = open_site(self.root).host
        answered = await beside(lambda: ask_llmc(host, self.root, argv, stdin=words.stdin))
        if answered.code in (DONE, UNKNOWN) and answered.data is not None:
            return answered.data
        error = answered.error or _reason(answered.data) or "it was not done"
        raise LlmcError(error, answered.hint or "`llmc doctor` says more")

    async def require_worker(self, name: str, *, acts: bool) -> None:
        """Before its name becomes a word of a command."""
        workers = [each["name"] for each in (await beside(lambda: status_document(self.root)))["workers"]]
        if name not in workers:
            known = ", ".join(workers) or "there are none"
            raise UnknownWorkerError(f"there is no worker named {name[:100]!r}", f"the workers are: {known}")
        if acts and name == self.worker:
            raise LlmcError(f"{name} cannot do that to itself", "name another worker, or ask the person")

    async def note(self, client: str, tool: str, worker: str, words: str) -> None:
        """Who asks for what; before it is done, so that none is missing."""
        who = f"{self.worker} ({client})" if self.worker else client
        data = MappingProxyType({"client": client, "asked_by": self.worker, "tool": tool})
        entry = LoggedEvent(time.time(), worker or self.worker, LOGGED, detail=f"{who} asks: {words}", data=data)
        await beside(lambda: EventLog(self.root.event_log).append(entry))


def _reason(data: object) -> str:
    known = data if isinstance(data, dict) else {}
    return next((str(known[key]) for key in ("reason", "detail", "outcome") if known.get(key)), "")
