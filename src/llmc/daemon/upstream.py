"""Following the user's own branch: when it moves, work that waits for review is brought up to date."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from llmc.errors import LlmcError
from llmc.git.clone import fetch_source
from llmc.git.repository import common_dir
from llmc.host.watch import Watch
from llmc.site import Site

NAME = "*upstream*"
"""Not a worker: worker names begin with a letter."""


def watch_upstream(site: Site, watch: Watch) -> None:
    """Watches where git keeps the branch: its own file, and the file of packed branches."""
    try:
        directory = common_dir(site.git, site.config.repo.source)
    except LlmcError:
        return  # the doctor tells; the patrol looks again
    if directory is None:
        return
    parent, _, leaf = f"{directory}/refs/heads/{site.config.repo.branch}".rpartition("/")
    watch.add(parent, NAME, frozenset((leaf,)))
    watch.add(directory, NAME, frozenset(("packed-refs",)))


def fetch_upstream(site: Site) -> str:
    return fetch_source(site.git, site.config.repo.source, site.root.path, site.config.repo.branch)


class Upstream:
    """Fetches in a thread of the pool, one fetch at a time; whoever asks meanwhile gets another one after it."""

    def __init__(self, pool: ThreadPoolExecutor, look: Callable[[], str], wake: Callable[[], None]) -> None:
        self._pool = pool
        self._look = look
        self._wake = wake
        self._under_way: Future[str] | None = None
        self._again = False

    def fetch(self) -> None:
        self._again = self._under_way is not None
        if self._under_way is None:
            self._under_way = self._pool.submit(self._look)
            self._under_way.add_done_callback(lambda _: self._wake())

    def fetched(self) -> str | BaseException | None:
        """The tip of the branch, or why it is not known; None when there is no news."""
        if self._under_way is None or not self._under_way.done():
            return None
        done, self._under_way = self._under_way, None
        if self._again:
            self.fetch()
        return done.exception() or done.result()
