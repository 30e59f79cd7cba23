"""`llmc up`: the daemon, in the foreground with a live view or in the background."""

from __future__ import annotations

import tempfile
import time
from argparse import Namespace
from concurrent.futures import ThreadPoolExecutor

from llmc.app import App, open_site
from llmc.care.acting import acting_for
from llmc.commands.shared.own_process import own_command
from llmc.commands.shared.result import Result
from llmc.commands.shared.starts import came_of_start, wait_for_starts
from llmc.commands.shared.status_view import status_text
from llmc.commands.status import WATCH_SECS, status_document
from llmc.core.display import plain
from llmc.core.lifecycle import events as ev
from llmc.daemon.daemon import AT_ONCE, Daemon
from llmc.daemon.process import daemon_lock, refuse_second, running_daemon
from llmc.daemon.view import LiveView
from llmc.errors import LlmcError
from llmc.host.files import disk_errors
from llmc.host.malloc import keep_one_heap
from llmc.host.processes import is_running
from llmc.host.signals import Ending
from llmc.host.terminal import start_in_background
from llmc.model import Session, Worker
from llmc.perform.steps import decide_and_run
from llmc.root import Root
from llmc.roots import remember
from llmc.site import Site

STARTED_WITHIN_SECS = 120.0
"""On a busy machine Python alone takes long to start. One that ends is noticed at once."""
ROOM_BYTES = 1 << 16


def run(app: App, args: Namespace) -> Result:
    site = app.site()
    site.tmux.require_version()
    site.git.require_version()
    daemon = running_daemon(site.root)
    if daemon is not None and (gone := _gone(site)):
        return _bring_back(site, daemon.pid, gone)
    refuse_second(site.root)
    remember(site.root, app.environ)
    _require_place_to_work(site)
    return _detached(app, site, args) if args.detach else _foreground(app, site.root, args)


def _gone(site: Site) -> list[str]:
    """Those that should run and do not: their agents have ended, or tmux itself has."""
    live = {name for name, pane in site.panes().items() if not pane.dead}
    workers = site.ledger.load().workers.values()
    return [worker.name for worker in workers if not worker.stopped_by_user and worker.session_id not in live]


def _bring_back(site: Site, pid: int, names: list[str]) -> Result:
    """A daemon that runs brings nobody up by itself, unless its policy says so."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        workers = list(pool.map(lambda name: _started(site, name), names))
    lines = [
        f"the daemon runs already (pid {pid}); brought up again:",
        *(f"{worker.name}: {came_of_start(worker)}" for worker in workers),
    ]
    failed = any(worker.session is not Session.UP for worker in workers)
    return Result("\n".join(lines), {"pid": pid, "workers": {w.name: w.status for w in workers}}, 1 if failed else 0)


def _started(site: Site, name: str) -> Worker:
    with acting_for(site, name):
        decide_and_run(site, name, ev.StartAsked(site.now()))
    return site.worker(name)


def _require_place_to_work(site: Site) -> None:
    """A daemon that can neither read nor save the state would only fail again and again."""
    site.ledger.load()
    with disk_errors(site.root.run), tempfile.TemporaryFile(dir=site.root.run) as probe:
        probe.write(bytes(ROOM_BYTES))
        probe.flush()


def _foreground(app: App, root: Root, args: Namespace) -> Result:
    keep_one_heap()
    with daemon_lock(root):
        view = LiveView((lambda below: _show(app, root, below)) if app.console.is_terminal else None, WATCH_SECS)
        asks = app.console.is_terminal and app.console.can_ask
        daemon = Daemon(lambda: open_site(root), patrol=not args.no_patrol, view=view, asks=asks)
        ending = daemon.run()
    words = "the agents were stopped" if ending is Ending.INTERRUPTED else "the agents go on"
    return Result(f"the daemon has ended; {words}", {"ended": True})


def _show(app: App, root: Root, below: str) -> None:
    """What is wrong with the state is shown, too: the daemon waits until it is right again."""
    try:
        text = status_text(status_document(root), app.console.columns, app.console.paint)
    except LlmcError as broken:
        text = plain(f"error: {broken.what}\nhint: {broken.hint}")
    app.console.show(f"{text}\n\n{plain(below)}")


def _detached(app: App, site: Site, args: Namespace) -> Result:
    argv = own_command(site.root, "up", *(["--no-patrol"] if args.no_patrol else []))
    began = site.now()
    pid = start_in_background(argv, site.root.daemon_log)
    _wait_for_lock(site, pid)
    say = _silent if args.json else app.console.say
    say(f"the daemon runs (pid {pid})")
    workers = wait_for_starts(say, site, pid, began)
    failed = any(worker.status == "error" for worker in workers)
    data = {"pid": pid, "workers": {worker.name: worker.status for worker in workers}}
    return Result(_summary(workers), data, 1 if failed else 0)


def _silent(text: str) -> None:
    """A script waits for the whole answer."""


def _summary(workers: list[Worker]) -> str:
    """What stands open, each with what to type."""
    open_ones = [worker.name for worker in workers if worker.session is Session.STARTING]
    if not open_ones:
        return ""
    return f"{', '.join(open_ones)} cannot start yet: see `llmc status`"


def _wait_for_lock(site: Site, pid: int) -> None:
    until = time.monotonic() + STARTED_WITHIN_SECS
    while (holder := running_daemon(site.root)) is None or holder.pid != pid:
        if not is_running(pid) or time.monotonic() > until:
            refuse_second(site.root)  # somebody else was faster
            raise LlmcError("the daemon did not start", f"its log is {site.root.daemon_log}")
        time.sleep(0.02)
