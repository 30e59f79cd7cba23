"""What is known of conflicts to come: the daemon's account where it is current, else a look of our own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from llmc.care.acting import newest_tip
from llmc.core.landing.conflict_forecast import is_current
from llmc.errors import LlmcError
from llmc.observe.branches import upstream_tip
from llmc.observe.conflict_forecast import Radar, standings_of
from llmc.site import Site
from llmc.store.snapshot import read_daemon_pid, read_radar


def seen_by_daemon(site: Site) -> dict[str, Any] | None:
    """None as well when the daemon has yet to see somebody, or somebody's newest commit."""
    if read_daemon_pid(site.root.daemon_lock) is None:
        return None
    seen = read_radar(site.root.radar_file)
    if seen is None:
        return None
    return seen if is_current(seen, _newest_known(site), standings_of(site, site.ledger.load().workers)) else None


def _newest_known(site: Site) -> str | None:
    """The daemon's own account of a repository that cannot be reached just now is better than none."""
    with suppress(LlmcError):
        return newest_tip(site)
    return upstream_tip(site)


def look_now(site: Site) -> dict[str, Any]:
    with _radar(site) as radar:
        return radar.document(site)


def touched_now(site: Site) -> dict[str, list[str]]:
    """The files that each worker's work changes."""
    with _radar(site) as radar:
        return radar.touched()


@contextmanager
def _radar(site: Site) -> Iterator[Radar]:
    """It has looked at everybody."""
    newest_tip(site)
    radar = Radar(site.root.radar_store(str(os.getpid())))
    try:
        radar.look_at(site, site.ledger.load().workers)
        yield radar
    finally:
        radar.close(site)


def conflicts_to_come(site: Site, name: str) -> list[dict[str, Any]]:
    """With whom the worker's work will conflict, and in which files."""
    seen = seen_by_daemon(site) or look_now(site)
    return [
        {
            "worker": next(other for other in pair["workers"] if other != name),
            "files": [file["path"] for file in pair["files"]],
        }
        for pair in seen["with_each_other"]
        if name in pair["workers"]
    ]
