"""Outside of a fence: an HTTP proxy that lets only some addresses through. Ends with the fence.

`python -I -S fence_proxy.py SOCKET HOST:PORT...`; connections come through the socket.
"""

from __future__ import annotations

import ipaddress
import os
import re
import select
import socket
import sys
import threading
from contextlib import suppress

PACKAGES = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
LONGEST_HEAD = 65536
HEAD_WITHIN_SECS = 30.0
CONNECT_WITHIN_SECS = 20.0
BLOCK = 65536
_REQUEST = re.compile(rb"([A-Z]+) (\S+) (HTTP/1\.[01])\r\n")
_WHOLE = re.compile(r"http://([^/?#]*)([^#]*)")
_AUTHORITY = re.compile(r"(\[[0-9a-fA-F:.]+\]|[^:@\[\]]+)(?::([0-9]{1,5}))?")
_OF_THE_HOP = re.compile(rb"(?:proxy-[a-z-]+|connection|keep-alive)[ \t]*:", re.IGNORECASE)


def main() -> None:
    sys.path.insert(0, PACKAGES)
    from_inside, allowed = socket.socket(fileno=int(sys.argv[1])), sys.argv[2:]
    while True:
        said, fds, _, _ = socket.recv_fds(from_inside, 16, 4)
        if not said:
            return
        for fd in fds:
            threading.Thread(target=_serve, args=(fd, allowed), daemon=True).start()


def _serve(fd: int, allowed: list[str]) -> None:
    with socket.socket(fileno=fd) as client, suppress(OSError):  # either side has gone away
        _answer(client, allowed)


def _answer(client: socket.socket, allowed: list[str]) -> None:
    from llmc.core.fence.addresses import is_allowed

    client.settimeout(HEAD_WITHIN_SECS)
    head, rest = _head(client)
    found = _REQUEST.match(head)
    if found is None:
        return _refuse(client, "400 Bad Request", "this is no request for a proxy")
    wanted = _place(found[1], found[2].decode("latin-1"))
    if wanted is None:
        return _refuse(client, "400 Bad Request", "the address is not understood")
    host, port, path = wanted
    if not is_allowed(allowed, host, port):
        return _refuse(client, "403 Forbidden", f"{host}:{port} is not in sandbox.network")
    try:
        server = _connected(host, port, literal=any(entry.rpartition(":")[0].strip("[]") == host for entry in allowed))
    except OSError as failed:
        return _refuse(client, "502 Bad Gateway", f"{host}:{port}: {failed}")
    with server:
        if path is None:
            client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        else:
            lines = [line for line in head.split(b"\r\n")[1:] if line and not _OF_THE_HOP.match(line)]
            first = b" ".join((found[1], path.encode("latin-1"), found[3]))
            server.sendall(b"\r\n".join([first, *lines, b"Connection: close", b"", b""]))
        if rest:
            server.sendall(rest)
        _relay(client, server)
    return None


def _head(client: socket.socket) -> tuple[bytes, bytes]:
    got = b""
    while b"\r\n\r\n" not in got and len(got) < LONGEST_HEAD:
        more = client.recv(BLOCK)
        if not more:
            break
        got += more
    head, end, rest = got.partition(b"\r\n\r\n")
    return head + end, rest


def _place(method: bytes, target: str) -> tuple[str, int, str | None] | None:
    """Host, port, and for a plain request what to ask there."""
    path: str | None = None
    authority, usual = target, None
    if method != b"CONNECT":
        whole = _WHOLE.fullmatch(target)
        if whole is None:
            return None
        authority, path, usual = whole[1], whole[2] or "/", "80"
        path = path if path.startswith("/") else f"/{path}"
    found = _AUTHORITY.fullmatch(authority)
    number = (found[2] or usual) if found else None
    if found is None or number is None or not 0 < int(number) < 65536:
        return None
    return found[1].strip("[]").lower().rstrip("."), int(number), path


def _connected(host: str, port: int, *, literal: bool) -> socket.socket:
    """A name from elsewhere that leads to this very machine leads nowhere, unless the settings name it in full."""
    refused: OSError = OSError("no address")
    for family, kind, proto, _, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        if not literal and _is_near(family, str(address[0])):
            refused = OSError("it leads to this machine")
            continue
        made = socket.socket(family, kind, proto)
        try:
            made.settimeout(CONNECT_WITHIN_SECS)
            made.connect(address)
            return made
        except OSError as failed:
            made.close()
            refused = failed
    raise refused


def _is_near(family: int, address: str) -> bool:
    """This machine by any of its addresses, or what only it can reach, such as the metadata of a cloud."""
    at = ipaddress.ip_address(address.partition("%")[0])
    at = getattr(at, "ipv4_mapped", None) or at
    if at.is_loopback or at.is_link_local or at.is_unspecified:
        return True
    with socket.socket(family, socket.SOCK_DGRAM) as own:
        try:
            own.bind((address, 0))
        except OSError:
            return False
    return True


def _relay(client: socket.socket, server: socket.socket) -> None:
    client.settimeout(None)
    server.settimeout(None)
    other = {client: server, server: client}
    while other:
        ready, _, _ = select.select(list(other), [], [])
        for each in ready:
            data = each.recv(BLOCK)
            if data:
                (server if each is client else client).sendall(data)
                continue
            del other[each]
            (server if each is client else client).shutdown(socket.SHUT_WR)
            if each is server:
                return


def _refuse(client: socket.socket, status: str, why: str) -> None:
    body = f"{why}\n".encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    client.sendall(head.encode() + body)


if __name__ == "__main__":
    main()
