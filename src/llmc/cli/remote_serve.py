"""`llmc remote-serve`: what a hub talks to on a machine. Commands, the board as it changes, terminals; over stdio.

Everything is carried out in forks of this process, which has loaded what they need: so a command of the hub's costs no
start of Python. What was begun goes on when the connection breaks, and its answer is kept.
"""

from __future__ import annotations

import os
import selectors
import sys
import time
from argparse import Namespace
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from typing import Any

from llmc import __version__
from llmc.app import App
from llmc.commands.shared.result import Result
from llmc.config.load import load_config
from llmc.errors import LlmcError
from llmc.fleet.wire import GREETING, PROTOCOL, decode_line, encode_line
from llmc.host.forks import Forked, said_so_far, without_hangups
from llmc.root import Root
from llmc.store.machine_file import is_ending, read_membership
from llmc.store.requests import RequestStore

EVERY_SECS = 3.0
"""How often something is said, so that the hub knows that somebody is here."""
FIRST_LOOK_SECS = 0.01
UNKNOWN = 4
LOADED = ("care.giving", "commands.message", "commands.start", "commands.peek", "commands.review", "commands.accept")


def run(app: App, args: Namespace) -> Result:
    root = app.root()
    without_hangups()
    out = os.dup(1)
    os.dup2(2, 1)  # whatever else is printed here is no part of the talk
    _load()
    _Remote(root, out).serve()
    return Result()


def _load() -> None:
    from importlib import import_module

    for module in LOADED:
        import_module(f"llmc.{module}")


class _Remote:
    def __init__(self, root: Root, out: int) -> None:
        self._root = root
        self._out = out
        self._requests = RequestStore(root)
        self._look = selectors.DefaultSelector()
        self._kept = b""
        self._said_at = 0.0
        self._followers: list[Forked] = []
        self._terminals: Forked | None = None

    def serve(self) -> None:
        self._requests.forget_old()
        member = read_membership(self._root)
        known = {"machine": member.id, "epoch": member.epoch, "hub": member.hub} if member is not None else {}
        greeting = {"protocol": PROTOCOL, "version": __version__, "now_unix": time.time(), **known}
        self._write(GREETING.encode() + encode_line(greeting))
        self._look.register(0, selectors.EVENT_READ, self._hear)
        while self._look.get_map() and 0 in self._look.get_map():
            for key, _ in self._look.select(max(0.0, self._said_at + EVERY_SECS - time.monotonic())):
                key.data()
            if not os.path.exists(self._root.config_file):
                break  # it was wiped: whoever connects anew is told so
            if time.monotonic() - self._said_at >= EVERY_SECS:
                self._say({"alive": True, "ending": is_ending(self._root), "load": os.getloadavg()[0]})
        for child in self._followers:
            child.end()

    def _hear(self) -> None:
        data = os.read(0, 1 << 16)
        if not data:
            self._look.unregister(0)
            return
        *lines, self._kept = (self._kept + data).split(b"\n")
        for order in filter(None, map(decode_line, lines)):
            self._heed(order)

    def _heed(self, order: dict[str, Any]) -> None:
        match order.get("op"):
            case "ping":
                self._say({"id": order["id"]})
            case "run":
                self._begin(order)
            case "follow":
                self._say({"id": order["id"]})
                self._forward(Forked(lambda: _follow(self._root), speaks=True, hears=True))
            case "terminal":
                self._hand_to_terminals(order)
            case _:
                self._say({"id": order.get("id"), "code": 2, "err": "error: this llmc does not know how to do that\n"})

    def _hand_to_terminals(self, order: dict[str, Any]) -> None:
        """One process for all that are looked at, from the first one on."""
        if self._terminals is None:
            self._terminals = Forked(lambda: _show_terminals(self._root), speaks=True, hears=True)
            self._forward(self._terminals)
        try:
            self._terminals.tell(encode_line(order))
        except OSError:
            self._terminals = None
            self._say({"id": order["id"], "code": 1, "error": "the terminals are not followed", "hint": "try again"})

    # --- commands ---------------------------------------------------------------------------------------

    def _begin(self, order: dict[str, Any]) -> None:
        stdin = str(order.get("stdin", "")).encode("utf-8", "surrogateescape")
        request = str(order.get("request") or "")
        kept = self._requests.read(request) if request else None
        if kept:
            self._say({"id": order["id"], **kept})
            return
        child = Forked(self._command(order, request), stdin=stdin)
        self._look.register(child.fd, selectors.EVENT_READ, lambda: self._finish(order, request, child))

    def _command(self, order: dict[str, Any], request: str) -> Callable[[], int]:
        words, repeatable = [str(word) for word in order.get("words", ())], bool(order.get("repeatable"))
        if not request:
            return lambda: _llmc(self._root, words)
        return lambda: self._once(request, words, repeatable=repeatable)

    def _once(self, request: str, words: list[str], *, repeatable: bool) -> int:
        """In the fork. Whoever asked before may still be at it, over a connection that is gone."""
        with self._requests.turn(request):
            kept = self._requests.read(request)
            if kept:
                return int(kept["code"])
            if kept is not None and not repeatable:
                self._requests.write(request, _unknown(words))
                return UNKNOWN
            self._requests.write(request, {})
            code = _llmc(self._root, words)
            out, err = said_so_far()
            self._requests.write(request, _answer(code, out, err))
            return code

    def _finish(self, order: dict[str, Any], request: str, child: Forked) -> None:
        self._look.unregister(child.fd)
        answer = _answer(*child.finish())
        kept = self._requests.read(request) if request else None
        self._say({"id": order["id"], **(kept or answer), **self._board(order)})

    def _board(self, order: dict[str, Any]) -> dict[str, Any]:
        """With the answer, so that whoever has it looks at nothing older."""
        from llmc.commands.status import status_document

        if not order.get("board", True):
            return {}
        try:
            return _told(self._root, status_document(self._root))
        except (LlmcError, OSError):  # the answer itself matters more
            return {}

    # --- what is told as it changes -----------------------------------------------------------------------

    def _forward(self, child: Forked) -> None:
        kept = b""

        def forward() -> None:
            """Whole lines: others speak here, too."""
            nonlocal kept
            data = os.read(child.fd, 1 << 18)
            whole, newline, kept = (kept + data).rpartition(b"\n")
            if newline:
                self._write(whole + newline)
            if not data:
                self._look.unregister(child.fd)
                child.finish()

        self._followers.append(child)
        self._look.register(child.fd, selectors.EVENT_READ, forward)

    def _say(self, said: dict[str, Any]) -> None:
        self._write(encode_line(said))

    def _write(self, data: bytes) -> None:
        self._said_at = time.monotonic()
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(self._out, rest) :]
        except OSError:
            os._exit(0)  # nobody listens any more; what was begun is in processes of its own


def _llmc(root: Root, words: list[str]) -> int:
    from llmc.cli.main import main

    os.environ["LLMC_ROOT"] = root.path
    os.chdir(root.path)
    sys.argv = ["llmc", *words]
    return main(words)


def _answer(code: int, out: bytes, err: bytes) -> dict[str, Any]:
    return {"code": code, "out": out.decode("utf-8", "replace"), "err": err.decode("utf-8", "replace")}


def _unknown(words: list[str]) -> dict[str, Any]:
    err = f"error: `llmc {words[0]}` was cut short, and may have done its work\nhint: look at it first\n"
    return {"code": UNKNOWN, "out": "", "err": err}


def _follow(root: Root) -> int:
    """In a fork: the document of `llmc status --json`, whenever something in it has changed."""
    import asyncio

    from llmc.commands.shared.live_board import LiveBoard

    async def follow() -> None:
        following = asyncio.current_task()
        assert following is not None
        # Nothing is written there: it can be read when whoever we speak to has ended, however that came about.
        asyncio.get_running_loop().add_reader(0, following.cancel)
        board = LiveBoard(root)
        watching = asyncio.create_task(board.run())
        try:
            while not board.document:
                await asyncio.sleep(FIRST_LOOK_SECS)
            async for _ in board.changes():
                _write_all(encode_line(_told(root, board.document)))
        finally:
            watching.cancel()

    with suppress(asyncio.CancelledError):
        asyncio.run(follow())
    return 0


def _show_terminals(root: Root) -> int:
    """In a fork: frames of terminals, for whoever looks at them."""
    from llmc.app import open_site
    from llmc.fleet.terminals_there import TerminalsThere

    TerminalsThere(open_site(root), _write_all).run()
    return 0


def _told(root: Root, document: dict[str, Any]) -> dict[str, Any]:
    by_name_only = _by_name_only(root.config_file, os.stat(root.config_file).st_mtime_ns)
    workers = [{**worker, "by_name_only": worker["name"] in by_name_only} for worker in document["workers"]]
    said = {"board": {**document, "workers": workers}, "now_unix": time.time()}
    return {**said, "ending": is_ending(root), "load": os.getloadavg()[0]}


@lru_cache(1)
def _by_name_only(settings: str, changed_ns: int) -> frozenset[str]:
    """Workers that get no task that does not name them."""
    config = load_config(settings)
    return frozenset(name for name in config.workers if config.worker(name).excluded_from_pool)


def _write_all(data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(1, rest) :]
