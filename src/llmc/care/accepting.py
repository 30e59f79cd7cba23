"""One accept from the first look to the push, whoever asks for it: a person, or the merge train."""

from __future__ import annotations

from dataclasses import asdict

from llmc.care.acting import acting_for, newest_tip
from llmc.care.landing_notes import landing_notes, left_out_of
from llmc.core.landing.commit_message import first_line
from llmc.core.lifecycle import events as ev
from llmc.core.lifecycle.effects import MergeWork
from llmc.errors import LlmcError
from llmc.model import Worker
from llmc.perform.steps import decide_and_run
from llmc.site import Site
from llmc.store.machine_file import require_no_hub
from llmc.values import Value


class Accepted(Value):
    sha: str
    text: str
    """For people, with a line for each note."""
    data: dict[str, object]
    """For scripts."""


def accept_work(site: Site, name: str, wanted: MergeWork) -> Accepted:
    """Raises what refused it; then nothing has landed."""
    require_no_hub(site.root, "work lands there")
    with acting_for(site, name) as worker:
        tip = newest_tip(site)
        left_out = left_out_of(site, worker)
        asked = ev.AcceptAsked(site.now(), wanted.message, wanted.changed, wanted.tree, wanted.unattended)
        settled = decide_and_run(site, name, asked, tip)
    if settled.merged is None:
        raise settled.refusal or LlmcError(f"{name} was not accepted", f"see `llmc explain {name}`")
    merged, reviewed, branch = settled.merged.sha, settled.merged.reviewed, site.config.repo.branch
    args = ("show", "--no-patch", "--no-show-signature", "--format=%B", merged)
    landed = settled.merged.message or site.git.text(site.root.path, *args)
    after = landing_notes(site, left_out, merged)
    notes = after.told(site.config.repo.source) + ([] if reviewed else [_unseen(worker)])
    notes += [] if settled.refusal is None else [f"it is merged, but the clean-up failed: {settled.refusal.what}"]
    first = f"{name}: accepted as {merged[:12]} on {branch}: {first_line(landed)}"
    told = {"worker": name, "commit": merged, "branch": branch, "message": landed, "reviewed": reviewed}
    return Accepted(merged, "\n".join([first, *(f"note: {note}" for note in notes)]), {**told, **asdict(after)})


def _unseen(worker: Worker) -> str:
    if worker.reviewed is None:
        return f"{worker.name}'s work was accepted without a review"
    return f"{worker.name}'s work had changed since its review at {worker.reviewed.commit[:12]}"
