"""Comments and rounds of review in `tasks.db`, for as long as the work that they are about is there."""

from __future__ import annotations

import json
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from llmc.core.display import counted, one_line
from llmc.core.tasks.rounds import Comment, ReviewRecord, Round, comment_data, last_round, round_data
from llmc.errors import LlmcError
from llmc.model import Outcome, Receipt, Worker
from llmc.store.tasks import TaskEvent, TaskStore

_COMMENT = "number, path, line, end_line, quoted, commit_sha, base_sha, text, at_unix, round"
_ROUND = "number, message, commit_sha, base_sha, at_unix, outcome"
_OF_WORK = "WHERE worker = ? AND task = ?"


class UnknownCommentError(LlmcError):
    """There is no open comment of that number."""


class CommentStore:
    """What a row says of its round is an intention: the worker's record says which round was sent last."""

    def __init__(self, tasks: TaskStore) -> None:
        self._tasks = tasks

    def of(self, worker: Worker) -> ReviewRecord:
        last, work = last_round(worker), (worker.name, worker.task)
        with self._tasks.database.reading() as connection:
            if connection is None:
                return ReviewRecord()
            found = connection.execute(f"SELECT {_COMMENT} FROM comments {_OF_WORK} ORDER BY number", work).fetchall()
            sent = connection.execute(
                f"SELECT {_ROUND} FROM rounds {_OF_WORK} AND number <= ? ORDER BY number", (*work, last)
            ).fetchall()
        comments = [_comment(row, last) for row in found]
        return ReviewRecord(
            tuple(each for each in comments if not each.round),
            tuple(each for each in comments if each.round),
            tuple(_round(row, comments) for row in sent),
        )

    def add(self, worker: Worker, comment: Comment) -> Comment:
        """With its number."""
        work, new = (worker.name, worker.task), comment
        with self._tasks.database.writing() as connection:
            query = f"SELECT coalesce(max(number), 0) + 1 FROM comments {_OF_WORK}"
            number = connection.execute(query, work).fetchone()[0]
            place = (number, new.path, new.line, new.end_line, json.dumps(new.quoted), new.commit_sha, new.base_sha)
            row = (*work, *place, new.text, new.at_unix, 0)
            connection.execute(f"INSERT INTO comments (worker, task, {_COMMENT}) VALUES ({_marks(row)})", row)
        return replace(new, number=number)

    def remove(self, worker: Worker, number: int) -> Comment:
        record = self.of(worker)
        found = next((each for each in record.open if each.number == number), None)
        if found is None:
            sent = next((each for each in record.earlier if each.number == number), None)
            why = f"comment {number} was sent in round {sent.round}" if sent else f"there is no open comment {number}"
            raise UnknownCommentError(why, f"`llmc comment {worker.name} --list` shows those that are open")
        with self._tasks.database.writing() as connection:
            connection.execute(f"DELETE FROM comments {_OF_WORK} AND number = ?", (worker.name, worker.task, number))
        return found

    def begin_round(self, worker: Worker, sent: Round) -> None:
        """It is about to be sent. One of the same number that never arrived is forgotten by this."""
        work = (worker.name, worker.task)
        row = (*work, sent.number, sent.message, sent.commit_sha, sent.base_sha, sent.at_unix, "")
        with self._tasks.database.writing() as connection:
            connection.execute(f"REPLACE INTO rounds (worker, task, {_ROUND}) VALUES ({_marks(row)})", row)
            connection.execute(f"UPDATE comments SET round = 0 {_OF_WORK} AND round >= ?", (*work, sent.number))
            query = f"UPDATE comments SET round = ? {_OF_WORK} AND number = ?"
            connection.executemany(query, [(sent.number, *work, number) for number in sent.comments])
        sending = [each for each in self.of(worker).open if each.number in sent.comments]
        said = [comment_data(replace(each, round=sent.number)) for each in sending]
        parts = (counted(len(said), "comment") if said else "", one_line(sent.message, 150))
        detail = f"round {sent.number}: {'; '.join(filter(None, parts))}"
        data = {**round_data(sent), "comments": said}
        del data["outcome"]  # the receipt says it, which follows
        self._note(worker, sent.at_unix, "round", detail, data)

    def end_round(self, worker: Worker, sent: Round, receipt: Receipt, at: float) -> None:
        """What became of it. The receipt itself is in the history of the task already."""
        with self._tasks.database.writing() as connection:
            query = f"UPDATE rounds SET outcome = ? {_OF_WORK} AND number = ?"
            connection.execute(query, (receipt.outcome.value, worker.name, worker.task, sent.number))
        if receipt.outcome is Outcome.UNDELIVERED:
            detail = f"round {sent.number} was not delivered: its comments are open again"
            self._note(worker, at, "round", detail, {"number": sent.number, "outcome": receipt.outcome.value})

    def _note(self, worker: Worker, at: float, kind: str, detail: str, data: dict[str, Any]) -> None:
        if worker.task:
            self._tasks.note(worker.task, TaskEvent(at, kind, worker.name, detail, MappingProxyType(data)))


def _marks(row: tuple[object, ...]) -> str:
    return ", ".join("?" * len(row))


def _comment(row: tuple[Any, ...], last: int) -> Comment:
    *place, quoted, commit, base, text, at_unix, sent_in = row
    number, path, line, end_line = place
    lines, sent = tuple(json.loads(quoted)), sent_in if sent_in <= last else 0
    return Comment(number, path, line, end_line, lines, commit, base, text, at_unix, sent)


def _round(row: tuple[Any, ...], comments: list[Comment]) -> Round:
    number, message, commit, base, at_unix, outcome = row
    of_it = tuple(each.number for each in comments if each.round == number)
    return Round(number, message, commit, base, at_unix, of_it, outcome)
