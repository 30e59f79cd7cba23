"""The server itself: an address that is bound before anybody hears of it, and uvicorn on it."""

from __future__ import annotations

import asyncio
import logging
import socket
from types import FrameType
from typing import Any

import uvicorn

from llmc.errors import LlmcError, system_words
from llmc.values import Value
from llmc.web.addresses import USUAL_PORTS, in_brackets, is_loopback
from llmc.web.connections import Connection
from llmc.web.state import WebState

PING_SECS = 5.0
"""Who does not answer within as long again is gone: a phone in a tunnel must not keep control of a terminal."""
MOST_FRAME_BYTES = 1 << 20
LET_GO_SECS = 3
BACKLOG = 128
EVERYWHERE = ("0.0.0.0", "::", "")
DOCUMENTATION_ADDRESS = "192.0.2.1"
"""Nothing is sent there: the system only says from which of its addresses it would be."""


class ServingPlace(Value):
    """Where to serve. Without a certificate only on this machine, unless that was said to be wanted."""

    host: str
    port: int
    cert: str | None = None
    key: str | None = None
    insecure: bool = False

    @property
    def scheme(self) -> str:
        return "https" if self.cert else "http"

    @property
    def is_local(self) -> bool:
        return is_loopback(self.host)

    def check(self) -> None:
        if bool(self.cert) != bool(self.key):
            raise LlmcError("a certificate needs its key, and a key its certificate", "give both --cert and --key")
        if not self.is_local and not self.cert and not self.insecure:
            raise LlmcError(
                f"on {self.host} everybody on the way could read along, and take over your agents",
                "give a certificate with --cert and --key, or use an SSH tunnel to 127.0.0.1; else --insecure",
            )

    def url(self, port: int) -> str:
        host = _own_address() if self.host in EVERYWHERE else self.host
        shown = "" if USUAL_PORTS[self.scheme] == port else f":{port}"
        return f"{self.scheme}://{in_brackets(host)}{shown}/"


def listen(place: ServingPlace, rather: int) -> socket.socket:
    """Bound, with its port. `rather` is the one to take when none was asked for, if it is free."""
    if not place.port and rather:
        try:
            return _bound(place.host, rather)
        except OSError:
            pass
    try:
        return _bound(place.host, place.port)
    except OSError as refused:
        where = f"{place.host}:{place.port}" if place.port else place.host
        raise LlmcError(
            f"cannot listen on {where}: {system_words(refused)}", "choose another --port or --host"
        ) from None


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=BACKLOG)


def _own_address() -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((DOCUMENTATION_ADDRESS, 9))
            return str(probe.getsockname()[0])
        except OSError:
            return "127.0.0.1"


def serve(app: Any, state: WebState, bound: socket.socket, place: ServingPlace) -> None:  # noqa: ANN401 - an ASGI application
    """Until it is told to end."""
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        lifespan="on",
        http=Connection,
        backlog=BACKLOG,
        ws="websockets-sansio",
        ws_max_size=MOST_FRAME_BYTES,
        ws_ping_interval=PING_SECS,
        ws_ping_timeout=PING_SECS,
        timeout_graceful_shutdown=LET_GO_SECS,
        ssl_certfile=place.cert,
        ssl_keyfile=place.key,
    )
    asyncio.run(_Server(config, state).serve(sockets=[bound]))


class _Server(uvicorn.Server):
    """Streams and terminals never end by themselves: they are told."""

    def __init__(self, config: uvicorn.Config, state: WebState) -> None:
        super().__init__(config)
        self._state = state

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Not noted as uvicorn does: it would raise the signal again at the end, before anything is put in order."""
        self._state.closing.set()
        self.force_exit = self.should_exit
        self.should_exit = True
