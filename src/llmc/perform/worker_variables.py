"""The variables that `[repo] env` and `[repo] ports` give to a worker's agent, to a setup and to checks."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice

from llmc.core.lifecycle.setup_events import PortsGiven
from llmc.errors import LlmcError
from llmc.model import Worker
from llmc.site import Site

FIRST_PORT = 20_000
PORTS = 12_000
"""Up to where systems begin with those that they give to outgoing connections."""
TURN_SECS = 10.0


class NoPortsError(LlmcError):
    """The machine has none left."""


def worker_variables(site: Site, worker: Worker) -> dict[str, str]:
    """The caller acts for the worker."""
    name = worker.name
    return variables_of(
        site,
        name,
        lambda: site.worker(name).ports,
        lambda ports: site.ledger.apply(name, PortsGiven(site.now(), ports)),
    )


def variables_of(
    site: Site, name: str, known: Callable[[], tuple[int, ...]], keep: Callable[[tuple[int, ...]], object]
) -> dict[str, str]:
    """Of a worker, or of a scratch worktree; `keep` remembers its ports, and `known` tells them."""
    own = known() if site.config.repo.ports else ()
    ports = enumerate(_ports(site, name, own, keep), 1)
    return {**site.config.repo.env, **{"LLMC_PORT" if n == 1 else f"LLMC_PORT_{n}": str(port) for n, port in ports}}


def _ports(site: Site, name: str, own: tuple[int, ...], keep: Callable[[tuple[int, ...]], object]) -> tuple[int, ...]:
    """The same each time; more of them only when the settings ask for more."""
    wanted = site.config.repo.ports
    if len(own) >= wanted:
        return own[:wanted]
    from llmc.roots import ports_lock, remember  # once for each worker

    environ = site.host.environ()
    remember(site.root, environ)  # so that other roots know of ours
    with site.host.alone(ports_lock(environ), TURN_SECS):
        own += tuple(islice(_free_ports(site, name), wanted - len(own)))
        if len(own) < wanted:
            raise NoPortsError(
                f"no {wanted} ports are free for {name}", "close programs that listen, or lower repo.ports"
            )
        keep(own)
    return own


def _free_ports(site: Site, name: str) -> Iterator[int]:
    """From a place of the worker's own on, so that it mostly gets the same ones when it is added again."""
    from llmc.host.ports import is_free

    start, taken = zlib.crc32(f"{site.root.path}/{name}".encode("utf-8", "surrogateescape")), _given(site)
    ports = (FIRST_PORT + (start + offset) % PORTS for offset in range(PORTS))
    return (port for port in ports if port not in taken and is_free(port))


def _given(site: Site) -> set[int]:
    """To all workers and scratch worktrees of all roots of this user."""
    from llmc.roots import known_roots
    from llmc.store.check_files import scratch_ports
    from llmc.store.snapshot import read_state

    given: set[int] = set()
    for path in {site.root.path, *(root.path for root in known_roots(site.host.environ()))}:
        with suppress(LlmcError, OSError):  # what cannot be read is told there
            given.update(scratch_ports(path))
            given.update(*(worker.get("ports") or () for worker in read_state(path)["workers"].values()))
    return given
