"""`llmc remote-landed`: a hub says that a worker's work has landed. The worker becomes idle on the new commit."""

from __future__ import annotations

import sys
from argparse import Namespace

from llmc.app import App
from llmc.care.acting import acting_for, newest_tip
from llmc.commands.shared.result import Result
from llmc.core.lifecycle import events as ev
from llmc.errors import LlmcError
from llmc.git.history import is_ancestor
from llmc.model import Work
from llmc.perform.steps import decide_and_run


def run(app: App, args: Namespace) -> Result:
    site = app.site()
    message = sys.stdin.buffer.read().decode("utf-8", "replace")
    with acting_for(site, args.worker) as worker:
        tip = newest_tip(site)
        if not is_ancestor(site.git, site.root.path, args.sha, tip):
            raise LlmcError(f"{args.sha[:12]} is not on the branch here", "the hub sends it first")
        if worker.work is not Work.NEEDS_REVIEW or not worker.commit_sha:
            return Result(f"{worker.name} is {worker.work.value} by now", {"worker": worker.name, "kept": True})
        asked = ev.AcceptAsked(site.now(), message, not args.reviewed, landed=args.sha)
        settled = decide_and_run(site, args.worker, asked, tip)
    if settled.merged is None:
        raise settled.refusal or LlmcError(f"{worker.name} did not become idle", f"see `llmc explain {worker.name}`")
    return Result(f"{worker.name}: has landed as {args.sha[:12]}", {"worker": worker.name, "kept": False})
