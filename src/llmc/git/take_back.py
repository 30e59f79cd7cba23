"""A landing that was cut short: finished, if the branch has moved, else taken back, file by file.

Git brings the files along first, then the index, and moves the branch last. As long as the branch has not moved, every
path that the landing changes is looked at: what the landing wrote is made what it was, what the user made stays.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from itertools import islice

from llmc.core.landing.journal import Entry, Landing, Whose, whose
from llmc.errors import LlmcError, system_hint, system_words
from llmc.git.copying import bring_objects
from llmc.git.history import is_on_branch
from llmc.git.locks import LOOK_EVERY_SECS, SourceLockedError, free_from_locks
from llmc.git.parse import encode, nul_fields
from llmc.git.rendering import KINDS, Rendering, rendering
from llmc.git.repository import require_commit, resolve
from llmc.git.runner import LONG, Git
from llmc.host import entries
from llmc.host.faults import Moment, reached
from llmc.host.processes import marked_processes
from llmc.values import Value

MARK = "LLMC_LANDING"
"""In the environment of the git that writes, and of all that it starts."""
_WRITERS = frozenset(("merge", "checkout--worker", "update-ref"))
"""Whatever else has the mark (a hook's server, a watcher, `git gc`) writes no files of the checkout."""
_GITLINK = "160000"
_NONE = "000000"
AT_ONCE = 64
"""Paths whose contents are in memory together."""


class HalfLandedError(LlmcError):
    """The user's checkout is as the landing left it; the journal knows, and whoever comes next tries again."""


class SettledLanding(Value):
    landed: bool
    left: tuple[str, ...] = ()
    """Paths of the landing that hold something of the user's own."""


class _LandedChange(Value):
    path: str
    old: tuple[str, str]
    """Mode and blob."""
    new: tuple[str, str]

    @property
    def adds_file(self) -> bool:
        return self.old[0] not in KINDS and self.new[0] in KINDS

    @property
    def adds_submodule(self) -> bool:
        return self.old[0] != _GITLINK and self.new[0] == _GITLINK


def settle_landing(git: Git, root: str, landing: Landing) -> SettledLanding:
    """Repeatable, and right after any end of the landing, or of an earlier try to settle it."""
    place = landing.checkout or landing.source
    try:
        if landing.checkout is not None and git.host.exists(landing.source) and not git.host.is_dir(landing.checkout):
            return SettledLanding(has_landed(git, landing))
        _wait_for_writers(git, landing)
        free_from_locks(git, place, landing.branch, landing.begun_unix, with_index=landing.checkout is not None)
        reached(Moment.TAKEBACK_UNLOCKED)
        if resolve(git, landing.source, landing.new) is None:
            bring_objects(git, landing.source, root, landing.ref, landing.new)  # a `git gc` has cleared it away
        landed = has_landed(git, landing)
        if landed or landing.checkout is None:
            return SettledLanding(landed)
        return SettledLanding(False, _take_back(git, root, landing, landing.checkout))
    except LlmcError as failure:
        raise _half_landed(landing, failure.what, failure.hint) from failure
    except OSError as failure:
        raise _half_landed(landing, system_words(failure), system_hint(failure)) from failure


def _half_landed(landing: Landing, why: str, hint: str) -> HalfLandedError:
    what = f"landing {landing.words} was cut short and could not be taken back yet: {why}"
    again = "the next llmc command that needs it tries again, and so does `llmc doctor --repair`"
    return HalfLandedError(what, f"{hint}; {again}" if hint else again)


def has_landed(git: Git, landing: Landing) -> bool:
    return is_on_branch(git, landing.source, landing.branch, landing.new)


def _wait_for_writers(git: Git, landing: Landing) -> None:
    """A git that outlived whoever started it may still be writing."""
    until = time.monotonic() + git.patience
    while writers := [each for each in marked_processes(**{MARK: landing.id}) if _is_writer(each.command)]:
        if time.monotonic() >= until:
            raise SourceLockedError(
                f"`{writers[0].command}` (pid {writers[0].pid}) still lands it", "wait until it has ended"
            )
        time.sleep(LOOK_EVERY_SECS)


def _is_writer(command: str) -> bool:
    return not _WRITERS.isdisjoint(command.split())


class _Checkout(Value):
    """What of the landing is to be looked at, and how."""

    path: str
    changes: tuple[_LandedChange, ...]
    """All that the landing makes of what the user has now."""
    hidden: frozenset[str]
    modes_count: bool

    @property
    def visible(self) -> list[_LandedChange]:
        return [each for each in self.changes if each.path not in self.hidden]


def _take_back(git: Git, root: str, landing: Landing, checkout: str) -> tuple[str, ...]:
    """Paths that hold something of the user's own, and were left."""
    not_ours = _not_ours(git, landing, checkout)
    changes = tuple(each for each in _changes(git, landing, checkout) if each.path not in not_ours)
    there = _Checkout(checkout, changes, _hidden(git, checkout), _modes_count(git, checkout))
    scratch = f"{root}/run/landing-{landing.id}"
    with (
        rendering(git, checkout, landing.old, f"{scratch}-old") as old,
        rendering(git, checkout, landing.new, f"{scratch}-new") as new,
    ):
        left = _remove_added(there, new)
        reached(Moment.TAKEBACK_REMOVED)
        left += _put_back(there, old, new)
        reached(Moment.TAKEBACK_PUT_BACK)
    _put_index_back(git, landing, there)
    reached(Moment.TAKEBACK_INDEXED)
    return tuple(left)


# --- what the landing changes -------------------------------------------------------------------------


def _changes(git: Git, landing: Landing, checkout: str) -> Iterator[_LandedChange]:
    args = ("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", landing.old, landing.new)
    fields = nul_fields(git.run(checkout, *args).out)
    for raw, path in zip(fields[::2], fields[1::2], strict=True):
        old_mode, new_mode, old_sha, new_sha, _status = raw.removeprefix(":").split(" ")
        yield _LandedChange(path, (old_mode, old_sha), (new_mode, new_sha))


def _not_ours(git: Git, landing: Landing, checkout: str) -> frozenset[str]:
    """What the user had staged before, and what they have committed or checked out since."""
    head = require_commit(git, checkout, "HEAD")
    args = ("diff-tree", "-r", "-z", "--name-only", "--no-renames", landing.old, head)
    moved = nul_fields(git.run(checkout, *args).out) if head != landing.old else ()
    return frozenset((*landing.staged, *moved))


def _hidden(git: Git, checkout: str) -> frozenset[str]:
    """Paths that git does not write here: left out of a sparse checkout, or marked so by the user."""
    listed = nul_fields(git.run(checkout, "ls-files", "-t", "-z").out)
    return frozenset(line[2:] for line in listed if line.startswith("S "))


def _modes_count(git: Git, checkout: str) -> bool:
    said = git.ask(checkout, "config", "--type=bool", "--get", "core.fileMode")
    return said is None or said.text.strip() != "false"


# --- files --------------------------------------------------------------------------------------------


def _remove_added(there: _Checkout, new: Rendering) -> list[str]:
    """First of all: it makes room on a full disk, and for files that were directories meanwhile."""
    left: list[str] = []
    for some in _batches(each for each in there.visible if each.adds_file):
        for path, entry in new.entries({each.path: each.new for each in some}).items():
            left += _judge(there, path, None, entry)
    for each in there.visible:
        if each.adds_submodule:
            entries.remove_if_empty(f"{there.path}/{each.path}")
        if each.adds_file or each.adds_submodule:
            _remove_empty_above(there, each.path)
    return left


def _remove_empty_above(there: _Checkout, path: str) -> None:
    above = path.rpartition("/")[0]
    while above and not entries.is_barred(there.path, path) and entries.remove_if_empty(f"{there.path}/{above}"):
        above = above.rpartition("/")[0]


def _put_back(there: _Checkout, old: Rendering, new: Rendering) -> list[str]:
    left: list[str] = []
    for some in _batches(each for each in there.visible if each.old[0] in KINDS):
        before = old.entries({each.path: each.old for each in some})
        after = new.entries({each.path: each.new for each in some if each.new[0] in KINDS})
        for path, entry in before.items():
            left += _judge(there, path, entry, after.get(path))
    return left


def _judge(there: _Checkout, path: str, old: Entry | None, new: Entry | None) -> list[str]:
    """The path itself, if what stands there is the user's and stays."""
    verdict = whose(entries.look_at(there.path, path), old, new, modes_count=there.modes_count)
    if verdict is Whose.USER or (verdict is Whose.LANDING and entries.is_barred(there.path, path)):
        return [path]
    if verdict is Whose.LANDING and old is None:
        entries.remove(f"{there.path}/{path}")
    elif verdict is Whose.LANDING and old is not None:
        entries.put(there.path, path, old)
    return []


def _batches(changes: Iterable[_LandedChange]) -> Iterator[list[_LandedChange]]:
    rest = iter(changes)
    while some := list(islice(rest, AT_ONCE)):
        yield some


# --- the index ----------------------------------------------------------------------------------------


def _put_index_back(git: Git, landing: Landing, there: _Checkout) -> None:
    """Exactly the entries that the landing has made; others may be something that the user has staged."""
    args = ("diff-index", "--cached", "--name-only", "--no-renames", "-z", landing.new, "--")
    others = frozenset(nul_fields(git.run(there.path, *args).out))
    ours = [each for each in there.changes if each.path not in others]
    if not ours:
        return
    # What goes out goes first: a directory may have become a file.
    lines = [f"0 {'0' * len(each.old[1])}\t{each.path}\0" for each in ours]
    lines += [f"{each.old[0]} {each.old[1]}\t{each.path}\0" for each in ours if each.old[0] != _NONE]
    git.run(there.path, "update-index", "-z", "--index-info", stdin=encode("".join(lines)), timeout=LONG)
    hidden = "".join(f"{each.path}\0" for each in ours if each.path in there.hidden and each.old[0] != _NONE)
    if hidden:
        git.run(there.path, "update-index", "--skip-worktree", "-z", "--stdin", stdin=encode(hidden))
    # Exit code 1 only says that some files differ from the index: the user's own.
    git.run(there.path, "update-index", "-q", "--refresh", check=False, timeout=LONG)
