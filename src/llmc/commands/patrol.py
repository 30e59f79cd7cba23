"""`llmc patrol`: looks at every worker now, repairs what no signal told of, and says what it found."""

from __future__ import annotations

import time
from argparse import Namespace
from pathlib import Path
from typing import Any

from llmc.app import App
from llmc.care.catch_up import catch_up
from llmc.commands.shared.result import Result
from llmc.core.lifecycle.patrol import PatrolReport, told
from llmc.daemon.patrol import Patrol, keep_patrol
from llmc.daemon.process import running_daemon
from llmc.errors import LlmcError
from llmc.observe.overview import glance, unexpected
from llmc.perform.steps import settle
from llmc.site import Site
from llmc.store.patrol_file import plain_report
from llmc.store.snapshot import read_patrol

ANSWERED_WITHIN_SECS = 60.0
LOOK_EVERY_SECS = 0.05


def run(app: App, args: Namespace) -> Result:
    site = app.site()
    report = _ask_daemon(site) or plain_report(_patrol(site))
    return Result(told(report), report)


def _patrol(site: Site) -> PatrolReport:
    """Without a daemon the command does it itself, one worker after the other; nobody is brought up."""
    patrol = Patrol(site.now())
    site.ledger.remember_patrol(patrol.began)
    state = site.ledger.load()
    for name, kinds in unexpected(state, glance(site, state), site.ledger.policy_of).items():
        before = site.worker(name)
        patrol.cared_for[name] = (kinds, before)
        with site.lock_of(name):
            catch_up(site, name)
            settle(site, name)
        patrol.was_cared_for(name, site.worker(name))
    return keep_patrol(site, patrol)


def _ask_daemon(site: Site) -> dict[str, Any] | None:
    """None when no daemon runs, or the one that was asked has ended without an answer."""
    if running_daemon(site.root) is None:
        return None
    began, before = site.now(), read_patrol(site.root.patrol_file)
    request = Path(site.root.patrol_request)
    request.touch()
    until = time.monotonic() + ANSWERED_WITHIN_SECS
    while time.monotonic() < until:
        report = read_patrol(site.root.patrol_file)
        # The time of the one before may be of a clock that was set back since.
        if report != before and report.get("last_run_unix", 0.0) >= began:
            return report
        if running_daemon(site.root) is None:
            request.unlink(missing_ok=True)
            return None
        time.sleep(LOOK_EVERY_SECS)
    raise LlmcError("the daemon does not answer", "see `llmc doctor`, and `llmc status` for whether it runs")
