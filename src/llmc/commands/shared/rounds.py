"""Comments on a worker's work and its rounds of review, for every face."""

from __future__ import annotations

from llmc.core.delivery.texts import check_text
from llmc.core.display import plain
from llmc.core.names import nearest_word
from llmc.core.tasks.rounds import Comment, ReviewRecord, place_of, quoted_lines
from llmc.errors import LlmcError
from llmc.git.history import changed_files
from llmc.git.line_history import file_lines
from llmc.git.since_review import keep_commented
from llmc.model import Worker
from llmc.observe.branches import work_span
from llmc.site import Site
from llmc.store.comments import CommentStore

Span = tuple[str, str]


class NoSuchLinesError(LlmcError):
    """A comment is to be about lines that are not there; nothing was kept."""


def comments_in(site: Site) -> CommentStore:
    return CommentStore(site.ledger.tasks)


def seen_span(site: Site, worker: Worker) -> Span | None:
    """The work as it was reviewed last, or else as it is. None without work."""
    if worker.reviewed is not None and worker.reviewed.commit:
        return worker.reviewed.base, worker.reviewed.commit
    return work_span(site, worker)


def add_comment(site: Site, worker: Worker, path: str, line: int, end_line: int, text: str) -> Comment:
    """The caller acts for the worker (holds its lock)."""
    check_text(text)
    span = seen_span(site, worker)
    if span is None:
        raise LlmcError(f"{worker.name} has no work to comment on", f"`llmc explain {worker.name}` tells what it is at")
    base, commit = span
    quoted = quoted_lines(_lines(site, path, line, end_line, span))
    new = Comment(0, path, line, end_line, quoted, commit, base, text.strip(), site.now())
    keep_record(site, worker, span)
    return comments_in(site).add(worker, new)


def keep_record(site: Site, worker: Worker, *spans: Span) -> ReviewRecord:
    """Nothing that the record is about is collected as garbage, nor what is to come into it."""
    record = comments_in(site).of(worker)
    made_on = [(each.base_sha, each.commit_sha) for each in (*record.open, *record.earlier)]
    sent_on = [(each.base_sha, each.commit_sha) for each in record.rounds]
    kept = {sha for span in (*made_on, *sent_on, *spans) for sha in span if sha}
    keep_commented(site.git, site.root.path, worker.name, kept)
    return record


def _lines(site: Site, path: str, line: int, end_line: int, span: Span) -> tuple[str, ...]:
    lines = file_lines(site.git, site.root.path, span[1], path) if _is_text(path) else None
    if lines is None:
        raise _no_file(site, path, span)
    if not lines:
        raise NoSuchLinesError(
            f"{path} has no lines: it is empty or binary", "say it with the message of `llmc reject`"
        )
    if line > end_line:
        raise NoSuchLinesError(
            f"{place_of(path, line, end_line)} names no lines: {line} comes after {end_line}",
            f"the first line comes first: {plain(path)}:{end_line}-{line}",
        )
    if not 1 <= line <= end_line <= len(lines):
        raise NoSuchLinesError(
            f"there is no {place_of(path, line, end_line)} in commit {span[1][:12]}",
            f"it has the lines 1 to {len(lines)}; say FILE:LINE or FILE:FIRST-LAST",
        )
    return lines[line - 1 : end_line]


def _is_text(path: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in path)


def _no_file(site: Site, path: str, span: Span) -> NoSuchLinesError:
    changed = changed_files(site.git, site.root.path, *span)
    if path in changed:
        hint = "the work deletes it: say it with the message of `llmc reject`"
    else:
        meant = nearest_word(path, changed)
        hint = f"did you mean {meant}?" if meant else "name it as the diff does, from the top of the repository"
    return NoSuchLinesError(f"there is no file {path} in commit {span[1][:12]}", hint)
