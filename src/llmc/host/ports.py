"""TCP ports of this machine."""

from __future__ import annotations

import socket


def is_free(port: int) -> bool:
    """Whether a server could listen there now, for everybody who may ask for it."""
    both = socket.has_dualstack_ipv6()
    family = socket.AF_INET6 if both else socket.AF_INET
    try:
        socket.create_server(("", port), family=family, dualstack_ipv6=both).close()
    except OSError:
        return False
    return True
