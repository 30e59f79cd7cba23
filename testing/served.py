"""A real `llmc web`, and a client that says just what a test wants it to say."""

from __future__ import annotations

import asyncio
import http.client
import json
import signal
import subprocess
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Origin

from llmc.root import Root
from testing.story import LLMC

PATIENCE_SECS = 150.0
Event = tuple[str, str, Any]
"""Name, id and data of a server-sent event."""


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def data(self) -> Any:  # noqa: ANN401 - whatever was answered
        return json.loads(self.body)


@dataclass(slots=True)
class Served:
    root: Root
    process: subprocess.Popen[bytes]
    url: str
    token: str

    @property
    def port(self) -> int:
        return int(self.url.rstrip("/").rpartition(":")[2])

    @property
    def bearer(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    # --- requests ---------------------------------------------------------------------------------------

    def ask(
        self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None, **more: str
    ) -> Reply:
        """With the token, unless headers are given."""
        sent = dict(self.bearer if headers is None else headers)
        content = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
        if content is not None:
            sent.setdefault("Content-Type", "application/json")
        sent |= more
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_SECS)
        try:
            connection.request(method, path, content, sent)
            answer = connection.getresponse()
            return Reply(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def get(self, path: str) -> Any:  # noqa: ANN401 - whatever was answered
        reply = self.ask("GET", f"/api/v1{path}")
        assert reply.status == 200, reply
        return reply.data

    def post(self, path: str, expected: int = 200, **fields: object) -> Any:  # noqa: ANN401
        reply = self.ask("POST", f"/api/v1{path}", fields)
        assert reply.status == expected, reply
        return reply.data

    def log_in(self) -> dict[str, str]:
        """The headers of a page: cookie, origin and secret."""
        reply = self.ask("POST", "/login", {"token": self.token}, {})
        assert reply.status == 200, reply
        cookie = reply.headers["set-cookie"].partition(";")[0]
        return {"Cookie": cookie, "Origin": self.url.rstrip("/"), "X-LLMC-Secret": reply.data["secret"]}

    # --- streams and terminals --------------------------------------------------------------------------

    @asynccontextmanager
    async def stream(self, last: str = "", headers: Mapping[str, str] | None = None) -> AsyncIterator[Stream]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        sent = {"Host": f"127.0.0.1:{self.port}", **(self.bearer if headers is None else headers)}
        sent |= {"Last-Event-ID": last} if last else {}
        lines = "".join(f"{name}: {value}\r\n" for name, value in sent.items())
        writer.write(f"GET /api/v1/stream HTTP/1.1\r\n{lines}\r\n".encode())
        status = await reader.readline()
        assert b" 200 " in status, status
        while (await reader.readline()).strip():
            pass
        try:
            yield Stream(reader)
        finally:
            writer.close()

    @asynccontextmanager
    async def terminal(
        self, worker: str, *, control: bool = False, headers: Mapping[str, str] | None = None, origin: str | None = None
    ) -> AsyncIterator[ClientConnection]:
        address = f"ws://127.0.0.1:{self.port}/api/v1/workers/{worker}/terminal?control={int(control)}"
        sent = dict(self.bearer if headers is None else headers)
        own = sent.pop("Origin", None)
        said = origin or own
        async with connect(
            address, additional_headers=sent, origin=Origin(said) if said else None, max_size=None, proxy=None
        ) as socket:
            yield socket

    # --- the server -------------------------------------------------------------------------------------

    def end(self, how: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(how)
        self.process.communicate(timeout=PATIENCE_SECS)
        return self.process.returncode


@dataclass(slots=True)
class Stream:
    reader: asyncio.StreamReader

    async def event(self) -> Event:
        """The next one; beats are left out."""
        found: dict[str, str] = {}
        while True:
            line = (await asyncio.wait_for(self.reader.readline(), PATIENCE_SECS)).decode()
            if not line:
                raise EOFError
            name, _, value = line.rstrip("\r\n").partition(": ")
            if name in ("event", "id", "data"):
                found[name] = value
            elif not name and "data" in found:
                return found.get("event", ""), found.get("id", ""), json.loads(found["data"])

    async def until(self, words: str) -> Event:
        """The next event that says so."""
        while True:
            event = await self.event()
            if words in json.dumps(event[2], ensure_ascii=False):
                return event


def start_serving(root: Root, *words: str) -> Served:
    command = [*LLMC, "--root", root.path, "web", "--json", *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, f"`llmc web` ended with {process.wait()}"
    said = json.loads(line)
    assert said["pid"] == process.pid
    return Served(root, process, said["url"], said["token"])


@contextmanager
def serving(root: Root, *words: str) -> Iterator[Served]:
    served = start_serving(root, *words)
    try:
        yield served
    finally:
        if served.process.poll() is None:
            served.end()
