"""A loopback HTTP endpoint that answers as it is told to: well, badly, or never."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True, slots=True)
class Answer:
    status: int = 200
    body: bytes = b"{}"
    headers: tuple[tuple[str, str], ...] = ()
    hangs: bool = False
    breaks_off: bool = False
    """The body is announced to be longer than what comes of it."""


@dataclass(slots=True)
class Endpoint:
    answers: list[Answer] = field(default_factory=lambda: [Answer()])
    """In order; the last one for all that come after."""
    heard: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    """What each request gave as its authorization."""
    over: threading.Event = field(default_factory=threading.Event)
    address: str = ""

    def next_answer(self) -> Answer:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@contextmanager
def endpoint(*answers: Answer) -> Iterator[Endpoint]:
    place = Endpoint(list(answers) or [Answer()])

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            is_json = self.headers.get("Content-Type") == "application/json"
            place.heard.append(json.loads(body) if is_json else {"text": body.decode(), **dict(self.headers)})
            place.keys.append(self.headers.get("Authorization", ""))
            answer = place.next_answer()
            if answer.hangs:
                place.over.wait(60)
                return
            self.send_response(answer.status)
            for name, value in answer.headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.body) + answer.breaks_off))
            self.end_headers()
            self.wfile.write(answer.body)
            if answer.breaks_off:
                place.over.wait(60)

        def log_message(self, *words: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    place.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield place
    finally:
        place.over.set()
        server.shutdown()
        server.server_close()
        thread.join()
