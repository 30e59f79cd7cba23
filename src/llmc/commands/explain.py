"""`llmc explain`: the state, the evidence with its age, every other signal, and what would move the worker next."""

from __future__ import annotations

import time
from argparse import Namespace
from dataclasses import asdict
from typing import Any

from llmc.app import App
from llmc.commands.acting import acting_for
from llmc.commands.result import Result
from llmc.commands.status import status_document
from llmc.core.classify import Screen, read_screen
from llmc.core.display import age, one_line
from llmc.core.outlook import outlook, reporting
from llmc.errors import LlmcError
from llmc.git.repository import status
from llmc.model import Worker
from llmc.observe.branches import work_ahead
from llmc.observe.troubles import all_troubles
from llmc.perform.diagnostics import latest_bundle
from llmc.site import Site
from llmc.store.patrol_file import read_report


def run(app: App, args: Namespace) -> Result:
    site = app.site()
    with acting_for(site, args.worker) as worker:
        signals = _signals(site, worker)
    moves = outlook(worker)
    wrong = all_troubles(site, site.ledger.load()).get(worker.name, ())
    bundle = latest_bundle(site.root, worker.name)
    missed = read_report(site.root.patrol_file).get("counts") or {}
    attention = _attention(site, worker)
    evidence = worker.evidence
    since = age(time.time() - evidence.at_unix)
    lines = [
        f"{worker.name} is {worker.status} (work {worker.work.value}, session {worker.session.value})",
        f"because: {evidence.signal}, {since} ago" + (f": {one_line(evidence.detail, 200)}" if evidence.detail else ""),
        "signals now:",
        *(f"  {name}: {reading}" for name, reading in signals.items()),
        *(["what is wrong:"] if wrong else []),
        *(f"  {each.what}; {each.do}" for each in wrong),
        *([f"last diagnostics: {bundle}"] if bundle else []),
        f"autonomy: {site.ledger.policy_of(worker.name).autonomy.value}{_resumable(worker)}",
        *([f"signals missed so far (all workers): {_counts(missed)}"] if any(missed.values()) else []),
        *_disagreement(attention),
        "what comes next:",
        *(f"  {move}" for move in moves),
    ]
    data = {
        "worker": worker.name,
        "status": worker.status,
        "work": worker.work.value,
        "session": worker.session.value,
        "evidence": asdict(evidence),
        "signals": dict(signals),
        "attention": attention,
        "next": list(moves),
        "troubles": [asdict(each) for each in wrong],
        "diagnostics": bundle,
        "patrol_counts": missed,
        "pending": [step.name for step in worker.pending],
    }
    return Result("\n".join(lines), data)


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
    return [
        f"they disagree: {attention['state']} by {attention['source']}, {age(attention['age_secs'] or 0)} ago, "
        f"but {against['state']} by {against['source']} since; the agent's own word counts"
    ]


def _signals(site: Site, worker: Worker) -> dict[str, str]:
    """Every signal's reading at this moment. What cannot be read says so."""
    readers = {"terminal": _terminal, "screen": _screen, "branch": _branch, "worktree": _worktree, "reports": _reports}
    found = {}
    for name, reader in readers.items():
        try:
            found[name] = reader(site, worker)
        except LlmcError as unknown:
            found[name] = f"unknown: {unknown.what}"
    return found


def _terminal(site: Site, worker: Worker) -> str:
    pane = site.tmux.panes().get(worker.session_id)
    if pane is None:
        return "no session"
    if pane.dead:
        return f"the process has ended (exit code {pane.exit_code}, signal {pane.exit_signal})"
    return f"runs (pid {pane.pid}, {one_line(pane.command, 40)}), {pane.attached} attached"


def _screen(site: Site, worker: Worker) -> str:
    pane = site.tmux.panes().get(worker.session_id)
    if pane is None or pane.dead:
        return "nothing to read"
    reading = read_screen(site.agent_of(worker).pack, Screen(site.tmux.capture(pane.id), pane.title))
    return (
        f"{reading.state}"
        + (f" ({reading.detail})" if reading.detail else "")
        + f", by the cue {reading.cue or 'none'}"
    )


def _branch(site: Site, worker: Worker) -> str:
    tip = work_ahead(site, worker)
    return f"work at {tip[:12]}" if tip else "no work ahead of the branch"


def _worktree(site: Site, worker: Worker) -> str:
    changes = len(status(site.git, worker.worktree_path))
    return f"{changes} uncommitted files" if changes else "clean"


def _reports(site: Site, worker: Worker) -> str:
    turn = {"open": "a turn is open", "over": "no turn is open", "unknown": "it is not known whether a turn is open"}
    agent = site.agent_of(worker)
    heard = reporting(worker, can_report=agent.reports_events, reports_start=agent.reports_start)
    return f"{heard}; {turn[worker.turn.value]}"
