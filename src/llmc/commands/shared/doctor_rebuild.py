"""`llmc doctor --rebuild`: the state from what there is. Shown first, saved when the person agrees."""

from __future__ import annotations

import time

from llmc.app import App, open_site
from llmc.commands.shared.doctor_repair import NobodyToAskError
from llmc.commands.shared.result import Result
from llmc.core.display import counted, one_line
from llmc.doctor.remains import Rebuilt, find_remains, rebuilt
from llmc.doctor.state import save_rebuilt
from llmc.errors import DeclinedError
from llmc.root import Root
from llmc.store.codec import StateError
from llmc.store.state_file import StateFile

TASK_SHOWN = 50


def rebuild(app: App, root: Root) -> Result:
    site = open_site(root)
    found = [rebuilt(remains, time.time()) for remains in find_remains(site).values()]
    app.console.say("\n".join([*_table(found), *_warning(root)]))
    if not app.console.can_ask:
        raise NobodyToAskError(
            "this needs a confirmation and there is no terminal; nothing was changed", "pass --yes to save this"
        )
    if not app.console.confirm("Save this as the state? What is there now is kept aside."):
        raise DeclinedError("nothing was changed", "`llmc doctor --repair` may restore the backup")
    workers = [each.worker for each in found]
    save_rebuilt(root, workers)
    for worker in workers:
        site.ledger.note(worker.name, site.now(), "rebuilt", f"{worker.work.value}: {worker.evidence.detail}")
    data = {"schema": 1, "workers": [_data(each) for each in found]}
    return Result(f"saved {counted(len(found), 'worker')}; `llmc up` looks after them", data)


def _table(found: list[Rebuilt]) -> list[str]:
    if not found:
        return ["there is neither a worktree nor a branch of any worker"]
    lines = []
    for each in found:
        worker, source = each.worker, each.known_from
        lines.append(f"{worker.name}: {worker.work.value} ({source['work']}), {worker.status}")
        lines.append(f"  agent {worker.agent} (from {source['agent']}); {source['session']}")
        commit = f"commit {worker.commit_sha[:12]}" if worker.commit_sha else "no commits of its own"
        lines.append(f"  {worker.branch}: {commit}")
        task = one_line(worker.current_prompt, TASK_SHOWN) if worker.current_prompt else source["task"]
        lines.append(f"  task: {task}" + (f" (from {source['task']})" if worker.current_prompt else ""))
    return lines


def _warning(root: Root) -> list[str]:
    """Somebody may ask for this although nothing is wrong."""
    try:
        now = StateFile(root.path).load()
    except StateError:
        return []
    return [f"state.json is fine, though, and knows {', '.join(now.workers) or 'no workers'}: this would replace it"]


def _data(each: Rebuilt) -> dict[str, object]:
    worker = each.worker
    return {
        "name": worker.name,
        "status": worker.status,
        "work": worker.work.value,
        "session": worker.session.value,
        "agent": worker.agent,
        "branch": worker.branch,
        "worktree_path": worker.worktree_path,
        "commit_sha": worker.commit_sha,
        "current_prompt": worker.current_prompt,
        "known_from": dict(each.known_from),
    }
