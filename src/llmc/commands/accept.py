"""`llmc accept`: reviewed work becomes one commit on the branch, several works by the merge train."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import asdict, replace

from llmc.app import App
from llmc.care.accepting import accept_work
from llmc.care.acting import acting_for
from llmc.care.up_to_date import bring_all_up_to_date
from llmc.commands.shared.elsewhere import elsewhere_of, place_elsewhere
from llmc.commands.shared.result import Result
from llmc.commands.shared.which_workers import reviewed_or_named
from llmc.core.delivery.texts import check_text
from llmc.core.landing.plan import AcceptPlan, MakeCommit
from llmc.core.lifecycle.effects import MergeWork
from llmc.core.tasks.train import EntryState
from llmc.daemon.process import running_daemon
from llmc.errors import InvalidUsageError, LlmcError
from llmc.git.clone import peek_source
from llmc.model import Work
from llmc.perform.accept import plan_for
from llmc.site import Site


def run(app: App, args: Namespace) -> Result:
    site = app.site()
    if args.message is not None:
        check_text(args.message)
    names = _waiting(site, args) if args.all else [_meant(site, each) for each in _named_once(args)]
    if len(names) > 1 and (args.message is not None or args.tree is not None):
        what = "message cannot be that of several commits" if args.tree is None else "tree cannot be that of several"
        raise InvalidUsageError(f"one {what}", "accept them one by one")
    wanted = MergeWork(args.message, args.changed, args.tree)
    elsewhere = [name for name in names if place_elsewhere(site, name) is not None]
    if args.dry_run:
        if elsewhere:
            return _foresee_elsewhere(site, names, wanted)
        return _foresee(site, names[0], wanted) if len(names) == 1 else _foresee_all(site, names, wanted)
    if args.queue or len(names) > 1:
        from llmc.commands.shared.by_train import accept_by_train  # loads all that runs checks

        result = accept_by_train(
            app, site, names, wanted, ordered=not args.all and len(names) > 1, waits=not args.queue
        )
    else:
        result = _accept(site, names[0], wanted, is_elsewhere=bool(elsewhere))
    if args.queue or running_daemon(site.root) is not None:
        return result  # a daemon lets the others follow the branch by itself
    notes = [f"note: {note}" for note in bring_all_up_to_date(site)]
    return replace(result, text="\n".join([result.text, *notes]))


def _meant(site: Site, name: str | None) -> str:
    wanted = site.ledger.load().last_reviewed_worker if name is None else name
    is_elsewhere = wanted is not None and place_elsewhere(site, wanted) is not None
    return wanted if wanted is not None and is_elsewhere else reviewed_or_named(site, name)


def _named_once(args: Namespace) -> list[str | None]:
    return list(dict.fromkeys(args.names or [None]))


def _waiting(site: Site, args: Namespace) -> list[str]:
    if args.names:
        raise InvalidUsageError("workers are named, and all of them", "give either names or --all")
    everybody = {**elsewhere_of(site).workers(), **site.ledger.load().workers}
    waiting = {name: worker for name, worker in everybody.items() if worker.work is Work.NEEDS_REVIEW}
    unseen = [name for name, worker in waiting.items() if worker.reviewed is None]
    if not waiting:
        raise LlmcError("no work waits for review", "see `llmc status`")
    if unseen:
        raise LlmcError(
            f"nobody has reviewed the work of {', '.join(unseen)}; nothing was merged",
            f"look at it first (`llmc review {unseen[0]}`), or name whom you accept all the same",
        )
    return [*waiting]


def _accept(site: Site, name: str, wanted: MergeWork, *, is_elsewhere: bool) -> Result:
    done = elsewhere_of(site).accept(name, wanted) if is_elsewhere else accept_work(site, name, wanted)
    train = site.ledger.tasks.train
    for entry in train.open():  # whoever waits for it there learns that it has landed
        if entry.worker == name:
            train.change(entry, EntryState.LANDED, f"as {done.sha[:12]}", {"text": done.text, "data": done.data})
    return Result(done.text, done.data)


def _foresee_elsewhere(site: Site, names: list[str], wanted: MergeWork) -> Result:
    """Each by itself, as its own machine sees it."""
    from llmc.fleet.calls import Calls

    results = []
    with Calls(site) as calls:
        for name in names:
            there = place_elsewhere(site, name)
            if there is None:
                results.append(_foresee(site, name, wanted))
            else:
                said = calls.look(there.machine, "accept", there.worker, "--dry-run", "--json")
                text = said.err.strip() or f"{name} on {there.machine}: it would land"
                results.append(Result(text, said.data, said.code))
    text = "\n".join(result.text for result in results)
    return Result(text, [result.data for result in results], max(result.exit_code for result in results))


# --- --dry-run --------------------------------------------------------------------------------------


def _foresee(site: Site, name: str, wanted: MergeWork) -> Result:
    with acting_for(site, name, looks_only=True) as worker:
        tip = peek_source(site.git, site.config.repo.source, site.root.path, site.config.repo.branch)
        plan = plan_for(site, worker, tip, wanted)
    return Result(_told(plan), _as_data(plan), exit_code=0 if plan.obstacle is None else 1)


def _foresee_all(site: Site, names: list[str], wanted: MergeWork) -> Result:
    """Each by itself, as if the others were not there."""
    results = [_foresee(site, name, wanted) for name in names]
    text = "\n".join(result.text for result in results)
    return Result(text, [result.data for result in results], max(result.exit_code for result in results))


def _told(plan: AcceptPlan) -> str:
    lines = [f"accepting {plan.worker} would do this; nothing was changed:"]
    for number, step in enumerate(plan.steps, 1):
        lines.append(f"{number:3}. {step.verb:9} {step.words}")
        if isinstance(step, MakeCommit):
            lines += [f"{'':15}| {line}".rstrip() for line in step.message.splitlines()]
    if plan.obstacle is not None:
        lines += [f"  -> refused: {plan.obstacle.what}", f"     hint: {plan.obstacle.hint}"]
    return "\n".join(lines)


def _as_data(plan: AcceptPlan) -> dict[str, object]:
    steps = [{"step": step.verb, "text": step.words, **asdict(step)} for step in plan.steps]
    refusal = asdict(plan.obstacle) if plan.obstacle is not None else None
    told = {"worker": plan.worker, "branch": plan.branch, "reviewed": plan.reviewed}
    return {**told, "steps": steps, "refusal": refusal}
