"""Whoever asks, and what they may: every act goes through here, as a command and into the log of events."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from types import MappingProxyType
from typing import Any

from llmc.app import open_site
from llmc.commands.shared.beside import T, beside
from llmc.commands.shared.fields import CommandWords
from llmc.commands.shared.own_process import ask_llmc
from llmc.commands.status import status_document
from llmc.config.sections import SUPERVISOR
from llmc.errors import LlmcError
from llmc.mcp.news import TaskNews
from llmc.root import Root
from llmc.site import Site
from llmc.store.event_log import EventLog, LoggedEvent
from llmc.store.ledger import UnknownWorkerError

DONE, UNKNOWN = 0, 4
LOGGED = "mcp"
"""The kind of the log's entries."""
MOST_LOOKS, MOST_COMMANDS = 16, 8
"""At once, whatever a client asks for in one go: each is a thread, or a process."""


class CommandRefusedError(LlmcError):
    """Why a command was refused, in its own words: those of agents and checks may be among them."""


class Desk:
    def __init__(self, root: Root, kinds: tuple[str, ...], worker: str = "", *, supervises: bool = False) -> None:
        """`kinds`: those of the tools that are offered here. `worker`: the one whose agent asks; empty for a client
        that is in no worker. `supervises`: it may do so for as long as it is a supervisor.
        """
        self.root = root
        self.kinds = kinds
        self.worker = worker
        self.news = TaskNews(root)
        self._supervises = supervises
        self._looks = asyncio.Semaphore(MOST_LOOKS)
        self._commands = asyncio.Semaphore(MOST_COMMANDS)

    async def beside(self, action: Callable[[Site], T]) -> T:
        """With the settings as they are now, in a thread of its own."""
        async with self._looks:
            return await beside(lambda: action(open_site(self.root)))

    async def status(self) -> dict[str, Any]:
        return await self.beside(lambda site: status_document(site.root))

    async def ask(self, words: CommandWords) -> Any:  # noqa: ANN401 - whatever the command answers
        """What the command says as JSON; raises what it was refused for."""
        argv = [words.argv[0], "--json", *words.argv[1:]]
        host = open_site(self.root).host
        async with self._commands:
            answered = await beside(lambda: ask_llmc(host, self.root, argv, stdin=words.stdin))
        if answered.code in (DONE, UNKNOWN) and answered.data is not None:
            return answered.data
        error = answered.error or _reason(answered.data) or "it was not done"
        raise CommandRefusedError(error, answered.hint or "`llmc doctor` says more")

    async def require_standing(self) -> None:
        """A connection outlives the role that it was made for."""
        if self._supervises and await self.beside(lambda site: site.config.worker(self.worker).role) != SUPERVISOR:
            raise LlmcError(f"{self.worker} is no supervisor any more", "ask the person")

    async def require_worker(self, name: str, *, acts: bool) -> dict[str, Any]:
        """What there is to know about it. Before its name becomes a word of a command."""
        workers = {each["name"]: each for each in (await self.status())["workers"]}
        if name not in workers:
            known = ", ".join(workers) or "there are none"
            raise UnknownWorkerError(f"there is no worker named {name[:100]!r}", f"the workers are: {known}")
        if acts and name == self.worker:
            raise LlmcError(f"{name} cannot do that to itself", "name another worker, or ask the person")
        found: dict[str, Any] = workers[name]
        return found

    async def note(self, client: str, tool: str, worker: str, words: str) -> None:
        """Who asks for what; before it is done, so that none is missing."""
        who = f"{self.worker} ({client})" if self.worker else client
        data = MappingProxyType({"client": client, "asked_by": self.worker, "tool": tool})
        entry = LoggedEvent(time.time(), worker or self.worker, LOGGED, detail=f"{who} asks: {words}", data=data)
        await self.beside(lambda site: EventLog(site.root.event_log).append(entry))


def _reason(data: object) -> str:
    known = data if isinstance(data, dict) else {}
    return next((str(known[key]) for key in ("reason", "detail", "outcome") if known.get(key)), "")
