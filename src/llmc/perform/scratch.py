"""Scratch worktrees of LLMC's own: a small pool for all processes and threads that check something in this root."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace

from llmc.errors import LlmcError
from llmc.git.own_view import place_of
from llmc.git.worktree import remove_scratch, show_commit
from llmc.host.files import disk_errors, make_own_directory
from llmc.host.locks import FileLock, is_held
from llmc.host.processes import end_all, marked_processes
from llmc.perform.fence import checks_are_fenced
from llmc.perform.repo_commands import Place
from llmc.perform.setup import opened_log, run_setup
from llmc.perform.worker_variables import variables_of
from llmc.perform.worktrees import carry_ignored_files, update_submodules
from llmc.site import Site
from llmc.store.check_files import ScratchNote, read_note, write_note

MARK = "LLMC_CHECK"
"""In the environment of all that runs in a scratch worktree: its path."""
ROUNDS = 3
"""What is ended may have started another program in its last moment."""


class NotSetUpError(LlmcError):
    """There is no place to check in: nothing is known of the work."""


@contextmanager
def scratch_for(site: Site, tree: str) -> Iterator[str | None]:
    """The number of one that nobody else has meanwhile; None when none is free, or somebody checks this very tree.

    Whoever dies leaves it as it is: the next one ends what still runs there, and resets it.
    """
    with disk_errors(site.root.checks):
        make_own_directory(site.root.checks)
    with FileLock(f"{site.root.checks}/turn.lock", name="the choice of a scratch worktree"):
        lock = _chosen(site, tree)
    if lock is None:
        yield None
        return
    number = lock.path.stem
    try:
        yield number
    finally:
        end_left(site, number)
        with suppress(LlmcError):  # a full disk: the lock tells that nobody is at it
            _note(site, number, tree="")
        lock.release()


def _chosen(site: Site, tree: str) -> FileLock | None:
    free = []
    for number in map(str, range(1, site.config.repo.validate_jobs + 1)):
        lock = scratch_lock(site, number)
        if is_held(lock.path) is None:
            free.append(lock)
        elif read_note(site.root.checks_file(number)).tree == tree:
            return None
    taken = next((each for each in free if each.try_acquire()), None)
    if taken is not None:
        _note(site, taken.path.stem, tree=tree)
    return taken


def scratch_lock(site: Site, number: str) -> FileLock:
    return FileLock(f"{site.root.checks}/{number}.lock", name=f"scratch worktree {number}")


def prepare(site: Site, number: str, commit: str) -> Place:
    """Makes it show exactly this commit, set up as a worker's worktree is."""
    root, path = site.root, place_of(site.root.path, number)
    _leave_no_trap(site, number)
    put_back(site, number, commit)
    carry_ignored_files(site, path)
    own = variables_of(
        site,
        number,
        lambda: read_note(root.checks_file(number)).ports,
        lambda ports: _note(site, number, ports=ports),
    )
    place = Place(number, path, {**own, MARK: path}, checks_are_fenced(site))
    if read_note(root.checks_file(number)).set_up == _wanted(site):
        update_submodules(site, number)
    else:
        _set_up(site, place, commit)
    return place


def _leave_no_trap(site: Site, number: str) -> None:
    """What a fenced check has left in files that git ignores must not run without the fence."""
    fenced, note = checks_are_fenced(site), read_note(site.root.checks_file(number))
    if note.fenced and not fenced:
        remove_scratch(site.git, site.root.path, number)
        site.host.remove_tree(site.root.fence(number))
    if note.fenced != fenced:
        _note(site, number, fenced=fenced, set_up="")


def put_back(site: Site, number: str, commit: str) -> None:
    """Nothing of what happened there before is left, apart from ignored files."""
    end_left(site, number)
    with disk_errors(site.root.scratch):
        make_own_directory(site.root.scratch)
        if show_commit(site.git, site.root.path, number, commit):
            _note(site, number, set_up="")


def _set_up(site: Site, place: Place, commit: str) -> None:
    _note(site, place.name, set_up="")
    with opened_log(site, place.name) as log:
        try:
            run_setup(site, place, log, lambda command: site.progress(f"`{command}`"))
        except LlmcError as failed:
            raise NotSetUpError(
                f"a worktree to check in could not be set up: {failed.what}",
                f"{site.root.setup_logs}/{place.name}.log has all that was said; put repo.setup right, then try again",
            ) from failed
    put_back(site, place.name, commit)  # what the setup changed is not what would land
    _note(site, place.name, set_up=_wanted(site))


def _wanted(site: Site) -> str:
    """The settings that a setup depends on; empty where there is none."""
    repo = site.config.repo
    return repr((repo.setup, repo.submodules, dict(repo.env), repo.ports)) if repo.setup or repo.submodules else ""


def _note(site: Site, number: str, **changes: object) -> None:
    path = site.root.checks_file(number)
    note: ScratchNote = replace(read_note(path), **changes)  # type: ignore[arg-type]
    write_note(path, note)


def end_left(site: Site, number: str) -> None:
    """Ends what was started there and still runs, also what has left its family."""
    for _ in range(ROUNDS):
        left = [each.pid for each in marked_processes(**{MARK: place_of(site.root.path, number)})]
        if not left:
            return
        end_all(left)


def end_abandoned(site: Site) -> None:
    """The same of all of them that nobody has now."""
    prefix = f"{site.root.scratch}/"
    for each in {marked.variables[MARK] for marked in marked_processes(**{MARK: ""})}:
        number = each.removeprefix(prefix)
        if number.isdecimal() and is_held(scratch_lock(site, number).path) is None:
            end_left(site, number)
