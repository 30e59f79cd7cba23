"""What commands that act for a worker share: the lock, the latest facts, the receipt."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict

from llmc.commands.shared.result import Result
from llmc.core.lifecycle.effects import CheckResolution
from llmc.core.lifecycle.transitions.shared import awaits
from llmc.core.tasks.pool import next_to_review
from llmc.errors import LlmcError, WrongWordsError
from llmc.git.clone import fetch_source
from llmc.host.watch import open_watch, wait_for_change
from llmc.model import Outcome, Receipt, Session, Work, Worker
from llmc.observe.catch_up import tend_session, tend_work
from llmc.observe.sessions import look_at_panes
from llmc.perform.landing import settle_landings_if_free
from llmc.perform.notices import tell
from llmc.perform.steps import Settled, settle
from llmc.site import Site
from llmc.tmux.parsing import Pane
from llmc.tmux.server import TmuxError

EXIT_CODES = {Outcome.DELIVERED: 0, Outcome.QUEUED: 0, Outcome.UNDELIVERED: 1, Outcome.UNKNOWN: 4}
WAIT_SECS = 2.0


@contextmanager
def acting_for(site: Site, name: str, *, looks_only: bool = False) -> Iterator[Worker]:
    """Nobody else acts for the worker meanwhile, and everything that has happened so far is known."""
    site.worker(name)
    if not looks_only:
        with suppress(LlmcError):  # `llmc status` and the doctor tell what is left, and an accept refuses for it
            settle_landings_if_free(site)
    with site.acting_for(name):
        catch_up(site, name)
        yield site.worker(name)


def named_workers(site: Site, args: Namespace, verb: str) -> list[str]:
    """Those that were named, each once, or all of them."""
    if args.all == bool(args.names):
        raise WrongWordsError("say which workers", f"`llmc {verb} NAME...` or `llmc {verb} --all`")
    if args.all:
        return list(site.ledger.load().workers)
    return [site.worker(name).name for name in dict.fromkeys(args.names)]


def catch_up(site: Site, name: str) -> None:
    pane = terminals(site).get(site.worker(name).session_id)
    tell(site, *tend_session(site, name, pane), *tend_work(site, name))


def finish_checks(site: Site, name: str) -> None:
    """Work whose conflicts are resolved is checked before anybody sees it; without a daemon that is for us to do."""
    if awaits(site.worker(name), CheckResolution):
        settle(site, name)


def catch_up_if_free(site: Site, name: str, *, finish: bool = False) -> None:
    """As `catch_up`, unless somebody acts for the worker: then it is theirs to notice."""
    lock = site.lock_of(name)
    if lock.try_acquire():
        try:
            catch_up(site, name)
            if finish:
                finish_checks(site, name)
        finally:
            lock.release()


def terminals(site: Site) -> dict[str, Pane]:
    """Every session's terminal. Asked before anything begins that would need an answer half-way."""
    try:
        return look_at_panes(site)
    except TmuxError:
        site.tmux.require_version()  # what an old tmux says is often not understood
        raise


def notes_of(settled: Settled) -> list[str]:
    """What a person should know of how it was done, although it calls nobody."""
    notices = (notice for decision in settled.decisions for notice in decision.notices)
    return [f"note: {notice.text}" for notice in notices if notice.kind == "joined"]


def newest_tip(site: Site) -> str:
    """The branch as the user's repository has it. Fetched before anything begins that would fail without it."""
    return fetch_source(site.git, site.config.repo.source, site.root.path, site.config.repo.branch)


def receipt_of(settled: Settled) -> Receipt:
    """The receipt, or the reason why it never came to a delivery."""
    if settled.refusal is not None:
        raise settled.refusal
    if not settled.receipts:
        last = settled.decisions[-1]
        raise LlmcError(f"nothing was sent: {last.detail or last.signal}", "see `llmc explain`")
    return settled.receipts[-1]


def told(receipt: Receipt, worker: str) -> Result:
    data = {**asdict(receipt), "worker": worker}
    proof = f", proof: {receipt.proof.value}" if receipt.proof.value != "none" else ""
    why = f": {receipt.reason}" if receipt.reason else ""
    text = f"{worker}: {receipt.outcome.value}{why} ({receipt.bytes} bytes, {receipt.elapsed_ms} ms{proof})"
    return Result(text, data, EXIT_CODES[receipt.outcome])


def reviewed_or_named(site: Site, name: str | None) -> str:
    """The worker that was named, else the one that was reviewed last."""
    if name is not None:
        return site.worker(name).name
    state = site.ledger.load()
    last = state.workers.get(state.last_reviewed_worker or "")
    # Work of its next task is not what was reviewed.
    if last is not None and (last.reviewed is not None or last.work is not Work.NEEDS_REVIEW):
        return last.name
    waiting = next_to_review(state.workers.values())
    hint = (
        f"look at it first: `llmc review {waiting.name}`" if waiting else "nothing waits for review: see `llmc status`"
    )
    raise LlmcError("no work was reviewed yet", hint)


def wait_until_settled(site: Site, name: str) -> Worker:
    """Until the worker has finished or needs somebody. Works with and without a daemon."""
    watch = open_watch()
    watch.add(site.root.path, "state", frozenset(("state.json",)))
    watch.add(site.root.spool(name), "spool")
    try:
        while True:
            catch_up_if_free(site, name, finish=True)
            worker = site.worker(name)
            busy = worker.work in (Work.WORKING, Work.REJECTED, Work.REBASING) and worker.session is Session.UP
            if not busy and not worker.pending:
                return worker
            wait_for_change(watch, WAIT_SECS)
    finally:
        watch.close()
