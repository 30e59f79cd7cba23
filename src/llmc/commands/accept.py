"""`llmc accept`: reviewed work becomes one commit on the branch."""

from __future__ import annotations

from argparse import Namespace

from llmc.app import App
from llmc.commands.acting import acting_for, newest_tip, reviewed_or_named
from llmc.commands.result import Result
from llmc.core import events as ev
from llmc.core.commit_message import first_line
from llmc.core.delivery import check_text
from llmc.errors import LlmcError
from llmc.model import Work
from llmc.perform.settle import Settled, ask


def run(app: App, args: Namespace) -> Result:
    site = app.site()
    name = reviewed_or_named(site, args.worker)
    if args.message is not None:
        check_text(args.message)
    with acting_for(site, name):
        newest_tip(site)
        settled = ask(site, name, ev.AcceptAsked(site.now(), args.message))
    merged = _merged_sha(settled)
    if merged is None:
        raise settled.refusal or LlmcError(f"{name} was not accepted", f"see `llmc explain {name}`")
    message = site.git.text(site.root.path, "show", "--no-patch", "--format=%B", merged)
    text = f"{name}: accepted as {merged[:12]} on {site.config.repo.branch}: {first_line(message)}"
    if settled.refusal is not None:
        text += f"\nnote: it is merged, but the clean-up failed: {settled.refusal.what}"
    return Result(text, {"worker": name, "commit": merged, "branch": site.config.repo.branch, "message": message})


def _merged_sha(settled: Settled) -> str | None:
    for decision in settled.decisions:
        if decision.signal == "git.merged" and decision.worker.work is Work.IDLE:
            return decision.worker.base_sha
    return None
