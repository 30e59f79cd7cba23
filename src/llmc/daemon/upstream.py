"""Following the user's own branch: when it moves, work that waits for review is brought up to date."""

from __future__ import annotations

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
