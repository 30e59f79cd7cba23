"""Joins the CLI of a supervisor to the tools of LLMC: from its standard input and output to its socket, and back.

`python -I -S tools_bridge.py DIRECTORY`; needs nothing but Python itself, so that it runs behind the fence as well. The
server may die, and so may the daemon: a CLI that sees its end takes the tools away for good (Claude Code 2.1), so it is
not told. Requests that had no answer yet get an error, and what comes next goes to a new server.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from contextlib import suppress
from threading import Lock, Thread
from typing import Any, NoReturn

PATIENCE_SECS = 20.0
PAUSE_SECS = 0.1
MOST_SILENT_ENDS = 20
"""Of servers that have said nothing, one after the other."""
NOBODY = object()
LOST = {
    "code": -32000,
    "message": "the tools of LLMC ended before they answered: nobody knows whether it was done. They are there again: "
    "look first, then ask again, `delegate` with the same request_id",
}


class Bridge:
    def __init__(self) -> None:
        self._lock = Lock()
        """Of everything below. Nothing is sent while it is held but a greeting."""
        self._hello: list[bytes] = []
        """How the client began: a new server hears it, too."""
        self._unanswered: dict[str, Any] = {}
        """The ids of requests."""
        self._has_begun = False
        self._has_left = False
        self._silent_ends = 0
        self._server = _connect()

    def run(self) -> None:
        Thread(target=self._from_client, daemon=True).start()
        while True:
            with suppress(OSError), self._server.makefile("rb") as lines:
                for line in lines:
                    self._to_client(line)
            with self._lock:
                if self._has_left:
                    return
                self._begin_anew()

    def _from_client(self) -> None:
        for line in sys.stdin.buffer:
            said = _read(line)
            with self._lock:
                server, asks = self._server, "method" in said and said.get("id") is not None
                if self._greets(said.get("method")):
                    self._hello.append(line)
                if asks:
                    self._has_begun = True
                    self._unanswered[json.dumps(said["id"])] = said["id"]
            with suppress(OSError):  # whoever reads from it sees its end, and answers
                server.sendall(line)
        with self._lock, suppress(OSError):
            self._has_left = True
            self._server.shutdown(socket.SHUT_WR)

    def _greets(self, method: object) -> bool:
        """From the protocol of 2026-07-28 on no client greets, but may try to once more when its first answer is late:
        such a greeting is refused, and a server that heard it first would refuse all that follows.
        """
        return (method == "initialize" and not self._has_begun) or (
            method == "notifications/initialized" and bool(self._hello)
        )

    def _to_client(self, line: bytes) -> None:
        """But for what a new server answers to an old request, such as the first."""
        said = _read(line)
        with self._lock:
            self._silent_ends = 0
            answers = "method" not in said and said.get("id") is not None
            wanted = not answers or self._unanswered.pop(json.dumps(said["id"]), NOBODY) is not NOBODY
        if wanted:
            _write(line)

    def _begin_anew(self) -> None:
        self._silent_ends += 1
        if self._silent_ends > MOST_SILENT_ENDS:
            _give_up("they end at once")
        first = json.dumps(_read(self._hello[0]).get("id")) if self._hello else ""
        lost = [number for key, number in self._unanswered.items() if key != first]
        self._unanswered = {key: number for key, number in self._unanswered.items() if key == first}
        for number in lost:
            _write(json.dumps({"jsonrpc": "2.0", "id": number, "error": LOST}).encode() + b"\n")
        time.sleep(PAUSE_SECS)
        self._server = _connect()
        with suppress(OSError):  # it is gone again: the next one is asked
            self._server.sendall(b"".join(self._hello))


def _connect() -> socket.socket:
    until = time.monotonic() + PATIENCE_SECS
    while True:
        server = socket.socket(socket.AF_UNIX)
        try:
            server.connect("tools.socket")
        except OSError as refused:
            server.close()
            if time.monotonic() > until:
                _give_up(str(refused))
            time.sleep(PAUSE_SECS)
        else:
            return server


def _give_up(why: str) -> NoReturn:
    sys.stderr.write(f"error: the tools of LLMC cannot be reached: {why}\n")
    sys.stderr.write("hint: is the daemon running, and is this worker a supervisor? `llmc up`, `llmc doctor`\n")
    sys.stderr.flush()
    os._exit(1)


def _read(line: bytes) -> dict[str, Any]:
    """Empty for what is no message: the other end says so."""
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


def _write(line: bytes) -> None:
    try:
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
    except OSError:
        os._exit(0)


if __name__ == "__main__":
    os.chdir(sys.argv[1])
    Bridge().run()
    os._exit(0)
