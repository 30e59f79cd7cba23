"""Conflicts and the agent: what it is asked, asked again, and whether what it made of them is sound."""

from __future__ import annotations

import shlex

from llmc.core.lifecycle import events as ev
from llmc.core.prompts.conflicts import (
    COMMITS_LISTED,
    ConflictedFile,
    ConflictStanding,
    conflict_prompt,
    fix_prompt,
    help_prompt,
)
from llmc.errors import LlmcError
from llmc.git.clone import UPSTREAM
from llmc.git.conflicts import Conflict, ConflictKind, conflicts, leftover_markers
from llmc.git.history import merge_base
from llmc.git.parse import nul_fields
from llmc.git.rebase import RebaseProgress, rebase_in_progress
from llmc.git.repository import branch_tip, resolve
from llmc.model import Step, Worker
from llmc.perform.checks import check_commit, failure_words
from llmc.site import Site

COMMITS_ASKED = COMMITS_LISTED + 100


def asked_to_resolve(site: Site, worker: Worker, step: Step, *, with_help: bool = False) -> ev.RebaseConflicted:
    """The request for the place where the rebase stands now; nothing to ask when it is over."""
    progress = rebase_in_progress(site.git, worker.worktree_path)
    if progress is None:
        return ev.RebaseConflicted(site.now(), step.id, (), "")
    found = conflicts(site.git, worker.worktree_path)
    paths = tuple(conflict.path for conflict in found)
    if not site.agent_of(worker).takes_prose:
        return ev.RebaseConflicted(site.now(), step.id, paths, "", for_person=True, began_at=progress.orig_head or "")
    files = [_described(conflict) for conflict in found]
    standing = _standing(site, worker, progress, paths)
    checks = site.config.repo.validate
    if with_help:
        marked = [conflict.path for conflict in found if conflict.regions]
        text = help_prompt(standing, files, marked, checks)
    else:
        text = conflict_prompt(standing, files, checks)
    return ev.RebaseConflicted(site.now(), step.id, paths, text, began_at=progress.orig_head or "")


def _standing(site: Site, worker: Worker, progress: RebaseProgress, paths: tuple[str, ...]) -> ConflictStanding:
    return ConflictStanding(
        worker.current_prompt,
        worker.branch,
        site.config.repo.branch,
        _subject(site, worker, progress.current) if progress.current else "",
        progress.remaining or 0,
        _meanwhile(site, worker, progress, paths),
    )


def _subject(site: Site, worker: Worker, commit: str) -> str:
    return site.git.text(worker.worktree_path, "show", "--no-patch", "--no-show-signature", "--format=%s", commit, "--")


def _meanwhile(site: Site, worker: Worker, progress: RebaseProgress, paths: tuple[str, ...]) -> tuple[str, ...]:
    """The commits of the branch since the work began that touch what conflicts."""
    git, worktree = site.git, worker.worktree_path
    if progress.onto is None or progress.orig_head is None or not paths:
        return ()
    base = merge_base(git, worktree, progress.onto, progress.orig_head)
    since = f"{base}..{progress.onto}" if base else progress.onto
    log = ("log", "-z", f"--max-count={COMMITS_ASKED}", "--no-show-signature", "--format=tformat:%h %s", since, "--")
    return nul_fields(git.run(worktree, "--literal-pathspecs", *log, *paths).out)


def _described(conflict: Conflict) -> ConflictedFile:
    regions = tuple(region.text for region in conflict.regions)
    path = shlex.quote(conflict.path)
    keep, drop, see = f"`git add -- {path}`", f"`git rm -- {path}`", f"`git show :N:{conflict.path}`"
    options: tuple[str, ...] = ()
    match conflict.kind:
        case ConflictKind.DELETED_UPSTREAM:
            options = (f"to keep your version: {keep}", f"to accept the deletion: {drop}")
        case ConflictKind.DELETED_BY_WORKER:
            options = (f"to delete it all the same: {drop}", f"to keep their version: {keep}")
        case ConflictKind.RENAMED_BY_BOTH | ConflictKind.RENAMED_AND_DELETED | ConflictKind.RENAME_COLLISION:
            options = (f"decide for one name; {keep} where the file is to be, {drop} where it is not",)
        case ConflictKind.DIRECTORY_RENAMED:
            options = (f"to leave it where git has put it: {keep}; else move it first",)
        case ConflictKind.BINARY | ConflictKind.SYMLINK | ConflictKind.TYPE | ConflictKind.MODE:
            options = (f"look at both ({see}), make the file what it is to be, then {keep}",)
        case ConflictKind.SUBMODULE:
            options = (f"check out the wanted commit in it, then {keep}",)
        case ConflictKind.FILE_OR_DIRECTORY:
            options = (f"give one of the two another name, then {keep}",)
    return ConflictedFile(conflict.path, conflict.kind.value, regions, options)


def check_resolution(site: Site, worker: Worker, step: Step) -> ev.ResolutionChecked:
    """Whether the work is as sound after its conflicts as it was before them."""
    problem = _left_markers(site, worker) or _failed_check(site, worker)
    if problem is None:
        return ev.ResolutionChecked(site.now(), step.id)
    standing = ConflictStanding(worker.current_prompt, worker.branch, site.config.repo.branch)
    in_short = problem.splitlines()[0].rstrip(":")
    request = fix_prompt(standing, problem) if site.agent_of(worker).takes_prose else ""
    return ev.ResolutionChecked(site.now(), step.id, in_short, request)


def _left_markers(site: Site, worker: Worker) -> str | None:
    git, worktree = site.git, worker.worktree_path
    tip = branch_tip(git, worktree, worker.branch)
    onto = resolve(git, worktree, UPSTREAM + site.config.repo.branch)
    base = merge_base(git, worktree, onto, tip) if onto and tip else None
    if base is None or tip is None:
        return None
    before = resolve(git, worktree, "ORIG_HEAD")
    # A file that is about markers had them before the rebase too.
    meant = set(leftover_markers(git, worktree, base, before)) if before else set()
    left = [path for path in leftover_markers(git, worktree, base, tip) if path not in meant]
    return f"conflict markers are left in {', '.join(left)}" if left else None


def _failed_check(site: Site, worker: Worker) -> str | None:
    try:
        failed = check_commit(site, f"refs/heads/{worker.branch}").failed
    except LlmcError as unknown:
        return f"it could not be checked: {unknown.what}"
    return failure_words(failed) if failed is not None else None
