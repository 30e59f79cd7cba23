"""The repository's own checks, run in a scratch worktree on exactly the tree that would land."""

from __future__ import annotations

import time
from dataclasses import replace

from llmc.core.display import some
from llmc.core.tasks.checks import CheckResult, TreeVerdict, shortened, verdict_of
from llmc.errors import LlmcError
from llmc.git.hidden import whole_status
from llmc.git.parse import StatusKind
from llmc.git.repository import require_object
from llmc.git.worktree_identity import foreign_git
from llmc.host.faults import Moment, reached
from llmc.model import Json, Worker
from llmc.perform.repo_commands import CommandHungError, Place, last_lines, run_repo_command
from llmc.perform.scratch import end_left, prepare, put_back, scratch_for
from llmc.perform.start import LeftToTheNextError
from llmc.site import Site
from llmc.store.check_files import WorkChecks, write_note
from llmc.store.check_results import keep_result, read_results
from llmc.store.task_database import TasksFullError
from llmc.store.tasks import TaskEvent

LOOK_EVERY_SECS = 0.1
CHECKED = "checked"
"""The kind of what is noted in the history of a task."""


class ValidationFailedError(LlmcError):
    """A command of `[repo] validate` says no; nothing was merged."""


def check_commit(site: Site, commit: str, *, again: bool = False) -> TreeVerdict:
    """What `[repo] validate` says of the tree of this commit. Waits until a scratch worktree is free.

    What is known of that tree is not run again unless `again`. Safe in threads and processes.
    """
    commit = require_object(site.git, site.root.path, commit, "commit")
    tree = require_object(site.git, site.root.path, commit, "tree")
    since = site.now() if again else 0.0
    while (verdict := _known(site, tree, since)) is None:
        with scratch_for(site, tree) as number:
            if number is not None:
                # Whoever had it before us may have been at this very tree.
                return _known(site, tree, since) or _check(site, number, commit, tree, since)
        if site.leaving.wait(LOOK_EVERY_SECS):
            raise LeftToTheNextError
        site.progress("waits until another check is over")
    return verdict


def known_verdict(site: Site, tree: str) -> TreeVerdict | None:
    """What earlier runs have found; None when not all of it is known. Runs nothing."""
    return _known(site, tree, 0.0)


def _known(site: Site, tree: str, since: float) -> TreeVerdict | None:
    commands = site.config.repo.validate
    return verdict_of(tree, commands, read_results(site.ledger.tasks.database, tree, since) if commands else {})


def state_of(verdict: TreeVerdict) -> str:
    return "passed" if verdict.passed else "failed"


def note_checked(site: Site, worker: Worker, verdict: TreeVerdict) -> None:
    """For whoever looks at the worker, or at its task, later: its history has what one run found once."""
    failed = verdict.failed
    command = failed.command if failed is not None else ""
    mark = WorkChecks(state_of(verdict), worker.commit_sha or "", verdict.tree, command, verdict.at_unix)
    write_note(site.root.checks_file(worker.name), mark)
    if worker.task:
        passed = ", ".join(f"`{each.command}`" for each in verdict.results)
        detail = f"`{command}` {failed.problem}" if failed is not None else f"passed: {passed}"
        results: list[Json] = [
            {"command": each.command, "passed": each.passed, "secs": each.secs} for each in verdict.results
        ]
        data: dict[str, Json] = {"tree": verdict.tree, "passed": verdict.passed, "at_unix": verdict.at_unix}
        data["results"] = results
        if not any(each.kind == CHECKED and each.data == data for each in site.ledger.tasks.history(worker.task)):
            site.ledger.tasks.note(worker.task, TaskEvent(site.now(), CHECKED, worker.name, detail, data))


def failure_words(failed: CheckResult) -> str:
    return f"`{failed.command}` {failed.problem}:{last_lines(failed.output)}".rstrip(":")


def _check(site: Site, number: str, commit: str, tree: str, since: float) -> TreeVerdict:
    known = read_results(site.ledger.tasks.database, tree, since)
    verdict = _run_all(site, number, commit, tree, known)
    if verdict.failed is not None and known:  # it may need what those before it make, which were not run now
        verdict = _run_all(site, number, commit, tree, {})
    return verdict


def _run_all(site: Site, number: str, commit: str, tree: str, known: dict[str, CheckResult]) -> TreeVerdict:
    place = prepare(site, number, commit)
    results: list[CheckResult] = []
    for command in site.config.repo.validate:
        result = known.get(command) or _run(site, place, commit, tree, command)
        results.append(result)
        if not result.passed:
            break
    return TreeVerdict(tree, tuple(results))


def _run(site: Site, place: Place, commit: str, tree: str, command: str) -> CheckResult:
    site.progress(f"`{command}`")
    began, problem = time.monotonic(), ""
    try:
        done = run_repo_command(site, place, command, site.config.repo.validate_timeout_secs)
        said, problem = done.out, "" if done.ok else f"failed with exit code {done.code}"
    except CommandHungError as hung:
        said, problem = hung.out, hung.what.removeprefix(f"`{command}` ")
    if problem and site.leaving.is_set():
        raise LeftToTheNextError
    secs, output = time.monotonic() - began, shortened(said.decode("utf-8", "replace"))
    reached(Moment.ACCEPT_CHECK_RAN)
    end_left(site, place.name)
    problem = problem or _changed(site, place, commit)
    if problem:
        put_back(site, place.name, commit)
    result = CheckResult(tree, command, not problem, output, secs, site.now(), problem)
    result = _kept(site, place, commit, result)
    reached(Moment.ACCEPT_CHECK_KEPT)
    return result


def _kept(site: Site, place: Place, commit: str, result: CheckResult) -> CheckResult:
    """If there is room for it as soon as its files are gone, the command has filled the disk: then it is no pass."""
    database = site.ledger.tasks.database
    try:
        keep_result(database, result)
    except TasksFullError:
        put_back(site, place.name, commit)
        result = replace(result, passed=False, problem=result.problem or "filled the disk")
        keep_result(database, result)
    return result


def _changed(site: Site, place: Place, commit: str) -> str:
    """What the command has made of what it was to check, in words."""
    foreign = foreign_git(site.host, site.root.path, place.name)
    if foreign is not None:
        return f"spoilt the worktree that it ran in: {foreign}"
    try:
        seen = whole_status(site.git, place.path)
    except LlmcError as broken:
        return f"spoilt the worktree that it ran in: {broken.what}"
    changed = tuple(entry.path for entry in seen.entries if entry.kind is not StatusKind.UNTRACKED)
    if changed:
        return f"changed what it was to check: {some(changed)}"
    return "" if seen.head == commit else "made HEAD another commit"
