"""`llmc remote-propose`: what would land of a worker's work. A hub asks for it, and lands it there."""

from __future__ import annotations

from argparse import Namespace

from llmc.app import App
from llmc.care.acting import acting_for, newest_tip
from llmc.care.landing_notes import left_out_of
from llmc.care.train_entries import task_at, waits_for_person
from llmc.commands.shared.result import Result
from llmc.core.landing.plan import InReview, MakeCommit
from llmc.core.lifecycle.effects import MergeWork
from llmc.model import Worker
from llmc.perform.accept import NotMergedError, commit_of_work, plan_for
from llmc.perform.checks import ValidationFailedError, check_commit, failure_words, note_checked
from llmc.site import Site


def run(app: App, args: Namespace) -> Result:
    site = app.site()
    wanted = MergeWork(args.message, args.changed, args.tree)
    with acting_for(site, args.worker) as worker:
        if args.unattended and waits_for_person(site, worker, task_at(site, worker)):
            raise NotMergedError(
                f"an agent has delegated {worker.name}'s task, or is a supervisor itself: that does not land unseen",
                f"`llmc review {worker.name}`, then `llmc accept {worker.name}`",
            )
        tip = newest_tip(site)
        if tip != args.tip:
            return Result(f"the branch is at {tip[:12]} here, and at {args.tip[:12]} at the hub", {"at": tip}, 1)
        plan = plan_for(site, worker, tip, wanted)
        if plan.obstacle is not None:
            raise NotMergedError(plan.obstacle.what, plan.obstacle.hint)
        if args.check:
            _check(site, worker, tip, wanted)
        left_out = left_out_of(site, worker)
    made = next(step for step in plan.steps if isinstance(step, MakeCommit))
    head = next(step.commit for step in plan.steps if isinstance(step, InReview))
    data = {
        "worker": worker.name,
        "head": head,
        "base": worker.base_sha,
        "tree": made.tree,
        "message": made.message,
        "reviewed": plan.reviewed,
        "left_out": list(left_out),
    }
    return Result(f"{worker.name}: {head[:12]} would land", data)


def _check(site: Site, worker: Worker, tip: str, wanted: MergeWork) -> None:
    made, _ = commit_of_work(site, worker, tip, wanted, signed=False)
    verdict = check_commit(site, made)
    note_checked(site, worker, verdict)
    if verdict.failed is not None:
        raise ValidationFailedError(
            failure_words(verdict.failed), f"send the work back with `llmc reject {worker.name}`, or fix the check"
        )
