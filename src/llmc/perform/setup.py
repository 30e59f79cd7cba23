"""Making a new worktree ready for its agent: its submodules, and the commands of `[repo] setup`."""

from __future__ import annotations

import os
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
from llmc.perform.repo_commands import CommandHungError, run_repo_command
from llmc.perform.start import LeftToTheNextError
from llmc.perform.worktrees import update_submodules
from llmc.site import Site

SETUP = "setup"
"""The signal of a command that was begun."""
SUBMODULES = "git submodule update"
LONGEST_REASON = 400


def set_up(site: Site, worker: Worker, step: Step) -> SetupFailed | None:
    """That it has succeeded is kept before the agent is started. Whoever dies on the way has it begun again."""
    with _opened_log(site, worker) as log:
        try:
            had_work = _has_work(site, worker)
            try:
                _run_all(site, worker, step, log)
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


def _opened_log(site: Site, worker: Worker) -> IO[bytes]:
    path = f"{site.root.setup_logs}/{worker.name}.log"
    with disk_errors(path):
        make_own_directory(site.root.setup_logs)
        return open(open_own(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND), "r+b", buffering=0)


def _run_all(site: Site, worker: Worker, step: Step, log: IO[bytes]) -> None:
    repo = site.config.repo
    if repo.submodules:
        _begin(site, worker, step, log, SUBMODULES)
        update_submodules(site, worker)
    marks = {"LLMC_WORKER": worker.name, "LLMC_ROOT": site.root.path}  # as an agent has them: what is left is found
    for command in repo.setup:
        _begin(site, worker, step, log, command)
        try:
            run_repo_command(
                site,
                worker,
                command,
                repo.setup_timeout_secs,
                marks=marks,
                output=log,
                leaves=site.leaving.is_set,
            )
        except CommandHungError as hung:
            raise CommandHungError(f"{hung.what} (repo.setup_timeout_secs)") from None
        except LlmcError:
            if site.leaving.is_set():
                raise LeftToTheNextError from None
            raise


def _begin(site: Site, worker: Worker, step: Step, log: IO[bytes], command: str) -> None:
    site.ledger.apply(worker.name, SetupBegun(site.now(), step.id, command))
    _write(log, f"$ {command}\n")


def _write(log: IO[bytes], text: str) -> None:
    with disk_errors("the log of the setup"):
        log.write(text.encode("utf-8", "replace"))
