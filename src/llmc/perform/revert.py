"""A landing taken back: always by a commit on top of the branch, which is never moved backwards."""

from __future__ import annotations

from contextlib import suppress

from llmc.core.display import some
from llmc.core.tasks.task import Standing, Task
from llmc.errors import LlmcError
from llmc.git.clone import note_moved, same_or_fetched
from llmc.git.history import is_ancestor, subjects_of
from llmc.git.land import BranchMovedError, Order, signs
from llmc.git.parse import encode
from llmc.git.replay import merge_from
from llmc.git.repository import forget_refs, require_object, resolve
from llmc.host.faults import Moment, reached
from llmc.host.locks import FileLock
from llmc.perform.landing import LANDING, land, settle_landings
from llmc.site import Site
from llmc.store.tasks import TaskEvent

TRIES = 5
"""How often it is tried on a branch that moves on in the same moment."""
WAIT_SECS = 60.0


class NotTakenBackError(LlmcError):
    """The landing stays; nothing was changed."""


def take_back_landing(site: Site, task: Task) -> str:
    """The commit that takes the task's work out of the branch again. The task is cancelled, and can be tried again."""
    if task.standing is not Standing.LANDED or task.landed_sha is None:
        raise NotTakenBackError(
            f"{task.id} has not landed: it is {task.standing.value}{f' ({task.reason})' if task.reason else ''}",
            f"`llmc task show {task.id}` tells more; `llmc undo WORKER` restores backups",
        )
    with FileLock(site.root.landing_lock, name=LANDING, timeout=WAIT_SECS):
        settle_landings(site)
        site.ledger.tasks.database.require_usable()
        made = _taken_back(site, task, task.landed_sha)
    reached(Moment.REVERT_LANDED)
    why = f"taken back by {made[:12]}"
    event = TaskEvent(site.now(), "taken back", detail=f"{task.landed_sha[:12]} {why}")
    site.ledger.tasks.change(task.id, event, standing=Standing.CANCELLED, reason=why)
    forget_refs(site.git, site.root.path, _ref(task))
    return made


def _taken_back(site: Site, task: Task, landed: str) -> str:
    for _ in range(TRIES - 1):
        with suppress(BranchMovedError):  # the user has committed meanwhile
            return _try(site, task, landed)
    return _try(site, task, landed)


def _try(site: Site, task: Task, landed: str) -> str:
    git, root, repo = site.git, site.root.path, site.config.repo
    tip = same_or_fetched(git, repo.source, root, repo.branch)
    if resolve(git, root, landed) is None or not is_ancestor(git, root, landed, tip):
        raise NotTakenBackError(f"{repo.branch} does not have {landed[:12]}, the work of {task.id}", "look at its log")
    before = _taken_back_before(site, task, landed, tip)
    if before is not None:
        return before
    merged = merge_from(git, root, landed, tip, f"{landed}~1")
    if merged.clashes:
        files = some(tuple(clash.path for clash in merged.clashes))
        raise NotTakenBackError(
            f"taking back {landed[:12]} conflicts with what {repo.branch} has since, in {files}; nothing was changed",
            f"revert it by hand: `git -C {repo.source} revert {landed[:12]}`",
        )
    if merged.tree == require_object(git, root, tip, "tree"):
        raise NotTakenBackError(
            f"nothing of {landed[:12]} is left on {repo.branch}: somebody has taken it back already",
            f"`git -C {repo.source} log {repo.branch}` tells who",
        )
    made = _revert_commit(site, task, landed, tip, merged.tree)
    reached(Moment.REVERT_COMMITTED)
    land(site, Order(repo.source, root, repo.branch, tip, made, _ref(task), (), f"Revert {task.id}"))
    with suppress(LlmcError):  # it has landed: whoever fetches next learns of that
        note_moved(git, repo.source, root, repo.branch, tip, made)
    return made


def _revert_commit(site: Site, task: Task, landed: str, tip: str, tree: str) -> str:
    git, root = site.git, site.root.path
    subject = subjects_of(git, root, [landed]).get(landed, landed)
    text = f'Revert "{subject}"\n\nThis reverts commit {landed}.\nIt was the work of task {task.id}: {task.title}\n'
    key = "--gpg-sign" if signs(git, root) else "--no-gpg-sign"
    args = ("-c", "i18n.commitEncoding=UTF-8", "commit-tree", key, "-p", tip, "-F", "-", tree)
    made = git.text(root, *args, stdin=encode(text))
    git.run(root, "update-ref", "--no-deref", _ref(task), made)
    return made


def _taken_back_before(site: Site, task: Task, landed: str, tip: str) -> str | None:
    """By a try that was cut short before it could say so. An agent can move the ref, and it may be of an earlier
    landing of the task: only what takes this very landing back is taken for it."""
    git, root = site.git, site.root.path
    made = resolve(git, root, _ref(task))
    if made is None or not is_ancestor(git, root, made, tip):
        return None
    onto, tree = git.objects(root, f"{made}~1^{{commit}}", f"{made}^{{tree}}")
    if onto is None or not is_ancestor(git, root, landed, onto):
        return None
    merged = merge_from(git, root, landed, onto, f"{landed}~1")
    return made if not merged.clashes and merged.tree == tree else None


def _ref(task: Task) -> str:
    return f"refs/llmc/revert/{task.id}"
