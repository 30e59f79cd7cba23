"""Who may come in: the token of the address, the cookie that it is exchanged for, and the second secret.

Cookies ignore ports: a program of an agent that serves pages on another port of this machine is sent ours, too. So the
cookie alone only looks. Whatever changes something, and every terminal, needs the second secret, which only the page
knows. Both are signed, not stored: they outlive the server, and end when the key does.
"""

from __future__ import annotations

import hmac
import secrets
import time
from collections import deque
from hashlib import sha256

from llmc.values import Value

LASTS_SECS = 30 * 24 * 3600.0
MOST_FAILURES = 10
WITHIN_SECS = 60.0
MOST_ADDRESSES = 1000


class Login(Value):
    """What somebody with the right token gets."""

    cookie: str
    secret: str
    until_unix: float


class Logins:
    """Of one server. `key` signs what it gives out, and is kept through restarts."""

    def __init__(self, token: str, key: str) -> None:
        self._token = token
        self._key = key.encode()
        self._failures: dict[str, deque[float]] = {}

    def is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode("utf-8", "replace"), self._token.encode())

    def open(self) -> Login:
        until = time.time() + LASTS_SECS
        named = f"{secrets.token_hex(8)}.{int(until)}"
        return Login(f"{named}.{self._signed('cookie', named)}", self._signed("secret", named), until)

    def session_of(self, cookie: str) -> str:
        """The name of the session that the cookie is of; empty when it is none of ours, or too old."""
        named, _, signature = cookie.rpartition(".")
        name, _, until = named.partition(".")
        is_ours = hmac.compare_digest(signature.encode("utf-8", "replace"), self._signed("cookie", named).encode())
        return name if is_ours and until.isdecimal() and int(until) > time.time() else ""

    def is_secret(self, cookie: str, given: str) -> bool:
        """Whether it is the second secret of this cookie's session."""
        expected = self._signed("secret", cookie.rpartition(".")[0])
        return hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode())

    def _signed(self, what: str, named: str) -> str:
        return hmac.new(self._key, f"{what}:{named}".encode("utf-8", "replace"), sha256).hexdigest()

    # --- who tries too often ----------------------------------------------------------------------------

    def wait_secs(self, address: str) -> float:
        """How long whoever comes from there has to wait before the next attempt; 0 for not at all."""
        failures = self._failures.get(address)
        if not failures or len(failures) < MOST_FAILURES:
            return 0.0
        return max(0.0, failures[0] + WITHIN_SECS - time.monotonic())

    def failed(self, address: str) -> None:
        if len(self._failures) >= MOST_ADDRESSES:
            self._failures.pop(next(iter(self._failures)))
        self._failures.setdefault(address, deque(maxlen=MOST_FAILURES)).append(time.monotonic())
