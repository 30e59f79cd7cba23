"""`llmc train`: the merge train, and taking part in how it goes on."""

from __future__ import annotations

import json
from argparse import Namespace

from llmc.app import App
from llmc.care.acting import acting_for
from llmc.care.train_entries import unattended
from llmc.commands.shared.elsewhere import place_elsewhere
from llmc.commands.shared.result import Result
from llmc.core.display import age, counted, plain
from llmc.core.tasks.train import TrainEntry
from llmc.daemon.process import running_daemon
from llmc.errors import InvalidUsageError, LlmcError
from llmc.host.locks import FileLock, is_held
from llmc.host.watch import open_watch, wait_for_change
from llmc.perform.accept import call_off
from llmc.site import Site
from llmc.store.train import told

ENDED_SHOWN = 10
WATCH_SECS = 2.0
DROPPED = "taken out by `llmc train drop`"


def run(app: App, args: Namespace) -> Result:
    site = app.site()
    if (args.action == "drop") != (args.worker is not None):
        raise InvalidUsageError("only `drop` takes a worker, and needs one", "`llmc train drop WORKER`")
    if args.action == "drop":
        return _drop(site, args.worker)
    if args.action != "show":
        site.ledger.tasks.train.pause(paused=args.action == "pause")
    if args.watch:
        _watch(app, site, args)
    return _answer(site)


def _drop(site: Site, name: str) -> Result:
    is_here = place_elsewhere(site, name) is None
    if is_here:
        site.worker(name)
    train, runs = site.ledger.tasks.train, FileLock(site.root.train_lock, name="the merge train")
    if runs.try_acquire():  # what a runner that was killed was about to land, nobody lands now
        try:
            if is_here:
                _call_off_landing(site, name)
            out = train.take_out(name, DROPPED, landing_too=True)
        finally:
            runs.release()
    else:
        out = train.take_out(name, DROPPED)
    if out:
        return Result(f"{name}: out of the train; its work waits for review as before", {"worker": name})
    if train.has(name):
        raise LlmcError(f"{name}'s work is landing right now", "`llmc undo --landing TASK` takes a landing back")
    raise LlmcError(f"{name} is not in the train", "`llmc train` shows who is")


def _call_off_landing(site: Site, name: str) -> None:
    """Else whoever looks after the worker next would go on with it."""
    if not site.ledger.tasks.train.has(name):
        return
    with acting_for(site, name) as worker:
        if not call_off(site, worker, DROPPED):
            hint = f"`llmc undo --landing {worker.task or 'TASK'}` takes a landing back"
            raise LlmcError(f"{name}'s work has landed already", hint)


def _answer(site: Site) -> Result:
    train = site.ledger.tasks.train
    entries, ended, paused = train.open(), train.ended(ENDED_SHOWN), train.is_paused
    waiting = dict(each for each in unattended(site) if not isinstance(each, TrainEntry))
    runner = is_held(site.root.train_lock)
    document = {
        "schema": 1,
        "paused": paused,
        "runner": runner.pid if runner is not None else None,
        "entries": [told(entry) for entry in entries],
        "ended": [told(entry) for entry in ended],
        "not_unattended": [{"worker": name, "why": why} for name, why in waiting.items()],
    }
    lines = [_headline(site, len(entries), paused, running=runner is not None)]
    lines += [f"{place:3}. {_line(entry)}" for place, entry in enumerate(entries, 1)]
    lines += ["landed or left lately:"] if ended else []
    took = {entry.id: age(entry.over_at_unix - entry.at_unix) for entry in ended}
    lines += [f"   - {_line(entry)}, {took[entry.id]} after it came in" for entry in reversed(ended)]
    lines += [f"! {name} does not land by itself: {why}" for name, why in waiting.items()]
    return Result("\n".join(lines), document)


def _headline(site: Site, many: int, paused: bool, *, running: bool) -> str:
    works = f"{counted(many, 'work')} in the merge train to {site.config.repo.branch}"
    works = works if many else "the merge train is empty"
    if paused:
        return f"{works}; it is paused: `llmc train resume` lets it go on"
    if many and not running and running_daemon(site.root) is None:
        return f"{works}; nobody runs it: `llmc up --detach` starts the daemon, which does"
    return works


def _line(entry: TrainEntry) -> str:
    task = f" ({entry.task})" if entry.task else ""
    how = ", unattended" if entry.auto else ""
    return f"{entry.worker}{task}: {entry.state.value}{how}" + (f": {entry.detail}" if entry.detail else "")


def _watch(app: App, site: Site, args: Namespace) -> None:
    """Until the person has seen enough (Ctrl-C)."""
    watch = open_watch()
    watch.add(site.root.run, "train", frozenset(("train.json",)))
    while True:
        result = _answer(site)
        if args.json:
            app.console.print(json.dumps(result.data))
        else:
            app.console.show(plain(result.text))
        wait_for_change(watch, WATCH_SECS)
