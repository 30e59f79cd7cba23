"""What every page and every request of the server stands on: `request.app.state.web`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from llmc.commands.shared.beside import beside
from llmc.commands.shared.live_board import LiveBoard
from llmc.commands.shared.own_process import Answered, ask_llmc
from llmc.commands.status import status_document
from llmc.config.sections import WebSettings
from llmc.errors import LlmcError
from llmc.model import Json
from llmc.site import Site
from llmc.store.worker_log import WorkerLog
from llmc.values import Value
from llmc.web.logins import Logins

if TYPE_CHECKING:
    from typing import Any

MOST_COMMANDS = 16
"""At once; whoever comes later waits."""


class Who(Value):
    """Somebody who asks: `request.scope["llmc.who"]`."""

    address: str
    session: str
    """Of a cookie; `token` for a script with the token, empty for somebody who is not logged in."""

    @property
    def is_known(self) -> bool:
        return bool(self.session)


class WebState:
    """Of one server. Pages need nothing else: that somebody may see them was checked before they are asked."""

    def __init__(self, site: Site, settings: WebSettings, logins: Logins, *, read_only: bool) -> None:
        self.site = site
        self.root = site.root
        self.host = site.host
        self.settings = settings
        self.logins = logins
        self.read_only = read_only
        """The server refuses what changes something: pages only leave out what would be refused."""
        self.live = LiveBoard(site.root)
        """`live.board` is the board now."""
        self.last_told: tuple[object, bytes] | None = None
        """The last change, as the stream tells it."""
        self.closing = asyncio.Event()
        """The server ends: whoever holds a connection open lets it go."""
        self._log = WorkerLog(site.root.logs, max_bytes=site.config.log.max_bytes, keep=site.config.log.keep)
        self._turns = asyncio.Semaphore(MOST_COMMANDS)

    async def ask(self, words: Sequence[str], stdin: str = "") -> Answered:
        """Runs `llmc WORDS` to its end, however long that takes, as a process of its own."""
        async with self._turns:
            return await beside(lambda: ask_llmc(self.host, self.root, words, stdin=stdin))

    async def document(self, *words: str) -> Any:  # noqa: ANN401 - whatever the command answers
        """What `llmc WORDS --json` answers; raises what the command says where it is refused."""
        answered = await self.ask([words[0], "--json", *words[1:]])
        if answered.data is None:
            raise LlmcError(answered.error or "no answer", answered.hint or "`llmc doctor` says more")
        return answered.data

    async def status(self) -> dict[str, Any]:
        """The document of `llmc status --json`."""
        return await beside(lambda: status_document(self.root))

    def note(self, who: Who, action: str, **facts: Json) -> None:
        """A line of `ROOT/logs/web.log`: who has done what. Never what was typed or sent."""
        entry = {"at_unix": time.time(), "address": who.address, "session": who.session, "action": action, **facts}
        self._log.append("web", entry)
