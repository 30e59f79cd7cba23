"""`llmc up`: the daemon, in the foreground with a live view or in the background."""

from __future__ import annotations

import sys
import tempfile
import time
from argparse import Namespace

from llmc.app import App, open_site
from llmc.commands.result import Result
from llmc.commands.status import status_document, status_text
from llmc.core.display import one_line
from llmc.daemon.loop import Daemon
from llmc.daemon.process import daemon_lock, refuse_second, running_daemon
from llmc.daemon.signals import Ending
from llmc.errors import LlmcError
from llmc.host.memory import keep_one_heap
from llmc.host.processes import is_running
from llmc.host.terminal import start_in_background
from llmc.host.watch import open_watch, wait_for_change
from llmc.model import Session, Worker
from llmc.root import Root
from llmc.site import Site
from llmc.store.lock import disk_errors

STARTED_WITHIN_SECS = 20.0
SETTLED_WITHIN_SECS = 180.0
ROOM_BYTES = 1 << 16


def run(app: App, args: Namespace) -> Result:
    site = app.site()
    site.tmux.require_version()
    site.git.require_version()
    refuse_second(site.root)
    _require_place_to_work(site)
    return _detached(app, site, args) if args.detach else _foreground(app, site.root, args)


def _require_place_to_work(site: Site) -> None:
    """A daemon that can neither read nor save the state would only fail again and again."""
    site.ledger.load()
    with disk_errors(site.root.run), tempfile.TemporaryFile(dir=site.root.run) as probe:
        probe.write(bytes(ROOM_BYTES))
        probe.flush()


def _foreground(app: App, root: Root, args: Namespace) -> Result:
    keep_one_heap()
    with daemon_lock(root):
        asks = app.console.is_terminal and app.console.can_ask
        daemon = Daemon(
            lambda: open_site(root),
            patrol=not args.no_patrol,
            changed=lambda _: _show(app, root, daemon.farewell.words),
            asks=asks,
        )
        _show(app, root, daemon.farewell.words)
        ending = daemon.run()
    words = "the agents were stopped" if ending is Ending.STOP_AGENTS else "the agents go on"
    return Result(f"the daemon has ended; {words}", {"ended": True})


def _show(app: App, root: Root, below: str) -> None:
    if app.console.is_terminal:
        app.console.show(f"{status_text(status_document(root), app.console.columns)}\n\n{below}")


def _detached(app: App, site: Site, args: Namespace) -> Result:
    words = ["--root", site.root.path, "up", *(["--no-patrol"] if args.no_patrol else [])]
    argv = [sys.executable, "-P", "-m", "llmc.cli.main", *words]
    began = site.now()
    pid = start_in_background(argv, site.root.daemon_log)
    _wait_for_lock(site, pid)
    workers = _wait_for_sessions(site, pid, began)
    lines = [f"the daemon runs (pid {pid})", *(_told(worker) for worker in workers)]
    failed = any(worker.status == "error" for worker in workers)
    return Result("\n".join(lines), {"pid": pid, "workers": {w.name: w.status for w in workers}}, 1 if failed else 0)


def _told(worker: Worker) -> str:
    why = f": {one_line(worker.evidence.detail, 200)}" if worker.status == "error" else ""
    return f"{worker.name}: {worker.status}{why}"


def _wait_for_lock(site: Site, pid: int) -> None:
    until = time.monotonic() + STARTED_WITHIN_SECS
    while (holder := running_daemon(site.root)) is None or holder.pid != pid:
        if not is_running(pid) or time.monotonic() > until:
            refuse_second(site.root)  # somebody else was faster
            raise LlmcError("the daemon did not start", f"its words are in {site.root.daemon_log}")
        time.sleep(0.02)


def _wait_for_sessions(site: Site, pid: int, began: float) -> list[Worker]:
    """Until every worker is up or has failed to come up."""
    watch = open_watch()
    watch.add(site.root.path, "state", frozenset(("state.json",)))
    until = time.monotonic() + SETTLED_WITHIN_SECS
    try:
        while is_running(pid) and time.monotonic() < until:
            live = {name for name, pane in site.tmux.panes().items() if not pane.dead}
            if all(_has_settled(worker, live, began) for worker in site.ledger.load().workers.values()):
                break
            wait_for_change(watch, 0.5)
    finally:
        watch.close()
    if not is_running(pid):
        raise LlmcError("the daemon ended at once", f"its words are in {site.root.daemon_log}")
    return list(site.ledger.load().workers.values())


def _has_settled(worker: Worker, live: set[str], began: float) -> bool:
    """What the state says of a session may be from before a reboot: the terminal itself must be there."""
    if worker.session is Session.UP:
        return worker.session_id in live
    return worker.session is Session.CRASHED and worker.evidence.at_unix >= began
