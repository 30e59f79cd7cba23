"""How an entry leaves the merge train: in the table, the log, the history of its task, and for whoever waits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from llmc.core.notice import plain_notice
from llmc.core.tasks.task import Standing
from llmc.core.tasks.train import EntryState, TrainEntry
from llmc.errors import LlmcError
from llmc.git.repository import forget_refs
from llmc.git.stack import REFS
from llmc.perform.notices import call
from llmc.site import Site
from llmc.store.tasks import TaskEvent
from llmc.values import Value

KIND = "train"
"""Of what is noted with workers and tasks."""


class TrainEndings(Value):
    site: Site
    told: Callable[[TrainEntry], None]
    """Hears of every entry that is over."""

    def settle(self, entry: TrainEntry, why: str) -> None:
        """It has landed, by somebody who could not say so any more, or it never will."""
        sha = self._landed_as(entry)
        if sha is None:
            self.leave(entry, LlmcError(f"{why}; it has left the train", f"see `llmc explain {entry.worker}`"))
        else:
            branch = self.site.config.repo.branch
            data = {"worker": entry.worker, "commit": sha, "branch": branch}
            self.land(entry, sha, f"{entry.worker}: accepted as {sha[:12]} on {branch}", data)

    def _landed_as(self, entry: TrainEntry) -> str | None:
        task = self.site.ledger.tasks.named([entry.task] if entry.task else []).get(entry.task)
        if task is not None:
            return task.landed_sha if task.standing is Standing.LANDED else None
        last = self.site.ledger.events.latest(entry.worker, "WorkMerged")
        sha = last.data.get("landed") if last is not None and last.at_unix >= entry.at_unix else None
        return str(sha) if sha else None

    def land(self, entry: TrainEntry, sha: str, text: str, data: Mapping[str, object]) -> None:
        self._end(entry, EntryState.LANDED, sha[:12], {"text": text, "data": data})

    def leave(self, entry: TrainEntry, why: LlmcError) -> None:
        first = why.what.partition("\n")[0]
        self._end(entry, EntryState.LEFT, first, {"what": why.what, "hint": why.hint})
        self._call(entry, f"{entry.worker} did not land: {first}; {why.hint}")

    def send_back(self, entry: TrainEntry, words: str) -> None:
        hint = "it is back with its agent, and comes for review again"
        self._end(entry, EntryState.SENT_BACK, words, {"what": words, "hint": hint})
        self._call(entry, f"{entry.worker} was sent back: {words}")

    def note(self, entry: TrainEntry, words: str) -> None:
        site = self.site
        if entry.worker in site.ledger.load().workers:
            site.ledger.note(entry.worker, site.now(), KIND, words)
        if entry.task:
            site.ledger.tasks.note(entry.task, TaskEvent(site.now(), KIND, entry.worker, words))

    def _end(self, entry: TrainEntry, state: EntryState, detail: str, result: Mapping[str, object]) -> None:
        site = self.site
        if site.ledger.tasks.train.change(entry, state, detail, result):
            self.note(entry, f"{state.value}: {detail}")
            self.told(replace(entry, state=state, detail=detail, result=result))
        forget_refs(site.git, site.root.path, f"{REFS}{entry.worker}")

    def _call(self, entry: TrainEntry, words: str) -> None:
        call(self.site, plain_notice(entry.worker, KIND, words))
