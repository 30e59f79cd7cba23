"""How work comes into the merge train: accepted by a person, or by itself where that is wanted."""

from __future__ import annotations

from collections.abc import Iterator

from llmc.care.acting import acting_for, newest_tip
from llmc.care.elsewhere import NOBODY_ELSEWHERE, WorkersElsewhere
from llmc.core.landing.plan import InReview
from llmc.core.lifecycle.effects import MergeWork
from llmc.core.tasks.task import Task
from llmc.core.tasks.train import EntryState, TrainEntry
from llmc.errors import LlmcError
from llmc.host.locks import is_held
from llmc.model import Work, Worker
from llmc.perform.accept import NotMergedError, plan_for
from llmc.site import Site
from llmc.store.machine_file import read_membership, require_no_hub
from llmc.store.snapshot import read_radar

BUSY = "another command acts for it right now"


def entry_for(
    site: Site,
    name: str,
    wanted: MergeWork,
    *,
    ordered: bool = False,
    elsewhere: WorkersElsewhere = NOBODY_ELSEWHERE,
) -> TrainEntry:
    """Raises what accept would refuse it for now. It lands as it was reviewed, else as it is now, or not at all:
    whatever becomes of the work meanwhile, and who looks at that, nobody has accepted."""
    require_no_hub(site.root, "work lands there")
    if name not in site.ledger.load().workers and name in elsewhere.workers():
        return elsewhere.entry(name, wanted, ordered=ordered)
    with acting_for(site, name, looks_only=True) as worker:
        plan = plan_for(site, worker, newest_tip(site), wanted)
        if plan.obstacle is not None:
            raise NotMergedError(plan.obstacle.what, plan.obstacle.hint)
        head = next(step.commit for step in plan.steps if isinstance(step, InReview))
        (tree,) = site.git.objects(site.root.path, f"{head}^{{tree}}")
        seen = worker.reviewed.tree if worker.reviewed is not None and plan.reviewed else tree
    only = wanted.tree or seen
    return TrainEntry(
        name, worker.task, site.now(), wanted.message, wanted.changed, only, wanted.unattended, ordered=ordered
    )


def forecast(site: Site) -> set[frozenset[str]]:
    """The pairs whose works will conflict, as the daemon last saw them."""
    seen = read_radar(site.root.radar_file)
    return {frozenset(pair["workers"]) for pair in seen["with_each_other"]} if seen is not None else set()


def unattended(site: Site, elsewhere: WorkersElsewhere = NOBODY_ELSEWHERE) -> Iterator[TrainEntry | tuple[str, str]]:
    """Work that may land by itself; or the name of the worker, and why its work waits for a person."""
    if read_membership(site.root) is not None:
        return  # its hub does that
    for name, worker in {**elsewhere.workers(), **site.ledger.load().workers}.items():
        waits = worker.work is Work.NEEDS_REVIEW and _may_land(site, worker)
        if waits and not site.ledger.tasks.train.has(name):
            is_busy = is_held(site.root.worker_lock(name)) is not None
            yield (name, BUSY) if is_busy else _entry_or_why(site, worker, elsewhere)


def _may_land(site: Site, worker: Worker) -> bool:
    task = task_at(site, worker)
    if task is not None and task.auto_accept:
        return True
    return site.ledger.policy_of(worker.name).auto_accept and not waits_for_person(site, worker, task)


def task_at(site: Site, worker: Worker) -> Task | None:
    return site.ledger.tasks.named([worker.task] if worker.task else []).get(worker.task)


def waits_for_person(site: Site, worker: Worker, task: Task | None) -> bool:
    """What an agent has delegated, and what a supervisor itself has made, does not land unseen."""
    by_agents = (task is not None and task.asked_by) or site.config.worker(worker.name).role
    return bool(by_agents) and not site.config.mcp.auto_accept


def _entry_or_why(site: Site, worker: Worker, elsewhere: WorkersElsewhere) -> TrainEntry | tuple[str, str]:
    try:
        entry = entry_for(site, worker.name, MergeWork(unattended=True), elsewhere=elsewhere)
    except LlmcError as refused:
        return worker.name, refused.what.partition("\n")[0]
    before = site.ledger.tasks.train.of_task(worker.name, worker.task)
    again = next((each for each in before if each.tree == entry.tree), None)
    if again is None:
        return entry
    came = "was sent back" if again.state is EntryState.SENT_BACK else "left the train"
    why = f"it {came} with these changes already: {again.detail}; change it, or `llmc accept {worker.name}`"
    return worker.name, why
