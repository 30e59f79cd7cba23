"""What a fenced worker has done in its own git directory, brought into the clone; what LLMC has done, brought back.

Everybody else goes on to look at `refs/heads/llmc/NAME` in the clone. Whoever calls acts for the worker.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import field

from llmc.errors import LlmcError
from llmc.git.backup import backup_commit, is_backed_up
from llmc.git.clone import TRACKING, UPSTREAM
from llmc.git.history import is_ancestor
from llmc.git.private_store import Inventory, StoreError, bring_objects, inventory, is_whole, mark_of, move_inside
from llmc.git.repository import HEADS, resolve
from llmc.host.files import read_own, write_atomically
from llmc.model import Worker
from llmc.perform.fence import has_store, inside_of
from llmc.site import Site
from llmc.values import Value

OWN = "llmc/"
NONE = "0" * 40


class Agreed(Value):
    """What the store and the clone had in common last."""

    mark: str = ""
    heads: dict[str, str] = field(default_factory=dict)
    upstream: str = ""


def take_over(site: Site, worker: Worker) -> bool:
    """Whether anything was new on either side. What cannot be read is noted once, and changes nothing."""
    if not has_store(site, worker):
        return False
    agreed = _agreed(site, worker.name)
    mark = mark_of(site.root.path, site.root.fence_store(worker.name), worker.name, worker.branch)
    tip, upstream = _tips(site, worker)
    if (mark, tip, upstream) == (agreed.mark, agreed.heads.get(worker.branch, ""), agreed.upstream):
        return False
    try:
        return _meet(site, worker, agreed, mark)
    except LlmcError as failed:
        if mark != agreed.mark:
            site.ledger.note(worker.name, site.now(), "fence", f"{failed.what}; {failed.hint}")
            _keep(site, worker.name, Agreed(mark, agreed.heads, agreed.upstream))
        return False


def _tips(site: Site, worker: Worker) -> tuple[str, str]:
    names = (f"{HEADS}{worker.branch}^{{commit}}", f"{UPSTREAM}{site.config.repo.branch}^{{commit}}")
    tip, upstream = site.git.objects(site.root.path, *names)
    return tip or "", upstream or ""


def _meet(site: Site, worker: Worker, agreed: Agreed, mark: str) -> bool:
    inside = inside_of(site, worker.name)
    there = inventory(inside)
    brought = bring_objects(site.git, site.root.path, inside, there)
    heads = {name: _head(site, worker, agreed, there, name) for name in sorted({worker.branch, *_other(there)})}
    tip, upstream = _tips(site, worker)
    theirs = there.heads.get(HEADS + worker.branch, "")
    moves = []
    if tip and theirs != tip:
        moves.append((HEADS + worker.branch, tip, theirs or NONE))
    if upstream and upstream != agreed.upstream:
        moves.append((TRACKING + site.config.repo.branch, upstream, ""))
    if moves:
        move_inside(inside, moves)
        mark = ""  # it was changed by us: the next look says what it is like now
    found = {name: sha for name, sha in heads.items() if sha}
    _keep(site, worker.name, Agreed(mark, found, upstream))
    return bool(brought or moves or found != agreed.heads)


def _other(there: Inventory) -> set[str]:
    """Branches that it has made beside its own. Those that LLMC gives to workers are not for it to move."""
    names = {ref.removeprefix(HEADS) for ref in there.heads}
    return {name for name in names if not name.startswith(OWN)}


def _head(site: Site, worker: Worker, agreed: Agreed, there: Inventory, name: str) -> str:
    """Where the branch is from now on, in the clone."""
    theirs, ours = there.heads.get(HEADS + name, ""), resolve(site.git, site.root.path, HEADS + name) or ""
    known = agreed.heads.get(name, "")
    if theirs in ("", ours, known):
        return ours if name == worker.branch or ours == theirs else ""
    if ours not in ("", known):
        return _gone_apart(site, worker, name, theirs, ours)
    if not is_whole(site.git, site.root.path, theirs, ours, _upstream(site)):
        raise StoreError(f"{name} in the fence names commits that are not whole", "see `llmc peek`")
    order = f"option no-deref\nupdate {HEADS}{name} {theirs} {ours or NONE}\n"
    site.git.run(site.root.path, "update-ref", "-m", "from the fence", "--stdin", stdin=order.encode())
    return theirs


def _upstream(site: Site) -> str | None:
    return resolve(site.git, site.root.path, UPSTREAM + site.config.repo.branch)


def _gone_apart(site: Site, worker: Worker, name: str, theirs: str, ours: str) -> str:
    """LLMC has moved the branch while the worker did: LLMC's holds, and the worker's commits are kept."""
    git, root = site.git, site.root.path
    if name != worker.branch:
        return ""  # somebody else's branch of the same name
    if not is_ancestor(git, root, theirs, ours) and not is_backed_up(git, root, worker.name, theirs):
        backup_commit(git, root, worker.name, site.now(), worker.branch, theirs, "made in the fence meanwhile")
    return ours


# --- what is kept of it ---------------------------------------------------------------------------


def _path(site: Site, name: str) -> str:
    return f"{site.root.fence(name)}/agreed.json"


def _agreed(site: Site, name: str) -> Agreed:
    with suppress(OSError, ValueError, TypeError, AttributeError):
        said = json.loads(read_own(_path(site, name)))
        return Agreed(str(said["mark"]), {str(k): str(v) for k, v in said["heads"].items()}, str(said["upstream"]))
    return Agreed()


def _keep(site: Site, name: str, agreed: Agreed) -> None:
    kept = {"mark": agreed.mark, "heads": agreed.heads, "upstream": agreed.upstream}
    write_atomically(_path(site, name), json.dumps(kept))
