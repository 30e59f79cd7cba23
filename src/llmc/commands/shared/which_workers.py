"""Which workers a command is about."""

from __future__ import annotations

from argparse import Namespace

from llmc.core.tasks.pool import next_to_review
from llmc.errors import InvalidUsageError, LlmcError
from llmc.model import Work
from llmc.site import Site


def named_workers(site: Site, args: Namespace, verb: str) -> list[str]:
    """Those that were named, each once, or all of them."""
    if args.all == bool(args.names):
        raise InvalidUsageError("say which workers", f"`llmc {verb} NAME...` or `llmc {verb} --all`")
    if args.all:
        return list(site.ledger.load().workers)
    return [site.worker(name).name for name in dict.fromkeys(args.names)]


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
