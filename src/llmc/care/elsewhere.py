"""Workers of other machines, as far as the merge train needs them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Protocol

from llmc.care.accepting import Accepted
from llmc.core.lifecycle.effects import MergeWork
from llmc.core.tasks.train import TrainEntry
from llmc.model import Worker


class WorkersElsewhere(Protocol):
    def workers(self) -> Mapping[str, Worker]:
        """As their machines have told them last, by the names that they have here."""

    def head_ref(self, worker: str) -> str:
        """Where its work is in the clone here."""

    def checks_there(self, worker: str) -> bool:
        """Whether its machine checks what lands of it."""

    def entry(self, worker: str, wanted: MergeWork, *, ordered: bool) -> TrainEntry:
        """Raises what accept would refuse it for now. Its work is here then."""

    def accept(self, worker: str, wanted: MergeWork) -> Accepted:
        """Raises what refused it; then nothing has landed."""

    def send_back(self, worker: str, words: str) -> str:
        """Empty when its agent has it. Else why not."""


class NobodyElsewhere:
    """Of a root without machines."""

    def workers(self) -> Mapping[str, Worker]:
        return MappingProxyType({})

    def head_ref(self, worker: str) -> str:
        raise KeyError(worker)

    def checks_there(self, worker: str) -> bool:
        return False

    def entry(self, worker: str, wanted: MergeWork, *, ordered: bool) -> TrainEntry:
        raise KeyError(worker)

    def accept(self, worker: str, wanted: MergeWork) -> Accepted:
        raise KeyError(worker)

    def send_back(self, worker: str, words: str) -> str:
        raise KeyError(worker)


NOBODY_ELSEWHERE = NobodyElsewhere()
