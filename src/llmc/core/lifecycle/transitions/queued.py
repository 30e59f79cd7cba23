"""Texts that were sent and that the agent has not said it works on: each of them needs a proof of its own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from llmc.core.delivery.texts import prompt_digests
from llmc.core.display import one_line
from llmc.model import Outcome, Proof, Sent, Worker

WORDS_KEPT = 60
MOST_KEPT = 20


def with_sent(worker: Worker, text: str, outcome: Outcome, proof: Proof) -> Worker:
    queued, heard = outcome is Outcome.QUEUED, proof is Proof.HOOK
    if (heard and not queued) or outcome is Outcome.UNDELIVERED:
        return worker
    sent = Sent(one_line(text, WORDS_KEPT), tuple(sorted(prompt_digests(text))), queued, heard)
    return replace(worker, sent=(*worker.sent, sent)[-MOST_KEPT:])


def without_heard(sent: tuple[Sent, ...], sha256: str) -> tuple[Sent, ...]:
    """One report is of one text: of several with the same words, of the one that was sent first."""
    first = next((each for each in sent if not each.heard and sha256 in each.digests), None)
    return tuple(each for each in sent if each is not first)


def still_queued(sent: tuple[Sent, ...]) -> tuple[Sent, ...]:
    """The turn is over: what had been reported meanwhile comes next, and what nobody knew of has got lost."""
    return tuple(each for each in sent if each.queued and not each.heard)


def reports_owed(sent: Iterable[Sent], digests: frozenset[str]) -> int:
    """How many reports of these very words are still to come for texts that were sent before."""
    return sum(1 for each in sent if not each.heard and digests & set(each.digests))


def lost_with_session(sent: Iterable[Sent]) -> list[str]:
    """How the texts begin that only the agent's own queue holds."""
    return [each.words for each in sent if each.queued]
