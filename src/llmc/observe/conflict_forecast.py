"""Who will conflict with whom, before anybody rebases: by merging what the workers have now, in memory.

Every worker's present work is first merged with the branch, as if it landed now. What comes of that is what the
others would meet, so two workers are compared by merging these results.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from llmc.core.landing.conflict_forecast import (
    Document,
    FileClash,
    ForecastStanding,
    Seen,
    Touched,
    may_clash,
    radar_document,
)
from llmc.errors import LlmcError
from llmc.git.history import is_ancestor
from llmc.git.merge_tree import Merge, merge_in_memory
from llmc.git.repository import heads, list_worktrees
from llmc.git.scratch_objects import ThrowAwayStore, open_store
from llmc.git.worktree_commit import changes_between, commit_tree, present_commit
from llmc.model import Worker
from llmc.observe.branches import upstream_tip
from llmc.site import Site

LOOKS_KEPT = 500
"""After so many looks the store begins afresh: what the earlier ones wrote is of no use any more."""


class Radar:
    """Remembers what it saw, so that only workers whose work has changed are looked at again."""

    def __init__(self, place: str) -> None:
        self._place = place
        self._store: ThrowAwayStore | None = None
        self._looks = 0
        self.stopped = False
        """Set from another thread: nobody waits for the rest any more."""
        self._upstream: str | None = None
        self._seen: dict[str, Seen] = {}
        self._landed: dict[str, str] = {}
        self._pairs: dict[tuple[str, str], tuple[FileClash, ...]] = {}

    def look_at(self, site: Site, names: Iterable[str]) -> None:
        """Looks at these workers; at all of them when the branch has moved."""
        workers = site.ledger.load().workers
        upstream, standings = upstream_tip(site), standings_of(site, workers)
        for gone in self._seen.keys() - workers.keys():
            self._forget(gone)
        if upstream is None:
            return
        wanted = set(names) & workers.keys()
        if self._store is None or upstream != self._upstream or self._looks > LOOKS_KEPT:
            wanted = set(workers)
            self._begin_afresh(site, upstream)
        for name in sorted(wanted):
            if self.stopped:
                return
            self._look(site, workers[name], standings[name])
        self._compare(site, wanted)

    def _begin_afresh(self, site: Site, upstream: str) -> None:
        self._store = open_store(site.git, site.root.path, self._place)
        self._upstream, self._looks = upstream, 0
        self._seen, self._landed, self._pairs = {}, {}, {}

    def _forget(self, name: str) -> None:
        self._seen.pop(name, None)
        self._landed.pop(name, None)
        self._pairs = {both: clashes for both, clashes in self._pairs.items() if name not in both}

    def _look(self, site: Site, worker: Worker, standing: ForecastStanding) -> None:
        self._forget(worker.name)
        self._looks += 1
        try:
            seen = self._see(site, worker)
        except LlmcError as unknown:
            seen = Seen(site.now(), unknown=unknown.what)
        self._seen[worker.name] = replace(seen, standing=standing)

    def _see(self, site: Site, worker: Worker) -> Seen:
        assert self._store is not None
        assert self._upstream is not None
        git, worktree, at = site.git, worker.worktree_path, site.now()
        now = present_commit(git, worktree, worker.branch, self._store, worker.name)
        if not now.uncommitted and is_ancestor(git, worktree, now.commit, self._upstream):
            return Seen(at)
        merged = merge_in_memory(git, worktree, self._upstream, now.commit, self._store.env())
        landed = commit_tree(git, worktree, merged.tree, self._upstream, self._store)
        changes = changes_between(git, worktree, self._upstream, landed, self._store)
        self._landed[worker.name] = landed
        touched = Touched(changes.added, changes.changed, changes.removed)
        return Seen(at, touched, now.uncommitted, _clashes(merged))

    def _compare(self, site: Site, changed: set[str]) -> None:
        assert self._store is not None
        for one in sorted(changed & self._landed.keys()):
            for other in sorted(self._landed.keys() - {one}):
                both = (min(one, other), max(one, other))
                if both in self._pairs or not may_clash(self._seen[one].touched, self._seen[other].touched):
                    continue
                first, second = (self._landed[name] for name in both)
                self._pairs[both] = _clashes(
                    merge_in_memory(site.git, site.root.path, first, second, self._store.env())
                )

    def document(self, site: Site) -> Document:
        return radar_document(site.config.repo.branch, self._upstream, self._seen, self._pairs, site.now())

    def touched(self) -> dict[str, list[str]]:
        """The files that each worker's work changes."""
        return {name: sorted(seen.touched.all) for name, seen in self._seen.items()}

    def close(self, site: Site) -> None:
        site.host.remove_tree(self._place)
        self._store = None


def standings_of(site: Site, workers: Mapping[str, Worker]) -> dict[str, ForecastStanding]:
    """Two questions for all of them."""
    tips = heads(site.git, site.root.path)
    checked_out = {site.host.real_path(each.path): each.head for each in list_worktrees(site.git, site.root.path)}
    return {
        name: ForecastStanding(checked_out.get(site.host.real_path(worker.worktree_path)), tips.get(worker.branch))
        for name, worker in workers.items()
    }


def _clashes(merged: Merge) -> tuple[FileClash, ...]:
    return tuple(FileClash(clash.path, clash.kind.value) for clash in merged.clashes)
