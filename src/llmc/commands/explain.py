"""`llmc explain`: the state, the evidence with its age, every other signal, and what would move the worker next.

It never waits: while somebody acts for the worker, what is there is told as it is.
"""

from __future__ import annotations

from argparse import Namespace
from dataclasses import asdict
from typing import Any

from llmc.app import App
from llmc.care.acting import catch_up_if_free
from llmc.commands.shared.result import Result
from llmc.commands.status import status_document
from llmc.core.display import age, one_line
from llmc.core.lifecycle.next_moves import outlook
from llmc.core.lifecycle.signal_words import SIGNAL_WORDS
from llmc.errors import LlmcError
from llmc.model import Work, Worker
from llmc.observe.explain_signals import read_signals
from llmc.observe.troubles import all_troubles
from llmc.perform.auto_confirm import KIND as AUTO_CONFIRM
from llmc.perform.auto_confirm import verdict_on
from llmc.perform.diagnostics import latest_bundle
from llmc.perform.landing import KIND as LANDING
from llmc.perform.programs import known_program
from llmc.perform.sessions import left_out
from llmc.site import Site
from llmc.store.check_files import WorkChecks, read_checks
from llmc.store.snapshot import read_patrol


def run(app: App, args: Namespace) -> Result:
    site = app.site()
    site.worker(args.worker)
    trouble = _catch_up(site, args.worker)
    worker, now, policy = site.worker(args.worker), site.now(), site.ledger.policy_of(args.worker)
    signals = read_signals(site, worker)
    checks = _checks(site, worker)
    moves = outlook(worker, now, policy, checks_fail=checks is not None and bool(checks.failed))
    wrong = all_troubles(site, site.ledger.load()).get(worker.name, ())
    bundle = latest_bundle(site.root, worker.name)
    missed = read_patrol(site.root.patrol_file).get("counts") or {}
    attention = _attention(site, worker)
    program = known_program(site.host, site.root, site.agent_of(worker))
    without = left_out(site, worker, program) if program is not None else ()
    lines = [
        *_state(worker, now),
        *([f"its latest news could not be taken in: {trouble}"] if trouble else []),
        "signals now:",
        *(f"  {name}: {reading}" for name, reading in signals.items()),
        *(["what is wrong:"] if wrong else []),
        *(f"  {each.what}; {each.do}" for each in wrong),
        *([f"last diagnostics: {bundle}"] if bundle else []),
        f"autonomy: {policy.autonomy.value}{_resumable(worker)}",
        *([f"signals missed so far (all workers): {_counts(missed)}"] if any(missed.values()) else []),
        *([f"program: {worker.agent} {program.version or '(version unknown)'}"] if program is not None else []),
        *(f"started without {each}: the installed {worker.agent} does not know it" for each in without),
        *_disagreement(attention),
        *_confirmations(site, worker, now),
        *([_checked(checks, now)] if checks is not None else []),
        *_landing(site, worker, now),
        "what comes next:",
        *(f"  {move}" for move in moves),
    ]
    troubles = [asdict(each) for each in wrong]
    more = {"attention": attention, "troubles": troubles, "diagnostics": bundle, "patrol_counts": missed}
    about = {"version": program.version or None if program is not None else None, "left_out": list(without)}
    return Result("\n".join(lines), {**_data(worker, signals, moves), **more, "program": about})


def _catch_up(site: Site, name: str) -> str:
    """What kept us from it: a disk or a tmux that fails is a reason to explain all the more."""
    try:
        catch_up_if_free(site, name)
    except LlmcError as failure:
        return failure.what
    return ""


def _state(worker: Worker, now: float) -> list[str]:
    evidence = worker.evidence
    detail = f": {one_line(evidence.detail, 200)}" if evidence.detail else ""
    words = f" ({SIGNAL_WORDS[evidence.signal]})" if evidence.signal in SIGNAL_WORDS else ""
    lines = [
        f"{worker.name} is {worker.status} (work {worker.work.value}, session {worker.session.value})",
        f"because: {evidence.signal}{words}, {age(now - evidence.at_unix)} ago{detail}",
    ]
    if worker.current_prompt:
        number = f"{worker.task} " if worker.task else ""
        lines.append(f"task: {number}{one_line(worker.current_prompt, 100)}")
    if worker.resume_work is not None:
        lines.append(f"after that: {worker.resume_work.value}")
    if worker.stopped_by_user:
        lines.append("it was stopped on purpose")
    return lines


def _resumable(worker: Worker) -> str:
    return f"; its conversation can be resumed ({worker.conversation})" if worker.conversation else ""


def _counts(missed: dict[str, int]) -> str:
    return ", ".join(f"{kind} {count}" for kind, count in missed.items() if count)


def _attention(site: Site, worker: Worker) -> dict[str, Any]:
    workers = status_document(site.root)["workers"]
    return dict(next(each["attention"] for each in workers if each["name"] == worker.name))


def _disagreement(attention: dict[str, Any]) -> list[str]:
    against = attention["disagreement"]
    if against is None:
        return []
    told, since = (attention, against) if against["source"] == "screen" else (against, attention)
    counts = "the agent's own word counts" if told is attention else "the screen counts: it is newer, and at rest"
    return [
        f"they disagree: {told['state']} by {told['source']}, {age(told['age_secs'] or 0)} ago, "
        f"but {since['state']} by {since['source']} since; {counts}"
    ]


def _confirmations(site: Site, worker: Worker, now: float) -> list[str]:
    """What was answered unasked, and why the dialog that is open now is not."""
    last, verdict = site.ledger.events.latest(worker.name, AUTO_CONFIRM), verdict_on(site, worker)
    answered = [f"answered unasked, {age(now - last.at_unix)} ago: {one_line(last.detail, 200)}"] if last else []
    refused = [f"not answered unasked: {verdict.refusal}"] if verdict is not None and verdict.refusal else []
    return answered + refused


def _checks(site: Site, worker: Worker) -> WorkChecks | None:
    """Of its work as it is now."""
    seen = read_checks(site.root.checks_file(worker.name))
    return seen if seen.commit == worker.commit_sha and worker.work is Work.NEEDS_REVIEW else None


def _checked(seen: WorkChecks, now: float) -> str:
    words = seen.problem or (f"`{seen.failed}` failed" if seen.failed else seen.state)
    return f"checks: {one_line(words, 200)}, {age(now - seen.at_unix)} ago"


def _landing(site: Site, worker: Worker, now: float) -> list[str]:
    last = site.ledger.events.latest(worker.name, LANDING)
    return [f"{age(now - last.at_unix)} ago: {last.detail}"] if last else []


def _data(worker: Worker, signals: dict[str, str], moves: tuple[str, ...]) -> dict[str, object]:
    return {
        "worker": worker.name,
        "task": worker.task or None,
        "status": worker.status,
        "work": worker.work.value,
        "session": worker.session.value,
        "turn": worker.turn.value,
        "resume_work": worker.resume_work.value if worker.resume_work is not None else None,
        "evidence": asdict(worker.evidence),
        "signals": signals,
        "next": list(moves),
        "pending": [step.name for step in worker.pending],
        "timers": dict(worker.timers),
    }
