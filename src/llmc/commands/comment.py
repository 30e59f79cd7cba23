"""`llmc comment`: comments on lines of a worker's work, kept until `llmc reject` sends them as one round."""

from __future__ import annotations

import re
from argparse import Namespace

from llmc.app import App
from llmc.care.acting import acting_for
from llmc.commands.shared.result import Result
from llmc.commands.shared.rounds import add_comment, comments_in
from llmc.commands.shared.text_input import forget_drafts, text_from
from llmc.core.tasks.rounds import ReviewRecord, brief, comment_data, round_data
from llmc.errors import InvalidUsageError
from llmc.model import Worker
from llmc.site import Site

_PLACE = re.compile(r"(.+):([0-9]{1,9})(?:-([0-9]{1,9}))?", re.DOTALL)
"""What is before the last colon is the path, whatever that has in it."""


def run(app: App, args: Namespace) -> Result:
    site = app.site()
    _check_words(args)
    worker = site.worker(args.worker)
    if args.list:
        return _listed(site, worker)
    if args.remove is not None:
        return _remove(site, worker, args.remove)
    path, line, end_line = _place(args)
    text = text_from(args.text, args.file, environ=app.environ)
    with acting_for(site, worker.name) as worker:
        added = add_comment(site, worker, path, line, end_line, text)
        number = len(comments_in(site).of(worker).open)
    forget_drafts()
    told = f"open comments: {number}; `llmc reject {worker.name}` sends them as one round"
    return Result(f"{brief(added)}\n{told}", {"worker": worker.name, "open": number, **comment_data(added)})


def _check_words(args: Namespace) -> None:
    if (args.place is not None) + (args.remove is not None) + args.list != 1:
        hint = f'`llmc comment {args.worker} FILE:LINE "TEXT"`, `--list` or `--remove N`'
        raise InvalidUsageError("say one thing: a comment, --list or --remove", hint)


def _place(args: Namespace) -> tuple[str, int, int]:
    found = _PLACE.fullmatch(args.place)
    if found is None:
        hint = f'`llmc comment {args.worker} FILE:LINE "TEXT"`, or FILE:FIRST-LAST for several'
        raise InvalidUsageError(f"{args.place} names no line", hint)
    return found[1], int(found[2]), int(found[3] or found[2])


def _remove(site: Site, worker: Worker, number: int) -> Result:
    with site.lock_of(worker.name):
        removed = comments_in(site).remove(site.worker(worker.name), number)
    return Result(f"removed {brief(removed)}", {"worker": worker.name, **comment_data(removed)})


def _listed(site: Site, worker: Worker) -> Result:
    record = comments_in(site).of(worker)
    data = {
        "worker": worker.name,
        "task": worker.task or None,
        "comments": [comment_data(each) for each in (*record.earlier, *record.open)],
        "rounds": [round_data(each) for each in record.rounds],
    }
    return Result("\n".join(_lines(record)) or f"there are no comments on {worker.name}'s work", data)


def _lines(record: ReviewRecord) -> list[str]:
    lines = []
    for sent in record.rounds:
        lines += [f"round {sent.number}{f': {sent.message}' if sent.message else ''}"]
        lines += [f"  {brief(each)}" for each in record.earlier if each.round == sent.number]
    return [*lines, *(["open"] if record.open else []), *(f"  {brief(each)}" for each in record.open)]
