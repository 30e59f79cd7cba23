"""Work of another machine lands here: fetched, merged as a whole, checked, written down, landed, and then told there.

Nothing of it is believed: the machine says which commit would land, and the tree is made here from that commit.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from llmc.care.accepting import Accepted
from llmc.care.landing_notes import LandingNotes, landing_notes
from llmc.core.delivery.texts import check_text
from llmc.core.landing.commit_message import first_line
from llmc.core.lifecycle.effects import MergeWork
from llmc.core.tasks.ending import TaskEnd
from llmc.core.tasks.task import Standing
from llmc.errors import LlmcError
from llmc.fleet.branches import send_branch
from llmc.fleet.calls import Calls
from llmc.fleet.known import read_known
from llmc.fleet.placing import count_attempt
from llmc.fleet.registry import Machine
from llmc.fleet.shapes import TEXT, TEXTS
from llmc.fleet.transport import fetch, forget_pushed, machine_ref
from llmc.fleet.words import complaint_in
from llmc.git.clone import fetch_source, note_moved, same_or_fetched
from llmc.git.history import is_on_branch, own_commits
from llmc.git.land import BranchMovedError, Order, signs, squash
from llmc.git.rebase import Clean, own_base, would_conflict
from llmc.git.repository import HEADS
from llmc.host.faults import Moment, reached
from llmc.host.locks import FileLock
from llmc.perform.accept import NotMergedError
from llmc.perform.checks import ValidationFailedError, check_commit, failure_words
from llmc.perform.landing import LANDING, land, settle_landings
from llmc.site import Site
from llmc.store.landings_there import LandingsThere, LandingThere

TRIES = 5
_OFFER = {**dict.fromkeys(("head", "tree", "message"), ""), "base": TEXT, "reviewed": False, "left_out": TEXTS}
_OBJECT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
PATIENCE_SECS = 60.0


def accept_there(
    site: Site, calls: Calls, machine: Machine, worker: str, wanted: MergeWork, accepted: str = ""
) -> Accepted:
    """Raises what refused it; then nothing has landed. `accepted`: the commit whose changes are to land and no others,
    wherever its machine has rebased it meanwhile."""
    repo = site.config.repo
    patience = PATIENCE_SECS + 2 * len(repo.validate) * repo.validate_timeout_secs
    with FileLock(site.root.landing_lock, name=LANDING, timeout=patience):
        settle_landings(site)
        settle_there(site, machine.name)
        landing, offer = _landed(site, calls, machine, worker, wanted, accepted)
    notes = _told_or_why(site, calls, machine, landing)
    after = landing_notes(site, tuple(offer["left_out"]), landing.sha)
    return _accepted(site, machine, landing, after, notes)


def commit_there(site: Site, calls: Calls, machine: Machine, worker: str, wanted: MergeWork) -> tuple[str, str]:
    """What accepting would put onto the branch, with its message. It is made here, and lands nowhere."""
    repo = site.config.repo
    tip = same_or_fetched(site.git, repo.source, site.root.path, repo.branch)
    send_branch(site, machine, tip)
    offer = offer_of(site, calls, machine, worker, tip, wanted)
    return _commit(site, machine, worker, tip, offer, ""), offer["message"]


def _landed(
    site: Site, calls: Calls, machine: Machine, worker: str, wanted: MergeWork, accepted: str
) -> tuple[LandingThere, dict[str, Any]]:
    for _ in range(TRIES - 1):
        with suppress(BranchMovedError):  # you have committed meanwhile
            return _try_to_land(site, calls, machine, worker, wanted, accepted)
    return _try_to_land(site, calls, machine, worker, wanted, accepted)


def _try_to_land(
    site: Site, calls: Calls, machine: Machine, worker: str, wanted: MergeWork, accepted: str
) -> tuple[LandingThere, dict[str, Any]]:
    git, root, repo = site.git, site.root.path, site.config.repo
    tip = same_or_fetched(git, repo.source, root, repo.branch)
    send_branch(site, machine, tip)
    offer = offer_of(site, calls, machine, worker, tip, wanted)
    reached(Moment.ACCEPT_DECIDED)
    made = _commit(site, machine, worker, tip, offer, accepted)
    if machine.options.checks == "hub":
        _check(site, worker, made)
    told = (offer["head"], offer["message"], offer["reviewed"])
    landing = LandingThere(machine.name, worker, _task_at(site, machine.name, worker), made, *told)
    _write_down_and_land(site, machine, landing, tip)
    with suppress(LlmcError):  # it has landed: whoever fetches next learns of that
        note_moved(git, repo.source, root, repo.branch, tip, made)
    return landing, offer


def offer_of(site: Site, calls: Calls, machine: Machine, worker: str, tip: str, wanted: MergeWork) -> dict[str, Any]:
    """What the machine says would land. Raises what would refuse it."""
    words = ["remote-propose", worker, "--tip", tip, "--json"]
    words += ["--message", wanted.message] if wanted.message is not None else []
    words += ["--tree", wanted.tree] if wanted.tree is not None else []
    words += ["--changed"] if wanted.changed else []
    words += ["--unattended"] if wanted.unattended else []
    words += ["--check"] if machine.options.checks == "machine" else []
    answer = calls.do(machine.name, *words, repeatable=True)
    if answer.code != 0 and answer.shaped({"at": ""})["at"]:  # somebody over there has moved the branch, which is ours
        forget_pushed(site.git, machine, site.root.path, site.config.repo.branch)
        send_branch(site, machine, tip)
        answer = calls.do(machine.name, *words, repeatable=True)
    if answer.code != 0:
        raise NotMergedError(*complaint_in(answer.err))
    offer: dict[str, Any] = answer.shaped(_OFFER)
    if not all(_OBJECT.fullmatch(sha) for sha in (offer["head"], offer["tree"], offer["base"] or offer["head"])):
        raise NotMergedError(f"{machine.name} does not say what would land; nothing was merged", "`llmc machine check`")
    check_text(offer["message"])
    return offer


def _commit(site: Site, machine: Machine, worker: str, tip: str, offer: dict[str, Any], accepted: str) -> str:
    """The work as one commit on the tip, made here of what was fetched."""
    git, root = site.git, site.root.path
    head = offer["head"]
    fetch_head(site, machine, worker, head)
    base = own_base(git, root, tip, head, offer["base"])
    whole = would_conflict(git, root, tip, head, base)
    if not isinstance(whole, Clean):
        raise NotMergedError(f"{worker}'s work conflicts in {', '.join(whole.files)}", f"`llmc rebase {worker}`")
    if whole.tree != offer["tree"]:
        raise NotMergedError(
            f"{machine.name} names another content than its commit {head[:12]} has; nothing was merged",
            f"`llmc review {worker}` shows it anew",
        )
    if accepted not in ("", head) and whole != would_conflict(
        git, root, tip, accepted, own_base(git, root, tip, accepted, None)
    ):
        raise NotMergedError(
            f"{worker}'s work has changed since it was accepted; nothing was merged", f"`llmc review {worker}`"
        )
    commits = own_commits(git, root, head, base.sha or tip)
    made = squash(git, root, whole.tree, tip, commits[0], offer["message"], signed=signs(git, root))
    git.run(root, "update-ref", "--no-deref", machine_ref(machine.name, "accept", worker), made)
    return made


def fetch_head(site: Site, machine: Machine, worker: str, head: str) -> None:
    """The worker's commit, if it is still this one."""
    ref = machine_ref(machine.name, "work", worker)
    site.progress(f"fetching the work of {worker} from {machine.name}")
    fetch(site.git, machine, site.root.path, f"+{HEADS}llmc/{worker}:{ref}")
    (fetched,) = site.git.objects(site.root.path, f"{ref}^{{commit}}")
    if fetched != head:
        raise NotMergedError(f"{worker} committed while its work was accepted; nothing was merged", "look at it again")


def _check(site: Site, worker: str, made: str) -> None:
    verdict = check_commit(site, made)
    if verdict.failed is not None:
        hint = f"send the work back with `llmc reject {worker}`, or fix the check"
        raise ValidationFailedError(failure_words(verdict.failed), hint)


def _write_down_and_land(site: Site, machine: Machine, landing: LandingThere, tip: str) -> None:
    journal, repo = LandingsThere(site.ledger.tasks.database), site.config.repo
    journal.add(landing)
    try:
        ref = machine_ref(machine.name, "accept", landing.worker)
        title = first_line(landing.message)
        land(site, Order(repo.source, site.root.path, repo.branch, tip, landing.sha, ref, (landing.worker,), title))
    except LlmcError:
        journal.remove(landing)
        raise
    reached(Moment.ACCEPT_LANDED)
    _end_task(site, landing)


def _task_at(site: Site, machine: str, worker: str) -> str:
    for known in read_known(site.root):
        if known["name"] == machine:
            for each in (known.get("document") or {}).get("workers", ()):
                if each["name"] == worker and each.get("request"):
                    return str(each["request"]).partition(".")[0]
    return next((task.id for task in site.ledger.tasks.placed_on(machine) if task.given_to == worker), "")


def _end_task(site: Site, landing: LandingThere) -> None:
    for task in site.ledger.tasks.named([landing.task] if landing.task else []).values():
        count_attempt(site, task)  # it may have landed before its machine was asked how it is
        end = TaskEnd(Standing.LANDED, landed_sha=landing.sha, data={"reviewed": landing.reviewed, "sha": landing.sha})
        site.ledger.tasks.ended(landing.task, landing.worker, end, site.now())


# --- after it has landed ------------------------------------------------------------------------------


def settle_there(site: Site, machine: str = "") -> list[LandingThere]:
    """Landings that their machines have not heard of yet; what never came onto your branch is forgotten.

    The caller holds the landing lock, and has settled the landings here.
    """
    journal, repo = LandingsThere(site.ledger.tasks.database), site.config.repo
    landed = []
    for each in journal.all(machine):
        if is_on_branch(site.git, repo.source, repo.branch, each.sha):
            _end_task(site, each)
            landed.append(each)
        else:
            journal.remove(each)
    return landed


def tell_landings(site: Site, calls: Calls, machine: Machine) -> None:
    """The machine hears of what has landed of its work. Whoever was killed before that is made up for."""
    if not LandingsThere(site.ledger.tasks.database).all(machine.name):
        return
    lock = FileLock(site.root.landing_lock, name=LANDING)
    if not lock.try_acquire():
        return  # whoever lands work there tells it
    try:
        settle_landings(site)
        landed = settle_there(site, machine.name)
    finally:
        lock.release()
    for landing in landed:
        _told_or_why(site, calls, machine, landing)


def _told_or_why(site: Site, calls: Calls, machine: Machine, landing: LandingThere) -> list[str]:
    """Kept in the journal until the machine has heard it."""
    words = ["remote-landed", landing.worker, "--sha", landing.sha, "--head", landing.head, "--json"]
    words += ["--reviewed"] if landing.reviewed else []
    repo = site.config.repo
    try:
        send_branch(site, machine, fetch_source(site.git, repo.source, site.root.path, repo.branch))
        request = f"landed.{landing.sha}.{landing.worker}"
        answer = calls.do(machine.name, *words, request=request, repeatable=True)
    except LlmcError as silent:  # git has one word for every machine that it cannot talk to
        return [f"{machine.name} does not know yet that it has landed ({silent.what}); it is told when it answers"]
    LandingsThere(site.ledger.tasks.database).remove(landing)
    if answer.code:
        return [f"it has landed, but {machine.name} says: {complaint_in(answer.err)[0]}"]
    kept = answer.shaped({"kept": False})["kept"]
    return [f"{landing.worker} has gone on meanwhile and is not idle"] if kept else []


def _accepted(site: Site, machine: Machine, landing: LandingThere, after: LandingNotes, more: list[str]) -> Accepted:
    branch, worker = site.config.repo.branch, landing.worker
    notes = after.told(site.config.repo.source)
    notes += [] if landing.reviewed else [f"{worker}'s work was accepted without a review of just this"]
    first = f"{worker}: accepted as {landing.sha[:12]} on {branch}: {first_line(landing.message)}"
    told: dict[str, object] = {"worker": worker, "commit": landing.sha, "branch": branch, "message": landing.message}
    told |= {"reviewed": landing.reviewed, "machine": machine.name}
    text = "\n".join([first, *(f"note: {each}" for each in (*notes, *more))])
    return Accepted(landing.sha, text, {**told, **asdict(after)})
