"""`llmc reject`: reviewed work goes back with feedback and the diff that it is about."""

from __future__ import annotations

from argparse import Namespace
from contextlib import suppress

from llmc.app import App
from llmc.care.acting import acting_for
from llmc.commands.shared.receipts import receipt_of, receipt_result
from llmc.commands.shared.result import Result
from llmc.commands.shared.rounds import comments_in, keep_record, seen_span
from llmc.commands.shared.text_input import text_from
from llmc.commands.shared.which_workers import reviewed_or_named
from llmc.core.delivery.texts import check_text
from llmc.core.display import counted, plain
from llmc.core.lifecycle import events as ev
from llmc.core.names import nearest_word
from llmc.core.prompts.comments import round_feedback
from llmc.core.prompts.task import feedback_prompt
from llmc.core.tasks.rounds import Round, last_round
from llmc.errors import InvalidUsageError, LlmcError
from llmc.git.history import diff_text
from llmc.git.line_history import what_became
from llmc.model import Outcome, Worker
from llmc.observe.branches import work_span
from llmc.perform.steps import decide_and_run
from llmc.site import Site


def run(app: App, args: Namespace) -> Result:
    site = app.site()
    named, words = _worker_and_words(site, args.words, args.file)
    name = reviewed_or_named(site, named)
    # Comments that are open say enough: nobody is asked for more.
    silent = words is None and args.file is None and comments_in(site).of(site.worker(name)).open
    message = "" if silent else text_from(words, args.file, environ=app.environ)
    with acting_for(site, name) as worker:
        sent, feedback, text = _round(site, worker, message)
        receipt = receipt_of(decide_and_run(site, name, ev.WorkRejected(site.now(), text, feedback, sent)))
        with suppress(LlmcError):  # the worker's record has what counts
            comments_in(site).end_round(worker, sent, receipt, site.now())
    if receipt.outcome is not Outcome.UNDELIVERED:
        site.ledger.tasks.train.take_out(name, "sent back by you")
    return receipt_result(receipt, name, round=None if receipt.outcome is Outcome.UNDELIVERED else sent.number)


def _round(site: Site, worker: Worker, message: str) -> tuple[Round, str, str]:
    """The round, what the reviewer says in it, and the whole text for the agent."""
    base, commit = seen_span(site, worker) or ("", "")
    record = keep_record(site, worker, (base, commit))
    prose, span = site.agent_of(worker).takes_prose, work_span(site, worker) or (base, commit)
    if record.open and not prose:
        raise LlmcError(
            f"{worker.name} is no agent that reads comments, and there are {counted(len(record.open), 'open comment')}",
            f"`llmc comment {worker.name} --remove N` takes one back",
        )
    feedback = round_feedback(message, record.open, what_became(site.git, site.root.path, record.open, span))
    number = last_round(worker) + 1
    diff = plain(diff_text(site.git, site.root.path, *span)) if prose and commit else ""
    text = feedback_prompt(feedback, diff, number) if prose else feedback
    check_text(text)
    return Round(number, message, commit, base, site.now(), tuple(each.number for each in record.open)), feedback, text


def _worker_and_words(site: Site, words: list[str], file: str | None) -> tuple[str | None, str | None]:
    """`reject MESSAGE`, `reject WORKER MESSAGE`, `reject WORKER --file F`."""
    workers = site.ledger.load().workers
    if len(words) > 2:
        raise InvalidUsageError("the feedback has to be one word or in quotes", 'say llmc reject WORKER "feedback"')
    if len(words) == 2:
        return words[0], words[1]
    if len(words) == 1 and (words[0] in workers or file is not None):
        return words[0], None
    meant = nearest_word(words[0], workers) if words and " " not in words[0] else None
    if meant is not None:
        raise InvalidUsageError(
            f"there is no worker {words[0]!r}, and one word is little feedback", f"did you mean {meant}? Else say more"
        )
    return None, words[0] if words else None
