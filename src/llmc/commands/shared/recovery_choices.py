"""Where a repair can be made in more than one way: what there is to choose, and what is best."""

from __future__ import annotations

from llmc.app import App
from llmc.commands.shared.text_input import editor_words
from llmc.core.display import age
from llmc.core.names import name_problem
from llmc.doctor.health import Found, Health
from llmc.doctor.means import Means
from llmc.doctor.rebuild import backup_is_current
from llmc.doctor.repairs import Do
from llmc.errors import LlmcError
from llmc.host.terminal import run_in_terminal
from llmc.store.codec import StateError
from llmc.store.state_file import StateFile

REBUILD = "rebuild it from the worktrees, the terminals and the log of events"
FRESH = "begin afresh, without any worker; worktrees and branches stay where they are"
EDITOR = "open it in your editor"


def choose_recovery(app: App, means: Means, health: Health) -> Do | None:
    """How to make the state again. None when the person wants none of it, or has mended it in the editor."""
    ways: dict[Do | None, str] = {Do.REBUILD_STATE: REBUILD, Do.FRESH_STATE: FRESH}
    backup = health.root.value.backup if isinstance(health.root, Found) else None
    if isinstance(backup, Found):
        ways = {Do.RESTORE_BACKUP: f"restore state.json.bak, from {age(backup.value)} ago", **ways}
    file = StateFile(means.root.path)
    if file.path.is_file() and app.console.is_terminal:
        ways[None] = EDITOR
    best = Do.RESTORE_BACKUP if isinstance(backup, Found) and _backup_will_do(means, file) else Do.REBUILD_STATE
    order = list(ways)
    chosen = app.console.choose("state.json cannot be used:", list(ways.values()), order.index(best))
    if chosen is None:
        return None
    if order[chosen] is None:
        run_in_terminal([*editor_words(app.environ), str(file.path)])
    return order[chosen]


def _backup_will_do(means: Means, file: StateFile) -> bool:
    """Not when anything that can be seen is newer; where nothing can be seen there is nothing to rebuild from."""
    try:
        remains = means.find_remains(means.open_site())
    except LlmcError:
        return True
    try:
        return backup_is_current(file.load_backup(), remains)
    except StateError:
        return False


def choose_orphan(app: App, means: Means, name: str) -> Do | None:
    """A worktree without a worker: work that is in it speaks for a worker whose record was lost."""
    if name_problem(name) is not None:
        return Do.REMOVE_WORKTREE
    holds_work = _holds_work(means, name)
    options = {
        Do.ADOPT_WORKTREE: "make it a worker again",
        Do.REMOVE_WORKTREE: "back it up and remove it",
    }
    order = list(options)
    usual = Do.ADOPT_WORKTREE if holds_work else Do.REMOVE_WORKTREE
    work = "there is work in it" if holds_work else "there is no work in it"
    question = f"the worktree {name} belongs to no worker; {work}:"
    chosen = app.console.choose(question, list(options.values()), order.index(usual))
    return None if chosen is None else order[chosen]


def _holds_work(means: Means, name: str) -> bool:
    try:
        remains = means.find_remains_of(means.open_site(), name)
    except LlmcError:
        return False
    return bool(remains.has_worktree and (remains.ahead or remains.dirty or remains.alive or remains.rebasing))
