"""Writing down all that is known when somebody is called, before it has changed again."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from llmc.core.call_for_help import Scene, bundle_text
from llmc.core.lifecycle.clocks import in_order
from llmc.errors import LlmcError
from llmc.git.repository import status
from llmc.host.files import is_own_directory, write_atomically
from llmc.model import State, Worker
from llmc.root import Root
from llmc.site import Site
from llmc.store.codec import encode

KEPT = 50
"""Of all workers together; the newest."""
PANE_LINES = 100
SHOWN_FILES = 100
SHOWN_EVENTS = 30
_BUNDLE = re.compile(r".+-\d{8}-\d{6}\.txt")


def write_bundle(site: Site, worker: Worker, why: str) -> str | None:
    """Where it is now; None when it could not be written, which must not stand in the way of anything."""
    now = site.now()
    text = bundle_text(worker, why, _scene(site, worker), now)
    stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(now))
    path = Path(site.root.diagnostics, f"{worker.name}-{stamp}.txt")
    try:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        write_atomically(path, text)
        _forget_old(path.parent, now)
    except OSError:
        return None
    return str(path)


def latest_bundle(root: Root, worker: str) -> str | None:
    """The names tell the time, so the last name is the newest."""
    found = [path for path in Path(root.diagnostics).glob(f"{worker}-*.txt") if _is_of(path, worker)]
    return str(max(found)) if found else None


def _is_of(path: Path, worker: str) -> bool:
    """Another worker's name may begin with this one's."""
    return path.stem.removeprefix(f"{worker}-").replace("-", "", 1).isdigit()


def _forget_old(directory: Path, now: float) -> None:
    """Nothing but bundles: somebody may keep other texts there, or have put a link in its place."""
    if not is_own_directory(str(directory)):
        return
    bundles = [path for path in directory.glob("*.txt") if _BUNDLE.fullmatch(path.name)]
    for old in sorted(bundles, key=lambda path: in_order(path.lstat().st_mtime, now))[:-KEPT]:
        with suppress(FileNotFoundError):
            old.unlink()


def _scene(site: Site, worker: Worker) -> Scene:
    return Scene(
        _told(lambda: _pane(site, worker)),
        _told(lambda: _git_status(site, worker)),
        _told(lambda: _events(site, worker)).splitlines(),
        json.dumps(encode(State({worker.name: worker}))["workers"], indent=2, default=str),
    )


def _told(look: Callable[[], str]) -> str:
    try:
        return look()
    except LlmcError as unknown:
        return f"(not known: {unknown.what})"


def _pane(site: Site, worker: Worker) -> str:
    pane = site.tmux.panes().get(worker.session_id)
    if pane is None:
        return "(it has no terminal)"
    lines = [line for line in site.tmux.capture(pane.id, history=PANE_LINES).splitlines() if line.strip()]
    return "\n".join(lines[-PANE_LINES:])


def _git_status(site: Site, worker: Worker) -> str:
    entries = status(site.git, worker.worktree_path)
    return "\n".join(f"{entry.code} {entry.path}" for entry in entries[:SHOWN_FILES])


def _events(site: Site, worker: Worker) -> str:
    events = site.ledger.events.recent(worker.name, limit=SHOWN_EVENTS)
    return "\n".join(
        f"{_clock(event.at_unix)} {event.signal or event.kind} {event.detail}".rstrip() for event in events
    )


def _clock(at: float) -> str:
    return time.strftime("%H:%M:%S", time.localtime(at))
