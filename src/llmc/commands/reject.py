"""`llmc reject`: reviewed work goes back with feedback and the diff that it is about."""

from __future__ import annotations

from argparse import Namespace

from llmc.app import App
from llmc.care.acting import acting_for
from llmc.commands.shared.receipts import receipt_of, receipt_result
from llmc.commands.shared.result import Result
from llmc.commands.shared.text_input import text_from
from llmc.commands.shared.which_workers import reviewed_or_named
from llmc.config.suggest import nearest_word
from llmc.core.delivery.texts import check_text
from llmc.core.display import plain
from llmc.core.lifecycle import events as ev
from llmc.core.prompts.task import feedback_prompt
from llmc.errors import InvalidUsageError
from llmc.git.history import diff_text
from llmc.model import Worker
from llmc.observe.branches import work_span
from llmc.perform.steps import decide_and_run
from llmc.site import Site


def run(app: App, args: Namespace) -> Result:
    site = app.site()
    named, words = _worker_and_words(site, args.words, args.file)
    name = reviewed_or_named(site, named)
    feedback = text_from(words, args.file, environ=app.environ)
    with acting_for(site, name) as worker:
        text = _as_sent(site, worker, feedback)
        check_text(text)
        receipt = receipt_of(decide_and_run(site, name, ev.WorkRejected(site.now(), text, feedback)))
    return receipt_result(receipt, name)


def _as_sent(site: Site, worker: Worker, feedback: str) -> str:
    if not site.agent_of(worker).takes_prose:
        return feedback
    span = work_span(site, worker)
    diff = plain(diff_text(site.git, site.root.path, *span)) if span is not None else ""
    return feedback_prompt(feedback, diff)


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
