"""Looks for changes in the person's checkout and in worktrees where nobody works, while unfenced agents do."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace

from llmc.core.tripwire import TripwireLook, WatchedPlace
from llmc.git.parse import decode
from llmc.git.repository import HEADS, toplevel
from llmc.git.runner import Git
from llmc.host.locks import is_held
from llmc.host.processes import who_works_in
from llmc.model import Session, Turn, Work, Worker
from llmc.site import Site

CHECKOUT = ""
"""Not a worker."""
_BUSY = (Work.WORKING, Work.REJECTED, Work.REBASING)


def look_for_trespasses(site: Site, since: float) -> TripwireLook:
    """Nothing is looked at where every agent has a fence: none of them gets anywhere."""
    workers = site.ledger.load().workers
    unfenced = {name for name in workers if not site.is_fenced(name)}
    at_work = frozenset(name for name in unfenced if _may_act(workers[name], since))
    if not unfenced:
        return TripwireLook({}, at_work)
    places = {CHECKOUT: _checkout(site, since)} if is_held(site.root.landing_lock) is None else {}
    others = {name: worker for name, worker in workers.items() if unfenced - {name}}
    places |= _worktrees(site, others, since)
    return TripwireLook(
        {at: replace(each, intruders=each.intruders & unfenced) for at, each in places.items()}, at_work
    )


def _may_act(worker: Worker, since: float) -> bool:
    """Or has done so since: a turn can be short."""
    busy = worker.turn is Turn.OPEN or (worker.work in _BUSY and worker.turn is Turn.UNKNOWN)
    was_busy = worker.evidence.signal.startswith("hook.") and worker.evidence.at_unix >= since
    return worker.session is Session.UP and (busy or was_busy)


def _checkout(site: Site, since: float) -> WatchedPlace:
    source = site.config.repo.source
    top = toplevel(site.git, source)
    refs = site.git.text(source, "for-each-ref", "--format=%(refname:short)%09%(objectname)", HEADS, "refs/tags/")
    files = _files(site.git, top) if top is not None else frozenset()
    person, agents = who_works_in(top or source, since)
    return WatchedPlace(frozenset(refs.splitlines()) | files, _stamp(site.root.landing_lock), True, person, agents)


def _worktrees(site: Site, workers: Mapping[str, Worker], since: float) -> dict[str, WatchedPlace]:
    found = {}
    for name, worker in workers.items():
        # Of an agent that reports nothing, and runs, nobody knows when it is at rest.
        at_rest = not worker.pending and (worker.turn is Turn.OVER or worker.session is not Session.UP)
        free = is_held(site.root.worker_lock(name)) is None
        if at_rest and free and site.host.is_dir(worker.worktree_path):
            last = site.ledger.events.recent(name, limit=1)
            person, agents = who_works_in(worker.worktree_path, since)
            content = _files(site.git, worker.worktree_path)
            found[name] = WatchedPlace(content, str(last[-1].id if last else 0), at_rest, person, agents - {name})
    return found


def _files(git: Git, top: str) -> frozenset[str]:
    """Those that git would show as changed or new, with what tells one state of them from the next."""
    asked = ("status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=normal", "--ignore-submodules=dirty")
    entries = decode(git.run(top, *asked).out).split("\0")
    return frozenset(f"{entry[3:]}\t{entry[:2]} {_stamp(os.path.join(top, entry[3:]))}" for entry in entries if entry)


def _stamp(path: str) -> str:
    try:
        seen = os.lstat(path)
    except OSError:
        return ""
    return f"{seen.st_mtime_ns} {seen.st_size} {seen.st_ino}"
