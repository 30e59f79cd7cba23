"""`llmc down`: the agents end, then the daemon. Their work stays what it is."""

from __future__ import annotations

from argparse import Namespace
from concurrent.futures import ThreadPoolExecutor

from llmc.app import App
from llmc.commands.shared.agreement import require_agreement
from llmc.commands.shared.result import Result
from llmc.daemon.process import running_daemon
from llmc.errors import LlmcError
from llmc.host.processes import ask_to_end, end_tree, kill, wait_for_end
from llmc.model import Turn, Worker
from llmc.perform.scratch import end_abandoned
from llmc.perform.sessions import end_strays
from llmc.perform.steps import stop_agent
from llmc.site import Site
from llmc.store.codec import StateError
from llmc.store.status_cache import Silence, StatusCache, forget_ended
from llmc.tmux.windows import TERMINALS_SESSION

AT_ONCE_SECS = 5.0
DAEMON_SECS = 70.0
AT_ONCE = 4
SESSIONS = "llmc-"


def run(app: App, args: Namespace) -> Result:
    site = app.site()
    workers = _workers(site, force=args.force)
    busy = [name for name, worker in workers.items() if worker.turn is Turn.OPEN]
    # A script that says `down` means it; only a person at a terminal is asked.
    if busy and not args.force and app.console.is_terminal:
        nobody = LlmcError(f"{', '.join(busy)} would be interrupted; nothing was stopped", "pass --yes or --force")
        question = f"{', '.join(busy)} is in the middle of a turn. Stop all the same?"
        require_agreement(app, question, nobody, "nothing was stopped")
    site.panes()
    daemon = running_daemon(site.root)
    if daemon is not None:
        _end_daemon(daemon.pid, force=args.force)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        troubles = list(pool.map(lambda worker: stop_agent(site, worker, force=args.force), workers.values()))
    left = _end_the_rest(site)
    forget_ended(site.root, StatusCache(site.root.terminals, Silence()), workers)
    stopped = "the daemon has ended; " if daemon is not None else ""
    lines = [f"{stopped}stopped {', '.join(workers) or 'nothing: there are no workers'}{left}", *filter(None, troubles)]
    return Result("\n".join(lines), {"stopped": list(workers), "not_remembered": list(filter(None, troubles))})


def _workers(site: Site, *, force: bool) -> dict[str, Worker]:
    try:
        return dict(site.ledger.load().workers)
    except StateError as unusable:
        if not force:
            unusable.hint += "; `llmc down --force` stops every agent all the same"
            raise
        return {}


def _end_the_rest(site: Site) -> str:
    """Sessions that the state does not know, and whatever agents have left behind."""
    panes = site.tmux.panes()
    for session, pane in panes.items():
        if session.startswith(SESSIONS) and session != TERMINALS_SESSION and not pane.dead:
            end_tree(pane.pid)
    words = _stop_server(site)
    end_strays(site)
    end_abandoned(site)
    return words


def _stop_server(site: Site) -> str:
    """Terminals that were opened with `llmc pty` are nobody's workers: they and their server go on."""
    if TERMINALS_SESSION in site.tmux.panes():
        return "; the terminals of `llmc pty` go on"
    site.tmux.stop()
    return ""


def _end_daemon(pid: int, *, force: bool) -> None:
    if not pid:  # the number that stands for all processes of this group
        raise LlmcError("the daemon is just starting or ending", "try again in a moment")
    ask_to_end([pid])
    if wait_for_end([pid], AT_ONCE_SECS):
        return
    if force:  # the record says what it was doing, and whoever comes next goes on from there
        kill([pid])
    if not wait_for_end([pid], DAEMON_SECS):
        raise LlmcError(f"the daemon (pid {pid}) does not end", "`llmc down --force` ends it in the middle of its work")
