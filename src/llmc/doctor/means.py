"""What repairs are carried out with. A damaged root has no site yet: it is opened when a repair needs it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from types import MappingProxyType

from llmc.doctor.mending import Seen
from llmc.doctor.rebuild import Remains
from llmc.host.base import Host
from llmc.model import State, Worker
from llmc.root import Root
from llmc.site import Site


@dataclass(frozen=True, slots=True)
class Means:
    root: Root
    host: Host
    now: float
    open_site: Callable[[], Site]
    catch_up: Callable[[Site, str], object]
    """Takes in all that has happened to a worker. Its lock is held."""
    find_remains: Callable[[Site], dict[str, Remains]]
    find_remains_of: Callable[[Site, str], Remains]
    look_for_mending: Callable[[Site, State], dict[str, Seen]]

    @property
    def aside(self) -> str:
        return self.root.aside(self.now)


def change_worker(site: Site, name: str, change: Callable[[Worker], Worker], why: str) -> None:
    """Changes a record past the lifecycle, which knows nothing of damage."""

    def changed(state: State) -> State:
        return replace(state, workers=MappingProxyType({**state.workers, name: change(state.workers[name])}))

    site.worker(name)
    site.ledger.state.transact(changed)
    site.ledger.note(name, site.now(), "repair", why)
