"""The names that the server answers to. Any other is how a page of somebody else would speak to it (DNS rebinding)."""

from __future__ import annotations

from ipaddress import ip_address

from llmc.values import Value

USUAL_PORTS = {"http": 80, "https": 443}


class Addresses(Value):
    """`names`: each with its port, in lower case."""

    scheme: str
    port: int
    names: frozenset[str]

    def answers_to(self, host: str, local_address: str = "") -> bool:
        """`local_address`: where the connection arrived; an address, unlike a name, cannot be made to lead here."""
        own = with_port(in_brackets(local_address), self.port) if local_address else ""
        return with_port(host.lower(), USUAL_PORTS[self.scheme]) in {*self.names, own}

    def is_own_page(self, origin: str, host: str) -> bool:
        """Whether this origin is that of our own pages, under the name by which they were asked for."""
        scheme, separator, name = origin.lower().partition("://")
        if not separator or scheme not in USUAL_PORTS:
            return False
        usual = USUAL_PORTS[scheme]
        return with_port(name, usual) == with_port(host.lower(), usual)


def addresses_of(scheme: str, bound: str, port: int, further: tuple[str, ...]) -> Addresses:
    own = ("localhost", "127.0.0.1", "[::1]", in_brackets(bound))
    return Addresses(scheme, port, frozenset(with_port(name.lower(), port) for name in (*own, *further)))


def with_port(name: str, port: int) -> str:
    has_port = name.rpartition(":")[2].isdecimal() and not name.endswith("]") and name.count(":") != 0
    return name if has_port else f"{name}:{port}"


def in_brackets(address: str) -> str:
    return f"[{address}]" if ":" in address else address


def is_loopback(address: str) -> bool:
    if address == "localhost":
        return True
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False
