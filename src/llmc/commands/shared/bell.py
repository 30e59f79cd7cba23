"""When a person who watches the status is called: somebody waits for them who did not wait before."""

from __future__ import annotations

from typing import Any

from llmc.config.load import load_config
from llmc.core.board.board import WAITS_FOR_PERSON
from llmc.errors import LlmcError
from llmc.root import Root


class Bell:
    """As the settings of the root have it."""

    def __init__(self, root: Root) -> None:
        self._waiting: set[str] | None = None
        self._silent = _silent_statuses(root)

    def rings_for(self, document: dict[str, Any]) -> bool:
        """Not for those who waited already when the person began to watch."""
        calls = set(WAITS_FOR_PERSON) - self._silent
        workers = [(each["name"], each["status"]) for each in document.get("workers", ())]
        waiting = {f"{name} {status}" for name, status in workers if status in calls}
        before, self._waiting = self._waiting, waiting
        return before is not None and bool(waiting - before)


def _silent_statuses(root: Root) -> set[str]:
    try:
        config = load_config(root.config_file)
    except LlmcError:
        return set()  # what is wrong with it is told elsewhere
    if not config.notify.bell:
        return set(WAITS_FOR_PERSON)
    return set() if config.defaults.sound_on_review else {"needs_review"}
