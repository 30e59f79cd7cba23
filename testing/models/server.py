"""A loopback stand-in for four model APIs on one port. It only does the talking: see `model` for what it says."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from testing.models.anthropic import Anthropic
from testing.models.chat import Chat
from testing.models.chat_clis import Aider, Cline, Pi
from testing.models.conversation import Script, prompts_in
from testing.models.face import Body, Cut, Face, Pause, Piece, Request, blocks_of
from testing.models.gemini import Gemini
from testing.models.model import Model
from testing.models.responses import Responses
from testing.models.script import ScriptError
from testing.models.steps import Drop, Fail, Hang, Step
from testing.models.tokens import Bill, Tariff

FACES: tuple[Face, ...] = (Anthropic(), Responses(), Gemini(), Pi(), Cline(), Aider(), Chat())
MESSAGES = {400: "Bad request", 401: "Invalid authentication credentials", 403: "Forbidden", 429: "Rate limit reached"}
RESET_ON_CLOSE = struct.pack("ii", 1, 0)


class ModelServer:
    """Runs in threads of this process until it is stopped."""

    @classmethod
    def start(cls, listener: socket.socket | None = None, *, port: int = 0, log: Path | None = None) -> ModelServer:
        """Serves on a listening socket, which may be one of another network, or on a port of this machine."""
        return cls(listener or socket.create_server(("127.0.0.1", port)), log)

    def __init__(self, listener: socket.socket, log: Path | None) -> None:
        self._model = Model()
        self._http = _Connections(listener, self._model, log)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), name="model server", daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        return self._http.server_port

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def answer_with(self, script: Script | Sequence[Step]) -> None:
        """How every prompt from now on is answered that has no words of its own: by these steps, one for each request
        of the agent, or by the steps that the function gives for the prompt."""
        self._model.script = script if callable(script) else lambda _prompt: script

    def prompts(self) -> list[str]:
        """Every prompt that arrived, as the user submitted it, as often as it was submitted."""
        return self._model.prompts()

    @property
    def requests(self) -> list[Request]:
        """All of them, auxiliary ones too, to find out what a CLI really sent."""
        return list(self._model.requests)

    def charge(self, tariff: Tariff) -> None:
        """What the answers cost from now on."""
        self._model.tariff = tariff

    def bills(self) -> list[Bill]:
        """What was answered to its end so far, and what each of these answers has cost."""
        return list(self._model.bills)

    def stop(self) -> None:
        """Ends every answer under way."""
        self._http.shutdown()
        self._http.hang_up()
        self._thread.join()
        self._http.server_close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()


class _Connections(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, listener: socket.socket, model: Model, log: Path | None) -> None:
        super().__init__(listener.getsockname()[:2], _Connection, bind_and_activate=False)
        self.socket.close()
        self.socket = listener
        self.server_port = listener.getsockname()[1]
        self.model = model
        self.log = log
        self.stopping = threading.Event()
        self._open: set[socket.socket] = set()
        self._changed = threading.Condition()

    def hang_up(self) -> None:
        """Ends every connection, and returns when all are closed."""
        self.stopping.set()
        with self._changed:
            for connection in self._open:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
            self._changed.wait_for(lambda: not self._open)

    def note(self, request: Request, step: Step) -> None:
        if self.log is None:
            return
        prompts = prompts_in(request.turns)
        line = {"path": request.path, "auxiliary": request.auxiliary, "prompts": prompts, "step": repr(step)}
        with self._changed, self.log.open("a", encoding="utf-8") as log:
            log.write(json.dumps(line) + "\n")

    def process_request(self, request: socket.socket | tuple[bytes, socket.socket], client_address: object) -> None:
        if isinstance(request, socket.socket):
            with self._changed:
                self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: socket.socket | tuple[bytes, socket.socket]) -> None:
        super().shutdown_request(request)
        if isinstance(request, socket.socket):
            with self._changed:
                self._open.discard(request)
                self._changed.notify_all()


class _Connection(BaseHTTPRequestHandler):
    server: _Connections
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """The log is ours."""

    def handle(self) -> None:
        with suppress(ConnectionError):  # the CLI may hang up whenever it likes
            super().handle()

    def do_GET(self) -> None:
        if urlsplit(self.path).path.endswith("/models"):
            self._say(200, {"object": "list", "data": [{"id": "scripted", "object": "model"}], "models": []})
        else:
            self._say(404, {"error": {"message": "not found"}})

    do_HEAD = do_GET  # noqa: N815 - as http.server wants it

    def do_POST(self) -> None:
        path, body = urlsplit(self.path).path, json.loads(self._read_body() or b"{}")
        if path.endswith(("/count_tokens", ":countTokens")):
            self._say(200, {"input_tokens": 10, "totalTokens": 10})
            return
        face = next((face for face in FACES if face.takes(path)), None)
        if face is None:
            self._say(404, {"error": {"message": "not found"}})
            return
        request = face.read(path, {name.lower(): value for name, value in self.headers.items()}, body)
        request = replace(request, tokens=self.server.model.price())
        try:
            step = self.server.model.answer(request)
        except ScriptError as wrong:
            self._say(400, face.failure(400, str(wrong)))
            return
        self.server.note(request, step)
        self._play(face, request, step)

    def _play(self, face: Face, request: Request, step: Step) -> None:
        match step:
            case Fail(status, _, retry_after):
                headers = {} if retry_after is None else {"retry-after": str(retry_after)}
                self._say(status, face.failure(status, MESSAGES.get(status, "Internal server error")), headers)
            case Hang(secs):
                self.server.stopping.wait(secs)
                self._reset()
            case Drop(halfway=False):
                self._reset()
            case _:
                blocks = blocks_of(face, step, request)
                if request.streams:
                    told = self._stream(face.stream(request, blocks))
                elif told := Cut() not in blocks:
                    self._say(200, face.whole(request, blocks))
                else:
                    self._reset()
                if told:
                    self.server.model.bill(request)

    def _read_body(self) -> bytes:
        if self.headers.get("transfer-encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("content-length", 0)))
        body = b""
        while size := int(self.rfile.readline().strip() or b"0", 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _say(self, status: int, answer: Body, headers: Mapping[str, str] | None = None) -> None:
        content = json.dumps(answer).encode()
        self.send_response(status)
        for name, value in {"content-type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def _stream(self, pieces: Iterable[Piece]) -> bool:
        """Whether it was told to its end."""
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for piece in pieces:
            if isinstance(piece, Pause):
                self.server.stopping.wait(piece.secs)
            elif isinstance(piece, Cut):
                self._reset()
                return False
            else:
                content = piece.encode()
                self.wfile.write(b"%x\r\n%b\r\n" % (len(content), content))
        self.wfile.write(b"0\r\n\r\n")
        return True

    def _reset(self) -> None:
        """A connection that breaks, which is not the same as one that ends."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
        self.connection.close()
        self.close_connection = True
