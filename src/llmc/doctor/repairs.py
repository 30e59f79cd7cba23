"""A repair: what is done about a finding, in which order, with what, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from enum import IntEnum, auto
from types import MappingProxyType

from llmc.errors import LlmcError, system_hint, system_words
from llmc.host.base import Host
from llmc.model import State, Worker
from llmc.root import Root
from llmc.site import Site
from llmc.store.event_log import EventLog, LoggedEvent
from llmc.values import Value


class RepairStage(IntEnum):
    """What others need comes first."""

    ACCESS = auto()
    """Touches nothing that could be lost; without it a copy may be impossible."""
    REPOSITORY = auto()
    STATE = auto()
    WORKTREES = auto()
    ORPHANS = auto()
    SESSIONS = auto()
    REPORTS = auto()
    STEPS = auto()
    WORKERS = auto()
    RECORDS = auto()


class Fix(Value):
    """How one kind of finding is repaired; words in braces are filled in for the finding at hand."""

    do: str
    words: str
    stage: RepairStage
    carry_out: Callable[[RepairContext, Repair], str]
    """Says what it has done. What could be lost is kept first."""
    choose: Callable[[RepairContext, Repair], RepairChoice] | None = None
    """For one that can be made in more than one way."""
    all_at_once: bool = False
    """Once for all findings of this kind, because what is right for one may depend on the others."""


def fix(stage: RepairStage, do: str, words: str) -> Callable[[Callable[[RepairContext, Repair], str]], Fix]:
    """Makes a fix of the function that carries it out."""
    return lambda carry_out: Fix(do, words, stage, carry_out)


class Repair(Value):
    """One thing to do, and the words for it."""

    fix: Fix
    words: str
    worker: str | None = None
    subject: str = ""


class RepairChoice(Value):
    """The ways in which a repair can be made, for a person to choose from."""

    question: str
    ways: tuple[Fix, ...]
    usual: int
    editable: str = ""
    """A file that the person may rather put right in their editor."""


class RepairContext(Value):
    """What repairs are carried out with. A damaged root has no site yet: it is opened when a repair needs it."""

    root: Root
    host: Host
    now: float
    open_site: Callable[[], Site]

    @property
    def aside(self) -> str:
        return self.root.aside(self.now)

    @contextmanager
    def acting_for(self, repair: Repair) -> Iterator[tuple[Site, Worker]]:
        """The worker of the repair, with its lock held."""
        site = self.open_site()
        worker = site.worker(repair.worker or "")
        with site.lock_of(worker.name):
            yield site, worker


class Repaired(Value):
    """What came of a repair: done or not, in words."""

    repair: Repair
    done: bool
    words: str
    hint: str = ""


def carry_out(context: RepairContext, repair: Repair) -> Repaired:
    """Whatever goes wrong with one repair does not keep the others from being made."""
    try:
        words = repair.fix.carry_out(context, repair)
    except LlmcError as failure:
        return Repaired(repair, False, failure.what, failure.hint)
    except OSError as failure:
        return Repaired(repair, False, system_words(failure), system_hint(failure))
    with EventLog(context.root.event_log) as log:
        log.append(LoggedEvent(context.now, repair.worker or "", "repair", detail=f"{repair.words}: {words}"))
    return Repaired(repair, True, words)


def change_worker(site: Site, name: str, change: Callable[[Worker], Worker], why: str) -> None:
    """Changes a record past the lifecycle, which knows nothing of damage."""

    def changed(state: State) -> State:
        return replace(state, workers=MappingProxyType({**state.workers, name: change(state.workers[name])}))

    site.worker(name)
    site.ledger.state.transact(changed)
    site.ledger.note(name, site.now(), "repair", why)
