"""Everything that comes in passes here first: who asks, from where, and whether they may.

A page needs nothing of this. Somebody who is not logged in gets the login page in place of any other, under the same
address and with 401: after the login the page loads itself again.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, MutableMapping
from typing import Any

from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from llmc.values import Value
from llmc.web.addresses import Addresses
from llmc.web.state import WebState, Who

MOST_BODY_BYTES = 1 << 20
BODY_WITHIN_SECS = 30.0
LOOKS = frozenset(("GET", "HEAD"))
READS_BY_POST = ("/mcp",)
"""What changes something is not offered there by a server that only shows; what is too long is told in its own way."""
MOST_THERE_BYTES = 16 << 20
OPEN = ("/login", "/manifest.webmanifest", "/favicon.ico")
SECRET_HEADER = "x-llmc-secret"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "font-src 'self'; manifest-src 'self'; worker-src 'self'; frame-ancestors 'none'; base-uri 'none'; "
    "form-action 'self'"
)
PROTECTION = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


class Refusal(Value):
    status: int
    error: str
    hint: str


class BodyTooLargeError(Exception):
    """More came than is read."""


class Guard:
    def __init__(self, app: ASGIApp, state: WebState, addresses: Addresses) -> None:
        self._app = app
        self._state = state
        self._addresses = addresses
        self._cookie = f"llmc_{addresses.port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        who = self._identify(scope, headers)
        refusal = self._refusal(scope, headers, who)
        if scope["type"] == "http":
            await self._request(scope, receive, _protected(send), refusal)
        elif refusal is None:
            await self._app(scope, receive, send)
        else:
            await self._refuse_socket(scope, receive, send, refusal)

    # --- who --------------------------------------------------------------------------------------------

    def _identify(self, scope: MutableMapping[str, Any], headers: Headers) -> Who:
        """`llmc.cookie` is there for those who need the second secret, too."""
        address = scope["client"][0] if scope.get("client") else ""
        kind, _, token = headers.get("authorization", "").partition(" ")
        session = ""
        if kind:
            session = "token" if kind.lower() == "bearer" and self._state.logins.is_token(token.strip()) else ""
        else:
            for cookie in _cookies(headers.getlist("cookie"), self._cookie):
                session = session or self._state.logins.session_of(cookie)
                if session:
                    scope["llmc.cookie"] = cookie
                    break
        who = Who(address, session)
        scope["llmc.who"] = who
        return who

    def _refusal(self, scope: Scope, headers: Headers, who: Who) -> Refusal | None:
        foreign = self._comes_from_elsewhere(scope, headers)
        if foreign is not None:
            return foreign
        is_open = scope["path"] in OPEN or scope["path"].startswith("/static/")
        if not who.is_known and not is_open:
            return Refusal(401, "you are not logged in", "use the address that `llmc web` prints, with its token")
        if scope["type"] == "websocket":
            return self._socket_refusal(scope, headers)
        if scope["method"] not in LOOKS:
            return self._change_refusal(scope, headers)
        return None

    def _comes_from_elsewhere(self, scope: Scope, headers: Headers) -> Refusal | None:
        host = headers.get("host", "")
        server = scope.get("server") or ("", None)
        if not self._addresses.answers_to(host, server[0]):
            return Refusal(403, "this server does not answer to that name", "name it in `[web] hosts` if it is yours")
        origin = headers.get("origin")
        if origin is not None and not self._addresses.is_own_page(origin, host):
            return Refusal(403, "that page is of another server", "open the board at its own address")
        return None

    def _socket_refusal(self, scope: Scope, headers: Headers) -> Refusal | None:
        if "llmc.cookie" in scope and "origin" not in headers:
            return Refusal(403, "a browser says which page it is", "use the token: `Authorization: Bearer TOKEN`")
        if self._state.read_only and QueryParams(scope["query_string"]).get("control") == "1":
            return READ_ONLY
        return None

    def _change_refusal(self, scope: Scope, headers: Headers) -> Refusal | None:
        """For whatever may change something."""
        logs_in = scope["path"] == "/login"
        if self._state.read_only and not logs_in and scope["path"] not in READS_BY_POST:
            return READ_ONLY
        if not logs_in and not has_secret(self._state, scope, headers):
            return NO_SECRET
        if "content-length" in headers and "transfer-encoding" in headers:
            return Refusal(400, "the body has two lengths", "send one of Content-Length and Transfer-Encoding")
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > most_of(scope):
            return _too_large(scope)
        has_body = length != "0" or "transfer-encoding" in headers
        if has_body and headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            return Refusal(415, "the body must be JSON", "send `Content-Type: application/json`")
        return None

    # --- what comes of it -------------------------------------------------------------------------------

    async def _request(self, scope: Scope, receive: Receive, send: Send, refusal: Refusal | None) -> None:
        began = time.monotonic()
        who: Who = scope["llmc.who"]
        told = _Told(send)
        try:
            if refusal is None:
                await self._app(scope, _bounded(receive, most_of(scope)), told)
            elif refusal.status == 401 and _wants_page(scope):
                scope = {**scope, "path": "/login", "raw_path": b"/login", "query_string": b""}
                await self._app(scope, receive, _Told(send, status=401))
            else:
                await _answer(refusal)(scope, receive, told)
        except (BodyTooLargeError, TimeoutError) as failure:
            if told.status:
                raise
            await _answer(TOO_SLOW if isinstance(failure, TimeoutError) else _too_large(scope))(scope, receive, told)
        finally:
            if scope["method"] not in LOOKS or (refusal is not None and refusal.status == 403):
                took = round((time.monotonic() - began) * 1000)
                self._state.note(who, scope["method"], path=scope["path"], status=told.status, ms=took)

    async def _refuse_socket(self, scope: Scope, receive: Receive, send: Send, refusal: Refusal) -> None:
        self._state.note(scope["llmc.who"], "terminal", path=scope["path"], status=refusal.status)
        await receive()
        if "websocket.http.response" in scope.get("extensions", {}):
            content = JSONResponse({"error": refusal.error, "hint": refusal.hint})
            start = {"status": refusal.status, "headers": content.raw_headers}
            await send({"type": "websocket.http.response.start", **start})
            await send({"type": "websocket.http.response.body", "body": content.body})
        else:
            await send({"type": "websocket.close"})


def has_secret(state: WebState, scope: Scope, headers: Headers) -> bool:
    """True as well for a script with the token, which needs none."""
    cookie = scope.get("llmc.cookie")
    return cookie is None or state.logins.is_secret(cookie, headers.get(SECRET_HEADER, ""))


def most_of(scope: Scope) -> int:
    """Bytes that a body may have."""
    return MOST_THERE_BYTES if scope["path"] in READS_BY_POST else MOST_BODY_BYTES


def _too_large(scope: Scope) -> Refusal:
    return Refusal(413, "the body is too large", f"send at most {most_of(scope)} bytes")


NO_SECRET = Refusal(403, "the page has not sent its secret", "log in again with the address of `llmc web`")
READ_ONLY = Refusal(403, "this server only shows", "start it without `--read-only` to change something")
TOO_SLOW = Refusal(408, "the body did not come", f"send it within {BODY_WITHIN_SECS:.0f} seconds")


class _Told:
    """Remembers what status was answered, or answers another one."""

    def __init__(self, send: Send, status: int = 0) -> None:
        self._send = send
        self._instead = status
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"] = self._instead or message["status"]
        await self._send(message)


def _protected(send: Send) -> Send:
    async def protected(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in PROTECTION.items():
                headers[name] = value
            headers.setdefault("cache-control", "no-store")
        await send(message)

    return protected


def _bounded(receive: Receive, most: int) -> Receive:
    """A body without a length is read no further than one with it, and none is waited for without end."""
    seen = 0
    until = time.monotonic() + BODY_WITHIN_SECS
    is_read = False

    async def bounded() -> Message:
        nonlocal seen, is_read
        message = await (receive() if is_read else asyncio.wait_for(receive(), max(0.0, until - time.monotonic())))
        if message["type"] == "http.request":
            is_read = not message.get("more_body", False)
            seen += len(message.get("body", b""))
            if seen > most:
                raise BodyTooLargeError
        return message

    return bounded


def _answer(refusal: Refusal) -> JSONResponse:
    """Whatever else would come on this connection is not read."""
    headers = {"connection": "close", **({"www-authenticate": "Bearer"} if refusal.status == 401 else {})}
    return JSONResponse({"error": refusal.error, "hint": refusal.hint}, refusal.status, headers)


def _wants_page(scope: Scope) -> bool:
    return scope["method"] in LOOKS and not scope["path"].startswith(("/api/", *READS_BY_POST))


def _cookies(lines: Iterable[str], name: str) -> Iterable[str]:
    """All of that name: another server of this machine can add one of its own."""
    for part in (part for line in lines for part in line.split(";")):
        key, equals, value = part.strip().partition("=")
        if equals and key == name:
            yield value
