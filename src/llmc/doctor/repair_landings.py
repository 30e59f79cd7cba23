"""Repairs of what landings, and other gits, have left in the user's repository."""

from __future__ import annotations

from pathlib import Path

from llmc.doctor.means import Means
from llmc.doctor.repairs import Repair
from llmc.errors import LlmcError
from llmc.git.land import place_of
from llmc.git.locks import locks_on, remove_left
from llmc.perform.landing import LANDING, settle_landings, settled_words
from llmc.store.lock import FileLock


def settle_the_landings(means: Means, repair: Repair) -> str:
    site = means.open_site()
    with FileLock(means.root.landing_lock, name=LANDING):
        found = settle_landings(site)
    return "; ".join(settled_words(*each) for each in found) or "somebody else has settled it by now"


def remove_source_lock(means: Means, repair: Repair) -> str:
    site = means.open_site()
    repo = site.config.repo
    found = locks_on(site.git, place_of(site.git, repo.source, repo.branch), repo.branch)
    for lock in found:
        if lock.path == repair.subject:
            if not lock.is_left:
                raise LlmcError(f"{lock.holder or 'a git'} has it by now", "wait until it has ended, then repair again")
            remove_left(lock)
    return f"removed {Path(repair.subject).name}"
