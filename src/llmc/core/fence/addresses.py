"""Which addresses the proxy of a fence lets through."""

from __future__ import annotations

from collections.abc import Iterable


def is_allowed(allowed: Iterable[str], host: str, port: int) -> bool:
    """`*.example.org:443` stands for all names below example.org, and not for that itself."""
    return any(_matches(entry, host.lower().rstrip("."), port) for entry in allowed)


def _matches(entry: str, host: str, port: int) -> bool:
    name, _, number = entry.rpartition(":")
    if int(number) != port:
        return False
    name = name.strip("[]").lower()
    return host.endswith(name[1:]) and host != name[2:] if name.startswith("*.") else host == name
