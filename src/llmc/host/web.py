"""Posting JSON to an address, with a bound on everything: time, size, and what comes back."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from llmc.errors import LlmcError
from llmc.values import Value

if TYPE_CHECKING:
    from http.client import HTTPResponse
    from urllib.error import HTTPError
    from urllib.request import Request

MOST_BYTES = 1 << 20


class NoAnswerError(LlmcError):
    """Nobody is there, or nobody answers in time."""


class Response(Value):
    status: int
    body: bytes
    retry_after_secs: float | None = None

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300


def post_json(address: str, data: object, *, headers: Mapping[str, str], timeout: float) -> Response:
    return post(address, json.dumps(data).encode(), {"Content-Type": "application/json", **headers}, timeout)


def post(address: str, body: bytes, headers: Mapping[str, str], timeout: float) -> Response:
    # These take longer to load than most commands to run, and few people want anything posted.
    import http.client
    import urllib.request

    request = urllib.request.Request(address, body, {"User-Agent": "llmc", **headers}, method="POST")
    try:
        return _answer(request, timeout)
    except (OSError, http.client.HTTPException, ValueError) as failure:
        # The address may carry a secret: it is not repeated.
        raise NoAnswerError(f"no answer from the address: {_in_words(failure)}", "see whether it is right") from None


def _answer(request: Request, timeout: float) -> Response:
    import urllib.error
    import urllib.request

    until = time.monotonic() + timeout
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            return Response(answer.status, _read(answer, until))
    except urllib.error.HTTPError as refused:
        with refused:
            return Response(refused.code, _read(refused, until), _seconds(refused.headers.get("Retry-After")))


def _read(answer: HTTPResponse | HTTPError, until: float) -> bytes:
    body = b""
    while len(body) < MOST_BYTES and (part := answer.read1(65536)):
        body += part
        if time.monotonic() > until:
            raise TimeoutError("it takes too long to answer")
    return body


def _seconds(said: str | None) -> float | None:
    return float(said) if said is not None and said.isdecimal() else None


def _in_words(failure: Exception) -> str:
    reason = getattr(failure, "reason", failure)
    return str(getattr(reason, "strerror", None) or reason)
