"""What landings that were cut short, and other gits, have left in the user's repository."""

from __future__ import annotations

from llmc.config import Config
from llmc.core.landing.journal import Landing
from llmc.doctor.health import Answer, Found, SourceLock, Unknown
from llmc.git.land import place_of
from llmc.git.locks import locks_on
from llmc.git.runner import Git
from llmc.root import Root
from llmc.store.landing_journal import JournalBrokenError, LandingJournal
from llmc.store.lock import is_held

STAYS_SECS = 60.0
"""Hardly any git needs its lock for longer."""


def find_landings(root: Root) -> Answer[tuple[Landing, ...]]:
    """None while somebody lands work: what the journal says is in their hands then."""
    try:
        return Found(() if is_held(root.landing_lock) is not None else LandingJournal(root.landings).read())
    except JournalBrokenError as broken:
        return Unknown(broken.what, covered=True)


def find_source_locks(git: Git, config: Config) -> Answer[tuple[SourceLock, ...]]:
    repo = config.repo
    found = locks_on(git, place_of(git, repo.source, repo.branch), repo.branch)
    staying = (lock for lock in found if lock.age_secs > STAYS_SECS)
    return Found(tuple(SourceLock(lock.path, lock.age_secs, lock.holder) for lock in staying))
