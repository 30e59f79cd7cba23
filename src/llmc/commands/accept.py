"""`llmc accept`: reviewed work becomes one commit on the branch."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from dataclasses import asdict, replace

from llmc.app import App
from llmc.care.acting import acting_for, newest_tip
from llmc.care.up_to_date import bring_all_up_to_date
from llmc.commands.shared.landing_notes import landing_notes, left_out_of
from llmc.commands.shared.result import Result
from llmc.commands.shared.which_workers import reviewed_or_named
from llmc.core.delivery.texts import check_text
from llmc.core.landing.commit_message import first_line
from llmc.core.landing.plan import AcceptPlan, MakeCommit
from llmc.core.lifecycle import events as ev
from llmc.core.lifecycle.effects import MergeWork
from llmc.daemon.process import running_daemon
from llmc.errors import InvalidUsageError, LlmcError
from llmc.git.clone import peek_source
from llmc.model import Work, Worker
from llmc.perform.accept import plan_for
from llmc.perform.steps import decide_and_run
from llmc.site import Site


def run(app: App, args: Namespace) -> Result:
    site = app.site()
    if args.message is not None:
        check_text(args.message)
    names = _waiting(site, args) if args.all else [reviewed_or_named(site, each) for each in _named_once(args)]
    if len(names) > 1 and (args.message is not None or args.tree is not None):
        what = "message cannot be that of several commits" if args.tree is None else "tree cannot be that of several"
        raise InvalidUsageError(f"one {what}", "accept them one by one")
    wanted = MergeWork(args.message, args.changed, args.tree)
    act = _foresee if args.dry_run else _accept
    result = act(site, names[0], wanted) if len(names) == 1 else _all(act, site, names, wanted)
    if args.dry_run or running_daemon(site.root) is not None:
        return result  # a daemon lets the others follow the branch by itself
    return _with_notes(result, bring_all_up_to_date(site))


def _named_once(args: Namespace) -> list[str | None]:
    return list(dict.fromkeys(args.names or [None]))


def _waiting(site: Site, args: Namespace) -> list[str]:
    if args.names:
        raise InvalidUsageError("workers are named, and all of them", "give either names or --all")
    waiting = [worker for worker in site.ledger.load().workers.values() if worker.work is Work.NEEDS_REVIEW]
    unseen = [worker.name for worker in waiting if worker.reviewed is None]
    if not waiting:
        raise LlmcError("no work waits for review", "see `llmc status`")
    if unseen:
        raise LlmcError(
            f"nobody has reviewed the work of {', '.join(unseen)}; nothing was merged",
            f"look at it first (`llmc review {unseen[0]}`), or name whom you accept all the same",
        )
    return [worker.name for worker in waiting]


def _accept(site: Site, name: str, wanted: MergeWork) -> Result:
    with acting_for(site, name) as worker:
        tip = newest_tip(site)
        left_out = left_out_of(site, worker)
        settled = decide_and_run(
            site, name, ev.AcceptAsked(site.now(), wanted.message, wanted.changed, wanted.tree), tip
        )
    if settled.merged is None:
        raise settled.refusal or LlmcError(f"{name} was not accepted", f"see `llmc explain {name}`")
    merged, reviewed, branch = settled.merged.sha, settled.merged.reviewed, site.config.repo.branch
    args = ("show", "--no-patch", "--no-show-signature", "--format=%B", merged)
    landed = settled.merged.message or site.git.text(site.root.path, *args)
    after = landing_notes(site, worker, left_out, merged)
    told = {"worker": name, "commit": merged, "branch": branch, "message": landed, "reviewed": reviewed}
    result = Result(
        f"{name}: accepted as {merged[:12]} on {branch}: {first_line(landed)}",
        {**told, **asdict(after)},
    )
    notes = after.told(site.config.repo.source) + ([] if reviewed else [_unseen(worker)])
    notes += [] if settled.refusal is None else [f"it is merged, but the clean-up failed: {settled.refusal.what}"]
    return _with_notes(result, notes)


def _unseen(worker: Worker) -> str:
    if worker.reviewed is None:
        return f"{worker.name}'s work was accepted without a review"
    return f"{worker.name}'s work had changed since its review at {worker.reviewed.commit[:12]}"


def _all(act: Callable[[Site, str, MergeWork], Result], site: Site, names: list[str], wanted: MergeWork) -> Result:
    """One after the other; what is refused keeps nothing else from being accepted."""
    results = []
    for name in names:
        try:
            results.append(act(site, name, wanted))
        except LlmcError as refused:
            results.append(_refused(name, refused))
    data = [result.data for result in results]
    return Result("\n".join(result.text for result in results), data, max(result.exit_code for result in results))


def _refused(name: str, refused: LlmcError) -> Result:
    data = {"worker": name, "refusal": {"what": refused.what, "hint": refused.hint}}
    return Result(f"{name}: refused: {refused.what}\n  hint: {refused.hint}", data, refused.exit_code)


def _with_notes(result: Result, notes: list[str]) -> Result:
    return replace(result, text="\n".join([result.text, *(f"note: {note}" for note in notes)]))


# --- --dry-run --------------------------------------------------------------------------------------


def _foresee(site: Site, name: str, wanted: MergeWork) -> Result:
    with acting_for(site, name, looks_only=True) as worker:
        tip = peek_source(site.git, site.config.repo.source, site.root.path, site.config.repo.branch)
        plan = plan_for(site, worker, tip, wanted)
    return Result(_told(plan), _as_data(plan), exit_code=0 if plan.obstacle is None else 1)


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
