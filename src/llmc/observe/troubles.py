"""Every worker's troubles at this moment."""

from __future__ import annotations

from llmc.core.lifecycle.troubles import Trouble, troubles
from llmc.model import State
from llmc.site import Site
from llmc.store.snapshot import read_attention


def all_troubles(site: Site, state: State) -> dict[str, tuple[Trouble, ...]]:
    """Only of those who have any."""
    readings = read_attention(site.root.inside("run", "attention"))
    now = site.now()
    found = {
        name: troubles(worker, _shown(readings.get(name)), site.ledger.policy_of(name), now)
        for name, worker in state.workers.items()
    }
    return {name: each for name, each in found.items() if each}


def _shown(reading: object) -> str | None:
    """What was read off the screen; what the agent reported about itself is known already."""
    if not isinstance(reading, dict) or reading.get("source") != "screen":
        return None
    return str(reading.get("state"))
