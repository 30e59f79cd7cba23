"""Which workers there are, and what is watched of each: its reports and its branch."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from llmc.daemon.branches import watch_branch
from llmc.host.watch import Watch
from llmc.model import Worker
from llmc.root import Root
from llmc.store.spool import make_spool


class Roster:
    """`meet` and `part` hear of whoever is new or gone."""

    def __init__(self, root: Root, watch: Watch, meet: Callable[[str], None], part: Callable[[str], None]) -> None:
        self._root = root
        self._watch = watch
        self._meet = meet
        self._part = part
        self._made: dict[str, float] = {}
        """Each worker, and when it was made: a new one may have the name of one that was removed."""

    @property
    def names(self) -> list[str]:
        return sorted(self._made)

    def update(self, workers: Mapping[str, Worker]) -> None:
        """Follows what commands did."""
        made = {name: worker.created_at_unix for name, worker in workers.items()}
        for name in [name for name, at in self._made.items() if made.get(name) != at]:
            del self._made[name]
            self._watch.forget(name)
            self._part(name)
        for name in made.keys() - self._made.keys():
            self._made[name] = made[name]
            spool = self._root.spool(name)
            make_spool(spool)
            self._watch.add(spool, name)
            watch_branch(self._root, self._watch, name)
            self._meet(name)
