"""Making a new worktree ready: its submodules, and the commands of `[repo] setup`."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from typing import IO

from llmc.core.display import one_line
from llmc.core.lifecycle.setup_events import SetupBegun, SetupDone, SetupFailed
from llmc.errors import LlmcError
from llmc.git.backup import make_backup
from llmc.git.hidden import whole_status
from llmc.git.worktree import reset_in_place
from llmc.host.files import disk_errors, make_own_directory, open_own
from llmc.model import Step, Worker
from llmc.perform.notices import tell
from llmc.perform.repo_commands import CommandHungError, Place, require_success, run_repo_command
from llmc.perform.start import LeftToTheNextError
from llmc.perform.worker_variables import worker_variables
from llmc.perform.worktrees import update_submodules
from llmc.site import Site

SETUP = "setup"
"""The signal of a command that was begun."""
SUBMODULES = "git submodule update"
LONGEST_REASON = 400


def set_up(site: Site, worker: Worker, step: Step) -> SetupFailed | None:
    """That it has succeeded is kept before the agent is started. Whoever dies on the way has it begun again."""
    with opened_log(site, worker.name) as log:
        try:
            had_work = _has_work(site, worker)
            try:
                # Marked as an agent is: what is left is found.
                marks = {"LLMC_WORKER": worker.name, "LLMC_ROOT": site.root.path}
                place = Place(
                    worker.name,
                    worker.worktree_path,
                    {**worker_variables(site, worker), **marks},
                    site.is_fenced(worker.name),
                )
                run_setup(site, place, log, lambda command: _begin(site, worker, step, command))
            finally:
                put_back = () if had_work else _put_back(site, worker)
        except LlmcError as failed:
            first, *lines = failed.what.splitlines()
            with suppress(LlmcError):  # a full disk may be why it failed
                _write(log, f"{first.rstrip(':')}\n")
            why = f"{first} {lines[-1]}" if lines else first.rstrip(":")
            return SetupFailed(site.now(), step.id, one_line(why, LONGEST_REASON))
    tell(site, site.ledger.apply(worker.name, SetupDone(site.now(), step.id, put_back)))
    return None


def _has_work(site: Site, worker: Worker) -> bool:
    """Then nobody can tell the changes of the setup from others. What a setup that was killed has left is no work."""
    was_killed = worker.evidence.signal == SETUP and not worker.current_prompt
    return not was_killed and bool(whole_status(site.git, worker.worktree_path).entries)


def _put_back(site: Site, worker: Worker) -> tuple[str, ...]:
    """What belongs to no task would keep every task away."""
    place, seen = worker.worktree_path, whole_status(site.git, worker.worktree_path)
    if not seen.entries or seen.head is None or seen.branch != worker.branch:
        return ()
    make_backup(site.git, place, worker.name, site.now(), safe_sha=seen.head, reason="setup", seen=seen)
    reset_in_place(site.git, place, worker.branch, seen.head)
    return tuple(entry.path for entry in seen.entries)


def opened_log(site: Site, name: str) -> IO[bytes]:
    path = f"{site.root.setup_logs}/{name}.log"
    with disk_errors(path):
        make_own_directory(site.root.setup_logs)
        return open(open_own(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND), "r+b", buffering=0)


def run_setup(site: Site, place: Place, log: IO[bytes], begun: Callable[[str], object]) -> None:
    """Raises when one of the commands fails. `begun` is told each of them before it runs."""
    repo = site.config.repo
    if repo.submodules:
        _begin_in(log, SUBMODULES, begun)
        update_submodules(site, place.name)
    for command in repo.setup:
        _begin_in(log, command, begun)
        try:
            done = run_repo_command(site, place, command, repo.setup_timeout_secs, log)
        except CommandHungError as hung:
            raise CommandHungError(f"{hung.what} (repo.setup_timeout_secs)") from None
        if not done.ok and site.leaving.is_set():
            raise LeftToTheNextError
        require_success(command, done)


def _begin_in(log: IO[bytes], command: str, begun: Callable[[str], object]) -> None:
    begun(command)
    _write(log, f"$ {command}\n")


def _begin(site: Site, worker: Worker, step: Step, command: str) -> None:
    site.ledger.apply(worker.name, SetupBegun(site.now(), step.id, command))


def _write(log: IO[bytes], text: str) -> None:
    with disk_errors("the log of the setup"):
        log.write(text.encode("utf-8", "replace"))
