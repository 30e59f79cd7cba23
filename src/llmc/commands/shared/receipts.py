"""What became of a text that was sent, as an answer."""

from __future__ import annotations

from dataclasses import asdict

from llmc.commands.shared.result import Result
from llmc.core.lifecycle.signal_words import reason
from llmc.errors import LlmcError
from llmc.model import Outcome, Receipt, Worker
from llmc.perform.steps import Settled

EXIT_CODES = {Outcome.DELIVERED: 0, Outcome.QUEUED: 0, Outcome.UNDELIVERED: 1, Outcome.UNKNOWN: 4}


def unless_refused(settled: Settled) -> Settled:
    if settled.refusal is not None:
        raise settled.refusal
    return settled


def receipt_of(settled: Settled) -> Receipt:
    """The receipt, or the reason why it never came to a delivery."""
    if not unless_refused(settled).receipts:
        last = settled.decisions[-1]
        raise LlmcError(f"nothing was sent: {last.detail or last.signal}", "see `llmc explain`")
    return settled.receipts[-1]


def receipt_result(receipt: Receipt, worker: str, **more: object) -> Result:
    """`more` is for scripts."""
    if receipt.outcome in (Outcome.DELIVERED, Outcome.QUEUED):
        from llmc.commands.shared.text_input import forget_drafts  # a rebase does not wait for it

        forget_drafts()
    data = {**asdict(receipt), "worker": worker, **more}
    proof = f", proof: {receipt.proof.value}" if receipt.proof.value != "none" else ""
    why = f": {receipt.reason}" if receipt.reason else ""
    also = "".join(f", {name} {number}" for name, number in more.items() if number is not None)
    text = f"{worker}: {receipt.outcome.value}{also}{why} ({receipt.bytes} bytes, {receipt.elapsed_ms} ms{proof})"
    return Result(text, data, EXIT_CODES[receipt.outcome])


def came_of(worker: Worker) -> str:
    """Of whom somebody has waited for."""
    return f"{worker.name}: {worker.status} ({reason(worker.evidence.signal, worker.evidence.detail)})"


def notes_of(settled: Settled) -> list[str]:
    """What a person should know of how it was done, although it calls nobody."""
    notices = (notice for decision in settled.decisions for notice in decision.notices)
    return [f"note: {notice.text}" for notice in notices if notice.kind == "joined"]
