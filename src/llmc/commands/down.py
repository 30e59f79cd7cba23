"""`llmc down`: the agents end, then the daemon. Their work stays what it is."""

from __future__ import annotations

import os
import signal
from argparse import Namespace
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from llmc.app import App
from llmc.commands.acting import terminals
from llmc.commands.result import Result
from llmc.core import events as ev
from llmc.daemon.process import running_daemon
from llmc.errors import LlmcError
from llmc.host.processes import wait_for_end
from llmc.model import Turn
from llmc.perform.settle import ask
from llmc.site import Site
from llmc.tmux.windows import TERMINALS_SESSION

DAEMON_SECS = 70.0
AT_ONCE = 4


def run(app: App, args: Namespace) -> Result:
    site = app.site()
    workers = list(site.ledger.load().workers)
    busy = [name for name in workers if site.worker(name).turn is Turn.OPEN]
    if busy and not args.force and not _agreed(app, busy, args):
        raise LlmcError(f"{', '.join(busy)} would be interrupted; nothing was stopped", "say --yes or --force")
    terminals(site)
    daemon = running_daemon(site.root)
    if daemon is not None:
        _end_daemon(daemon.pid)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(lambda name: _stop(site, name, force=args.force), workers))
    stopped = "the daemon has ended; " if daemon is not None else ""
    return Result(
        f"{stopped}stopped {', '.join(workers) or 'nothing: there are no workers'}{_stop_server(site)}",
        {"stopped": list(workers)},
    )


def _stop_server(site: Site) -> str:
    """Terminals that were opened with `llmc pty` are nobody's workers: they and their server go on."""
    if TERMINALS_SESSION in site.tmux.panes():
        return "; the terminals of `llmc pty` go on"
    site.tmux.stop()
    return ""


def _agreed(app: App, busy: list[str], args: Namespace) -> bool:
    # A script that says `down` means it; only a person at a terminal is asked.
    if not app.console.is_terminal:
        return True
    return app.console.confirm(f"{', '.join(busy)} is in the middle of a turn. Stop all the same?")


def _end_daemon(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)
    if not wait_for_end([pid], DAEMON_SECS):
        raise LlmcError(f"the daemon (pid {pid}) does not end", f"look at it, or `kill -9 {pid}`")


def _stop(site: Site, name: str, *, force: bool) -> None:
    with site.acting_for(name):
        settled = ask(site, name, ev.StopAsked(site.now(), force))
    if settled.refusal is not None:
        raise settled.refusal
