"""`llmc status`. Runs every few seconds in status lines: imports next to nothing."""

from __future__ import annotations

import os
import time

from llmc.commands.shared.live_sessions import live_sessions
from llmc.core.display import plain
from llmc.core.screen.fusion import fuse, told_by_agent
from llmc.errors import LlmcError
from llmc.store.snapshot import (
    assessment_in,
    read_attention,
    read_checks,
    read_daemon_pid,
    read_landings,
    read_patrol,
    read_radar,
    read_state,
    read_statuses,
    read_tasks,
    read_train,
    read_usage,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from typing import Any

    from llmc.app import App
    from llmc.commands.shared.result import Result
    from llmc.core.screen.assessment import Assessment
    from llmc.root import Root

NO_ATTENTION = {
    "state": "UNKNOWN",
    "detail": None,
    "confidence": 0.0,
    "source": "none",
    "age_secs": None,
    "disagreement": None,
}
NOT_SHOWN = frozenset(("kept_reports", "sent", "leftover"))
"""The daemon's own bookkeeping."""
ENDS_DIALOG = ("command.answer", "session.ready")
"""A dialog that was seen before one of these is gone."""
TASK_KINDS = ("queued", "held", "failed", "cancelled", "landed")
TASK_SHOWN = ("id", "title", "state", "after", "priority")
WATCH_SECS = 2.0
"""Ages grow even if nothing happens."""


def status_document(root: Root) -> dict[str, Any]:
    """What INTERFACE.md calls `llmc status --json`."""
    state = read_state(root.path)
    pid = read_daemon_pid(root.daemon_lock)
    live = live_sessions(root) if pid is None else None
    reported = read_attention(root.inside("run", "attention"))
    seen = read_statuses(root.terminals)
    patrol = read_patrol(root.patrol_file)
    checks = read_checks(root.checks)
    now = time.time()
    usage = read_usage(root.usage_mark)
    conflicts = _conflicts(read_radar(root.radar_file), now)
    tasks = read_tasks(root.tasks_mark)
    requests = {each["id"]: each.get("request") for each in tasks.get("given", ())}
    workers = [
        _worker(worker, live, _fused(worker, reported.get(name), seen.get(name, {}), now), now)
        for name, worker in state["workers"].items()
    ]
    for worker in workers:
        worker["asked"] = _asked(worker, seen.get(worker["name"], {}))
        if worker["status"] == "idle" and worker["asked"] and worker["attention"]["state"] == "NEEDS_CONFIRMATION":
            worker["status"] = "needs_input"  # whoever stands in front of a dialog takes no task
        worker["conflicts"] = conflicts.get(worker["name"])
        worker["checks"] = _checks(worker, checks.get(worker["name"], {}), pid is not None)
        worker["usage"] = _usage(worker, usage)
        worker["troubles"] = _troubles(worker, patrol)
        worker["request"] = requests.get(worker["task"]) or None
    machines = _with_machines(root, workers, now, heeded=pid is not None)
    return {
        "schema": 1,
        "root": root.path,
        "daemon": {"running": pid is not None, "pid": pid},
        "branch": _branch(root),
        "last_reviewed_worker": state.get("last_reviewed_worker"),
        "patrol_last_run_unix": state.get("patrol_last_run_unix"),
        "patrol": {key: patrol.get(key) for key in ("last_run_unix", "took_secs", "repaired", "counts", "runs")},
        "landings": [_landing(each) for each in read_landings(root.landings, root.landing_lock)],
        "train": read_train(root.train_mark),
        "machines": machines,
        "workers": workers,
        **_tasks(tasks, workers),
    }


def _with_machines(root: Root, workers: list[dict[str, Any]], now: float, *, heeded: bool) -> list[dict[str, Any]]:
    """What is known of other machines; their workers join those that run here."""
    if not os.path.exists(root.machines):
        return []
    from llmc.fleet.known import machines_told, read_known, workers_told

    known = read_known(root)
    workers += workers_told(known, {worker["name"] for worker in workers}, now, heeded=heeded)
    return machines_told(known, now, heeded=heeded)


def _tasks(known: dict[str, Any], workers: list[dict[str, Any]]) -> dict[str, Any]:
    """Those that no worker has: the first of them by name, and how many there are of each kind."""
    held = {worker["task"] for worker in workers}
    given = [each for each in known.get("given", ()) if each["id"] not in held]
    adrift = [_away(each) if each.get("machine") else _adrift(each) for each in given]
    waiting = [_task(each) for each in known.get("open", ()) if each["id"] not in held]
    counts = {key: known.get("counts", {}).get(key, 0) for key in TASK_KINDS}
    for each in [*known.get("given", ()), *known.get("open", ())]:
        counts[each["state"]] -= each["id"] in held or bool(each["given_to"])
    counts["failed"] += sum(each["state"] == "failed" for each in adrift)
    return {"tasks": [*waiting, *adrift], "task_counts": counts}


def _task(known: dict[str, Any]) -> dict[str, Any]:
    return {**{key: known.get(key) for key in TASK_SHOWN}, "reason": known.get("reason") or None}


def _adrift(known: dict[str, Any]) -> dict[str, Any]:
    why = f"{known['given_to']} had it, and its record names it no longer"
    return {**_task(known), "state": "failed", "reason": why}


def _away(known: dict[str, Any]) -> dict[str, Any]:
    """Its machine has not told yet that a worker there has it."""
    why = f"is given to {known['given_to']} on {known['machine']}"
    return {**_task(known), "state": "assigned", "reason": why}


def _landing(found: dict[str, Any]) -> dict[str, Any]:
    return {key: found.get(key) for key in ("branch", "checkout", "source", "workers", "title", "begun_unix")}


def _branch(root: Root) -> str | None:
    """The branch that work lands on, as the clone has it: reading TOML would take longer than all the rest."""
    try:
        with open(os.path.join(root.git_dir, "refs/remotes/origin/HEAD"), encoding="utf-8") as head:
            return head.read().strip().removeprefix("ref: refs/remotes/origin/")
    except OSError:
        return None


def _worker(worker: dict[str, Any], live: set[str] | None, attention: Assessment | None, now: float) -> dict[str, Any]:
    session = worker["session"]
    if live is not None and session in ("up", "starting") and worker["session_id"] not in live:
        session = "down"
    shown = {field: value for field, value in worker.items() if field not in NOT_SHOWN}
    shown["session"] = session
    shown["status"] = _status_of(worker["work"], session, worker.get("start_dialog") or "")
    shown["task"] = worker.get("task") or None
    shown["last_words"] = worker.get("last_words") or None
    shown["machine"] = shown["request"] = None  # there all the same for scripts
    shown["attention"] = _attention(attention, session, now)
    return shown


def _status_of(work: str, session: str, start_dialog: str) -> str:
    # The same words as `model.status_of`, which would cost more to import than everything here.
    if session == "starting" and start_dialog:
        return "needs_input"
    return "offline" if session in ("down", "crashed") and work != "error" else work


def _fused(worker: dict[str, Any], reported: Assessment | None, seen: dict[str, Any], now: float) -> Assessment | None:
    hook = reported if worker.get("reports_events", True) else None
    told = told_by_agent(hook, assessment_in(seen.get("session")))
    return fuse(told, assessment_in(seen.get("screen")), now)


def _attention(attention: Assessment | None, session: str, now: float) -> dict[str, Any]:
    if attention is None or session not in ("up", "starting"):
        return dict(NO_ATTENTION)
    against = attention.get("disagreement")
    return {**_aged(attention, now), "disagreement": None if against is None else _aged(against, now)}


def _asked(worker: dict[str, Any], seen: dict[str, Any]) -> dict[str, Any] | None:
    """The dialog that is open, as the daemon last saw it; without a daemon, what stood in the way of the start."""
    if worker["session"] not in ("up", "starting"):
        return None
    asked, evidence = seen.get("asked"), worker.get("evidence") or {}
    answered = evidence.get("signal") in ENDS_DIALOG
    if isinstance(asked, dict) and not (answered and evidence["at_unix"] > float(seen.get("last_polled_unix") or 0.0)):
        return asked
    waits = worker["status"] == "needs_input" and worker["session"] == "starting"
    return {"id": None, "text": worker.get("start_dialog"), "options": []} if waits else None


def _aged(said: Assessment, now: float) -> dict[str, Any]:
    shown = {key: said.get(key) for key in ("state", "detail", "confidence", "source")}
    at = said.get("at_unix")
    return {**shown, "age_secs": round(max(0.0, now - at), 1) if isinstance(at, int | float) else None}


def _conflicts(radar: dict[str, Any] | None, now: float) -> dict[str, dict[str, Any]]:
    """Where each worker's work will conflict, as the daemon last saw it; nothing of those that nobody has looked at."""
    if radar is None:
        return {}
    found: dict[str, dict[str, Any]] = {
        name: {
            "with_branch": [file["path"] for file in seen["with_branch"]],
            "with_workers": {},
            "age_secs": round(max(0.0, now - seen["at_unix"]), 1),
        }
        for name, seen in radar["workers"].items()
    }
    for pair in radar["with_each_other"]:
        one, other = pair["workers"]
        files = [file["path"] for file in pair["files"]]
        found[one]["with_workers"][other] = found[other]["with_workers"][one] = files
    return found


def _checks(worker: dict[str, Any], seen: dict[str, Any], daemon: bool) -> dict[str, Any]:
    """Of the work as it is now; what was running when a daemon ended runs no longer."""
    state = seen.get("state") if worker["work"] == "needs_review" and seen.get("commit") == worker["commit_sha"] else ""
    if state not in ("passed", "failed") and not (state == "running" and daemon):
        return {"state": "none", "failed": None, "at_unix": None}
    return {"state": state, "failed": seen.get("failed") or None, "at_unix": seen.get("at_unix")}


def _usage(worker: dict[str, Any], usage: dict[str, Any]) -> dict[str, Any] | None:
    """All that the worker has spent, and on its present task; None where nothing is known of it."""
    spent = usage.get("workers", {}).get(worker["name"])
    return None if spent is None else {**spent, "task": usage.get("tasks", {}).get(worker["task"])}


def _troubles(worker: dict[str, Any], patrol: dict[str, Any]) -> list[Any]:
    """What the last patrol said of the worker, unless something has happened to it since."""
    found = (patrol.get("troubles") or {}).get(worker["name"]) or []
    since = float(patrol.get("last_run_unix") or 0.0) + float(patrol.get("took_secs") or 0.0)
    return found if float(worker.get("last_activity_unix") or 0.0) <= since else []


def run(app: App, args: Namespace) -> Result:
    """The long way, for `--watch`, `--all`, words in another order, and to say what is wrong with the state."""
    from llmc.commands.shared.result import Result
    from llmc.store.state_file import StateFile

    if args.all:
        from llmc.roots import known_roots

        roots = known_roots(app.environ)
    else:
        roots = [app.root()]
        StateFile(roots[0].path).load()
    if args.watch:
        _watch(app, roots, args)
    text, document = _answer(app, roots, args)
    return Result(text, document, coloured=not args.short)


def _answer(app: App, roots: list[Root], args: Namespace) -> tuple[str, dict[str, Any]]:
    if not args.all:
        if os.path.exists(roots[0].machines) and not args.short:
            from llmc.fleet.looking import look_round

            look_round(app.site())
        document = status_document(roots[0])
        return _shown(app, document, args), document
    from llmc.root import with_root

    documents = [_document_or_error(root) for root in roots]
    texts = [each["error"] if "error" in each else _shown(app, each, args) for each in documents]
    shown = (with_root(text, each["root"]) for text, each in zip(texts, documents, strict=True))
    return ("\n" if args.short else "\n\n").join(shown), {"schema": 1, "roots": documents}


def _shown(app: App, document: dict[str, Any], args: Namespace) -> str:
    from llmc.commands.shared.status_view import status_short, status_text

    return status_short(document) if args.short else status_text(document, app.console.columns, app.console.paint)


def _document_or_error(root: Root) -> dict[str, Any]:
    """One root that is broken does not hide the others."""
    try:
        return status_document(root)
    except (LlmcError, OSError, ValueError) as broken:
        return {
            "root": root.path,
            "error": plain(f"{root.path} cannot be read: {broken}; `llmc doctor` there says more"),
        }


def _watch(app: App, roots: list[Root], args: Namespace) -> None:
    """Until the person has seen enough (Ctrl-C)."""
    import json

    from llmc.commands.shared.bell import Bell
    from llmc.host.watch import open_watch, wait_for_change

    watch = open_watch()
    for root in roots:
        for path in (root.path, root.inside("run"), root.inside("run", "attention"), root.terminals):
            watch.add(path, "status", frozenset())
    bells = [Bell(root) for root in roots]
    while True:
        text, document = _answer(app, roots, args)
        documents = document["roots"] if args.all else [document]
        if sum(bell.rings_for(each) for bell, each in zip(bells, documents, strict=True)):
            app.console.ring()
        if args.json:
            app.console.print(json.dumps(document))
        else:
            app.console.show(text)
        wait_for_change(watch, WATCH_SECS)
