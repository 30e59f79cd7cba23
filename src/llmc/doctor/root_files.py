"""The directories of the root: whether they are there, who may use them, and whether there is room."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator, Mapping
from dataclasses import field
from pathlib import Path

from llmc.core.display import counted, some
from llmc.doctor.answers import Absent, Answer, Found, known, question
from llmc.doctor.findings import ERROR, Finding, Topic
from llmc.doctor.health import Health, Looking
from llmc.doctor.repairs import Repair, RepairContext, RepairStage, fix
from llmc.errors import LlmcError
from llmc.host.files import is_replaced
from llmc.root import Root
from llmc.store.bad_reports import BAD
from llmc.values import Value

TOPIC = Topic("root")
TRACES = (".worktrees", "state.json", "state.json.bak")
"""Each of them shows that a directory was a root, even if it is damaged now."""
PRIVATE = (".", "state.json", "state.json.bak")
OWN = ("locks", "spool", "agents", "attention")
WRITTEN = (".", ".git", ".worktrees", "logs", "run", "run/locks", "run/spool")
LOW_BYTES = 100 << 20
FULL_BYTES = 5 << 20
LOW_FILES = 1000


# --- look -----------------------------------------------------------------------------------------


class DiskSpace(Value):
    """What is free on the disk of the root; None where it does not count its files."""

    free_bytes: int
    free_files: int | None


class RootFilesSeen(Value):
    present: Answer[Root] = field(metadata=TOPIC.asks("the root", required=True))
    open_paths: Answer[Mapping[str, int]] = field(metadata=TOPIC.asks("who may read the root"))
    """What other users may use, with its mode."""
    read_only: Answer[tuple[str, ...]] = field(metadata=TOPIC.asks("whether the root can be written to"))
    replaced: Answer[tuple[str, ...]] = field(metadata=TOPIC.asks("the directories of the root"))
    """Where LLMC keeps a directory of its own and a link or a file stands."""
    space: Answer[DiskSpace] = field(metadata=TOPIC.asks("the free space"))
    directories: Answer[tuple[str, ...]] = field(metadata=question("worktrees", "the directories of the worktrees"))
    """The names of what lies where the worktrees are and may be one."""


def look(looking: Looking, seen: Health) -> RootFilesSeen:
    return RootFilesSeen(
        looking.present,
        open_paths=looking.ask(_find_open_paths),
        read_only=looking.ask(_find_read_only),
        replaced=looking.ask(lambda root: _find_replaced(root, looking.workers)),
        space=looking.ask(_look_at_space),
        directories=looking.ask(_find_directories),
    )


def find_root(root: Root) -> Answer[Root]:
    """Damaged roots count; a directory that may not be looked into raises."""
    try:
        names = {each.name for each in Path(root.path).iterdir()}
    except (FileNotFoundError, NotADirectoryError):
        return Absent()
    return Found(root) if root.exists or not names.isdisjoint(TRACES) else Absent()


def _find_open_paths(root: Root) -> Answer[Mapping[str, int]]:
    there = (path for name in PRIVATE if (path := Path(root.path, name)).exists())
    modes = {str(path): stat.S_IMODE(path.stat().st_mode) for path in there}
    return Found({path: mode for path, mode in modes.items() if mode & 0o077})


def _find_read_only(root: Root) -> Answer[tuple[str, ...]]:
    there = [path for name in WRITTEN if (path := Path(root.path, name)).exists()]
    return Found(tuple(str(path) for path in there if not os.access(path, os.W_OK)))


def _find_replaced(root: Root, workers: Collection[str]) -> Answer[tuple[str, ...]]:
    """A root may have its `run` on another disk; what is in there is LLMC's alone."""
    spools = [root.spool(name) for name in workers]
    own = [*(root.inside("run", name) for name in OWN), *spools, *(f"{spool}/{BAD}" for spool in spools)]
    own += [*(root.settings_dir(name) for name in workers), root.terminals]
    run = [root.run] if os.path.lexists(root.run) and not os.path.isdir(root.run) else []
    return Found((*run, *(path for path in own if is_replaced(path))))


def _look_at_space(root: Root) -> Answer[DiskSpace]:
    disk = os.statvfs(root.path)
    return Found(DiskSpace(disk.f_bavail * disk.f_frsize, disk.f_favail if disk.f_files else None))


def _find_directories(root: Root) -> Answer[tuple[str, ...]]:
    try:
        there = [each for each in Path(root.worktrees).iterdir() if each.is_dir() and not each.name.startswith(".")]
        return Found(tuple(sorted(each.name for each in there)))
    except FileNotFoundError:
        return Absent()


# --- repair ---------------------------------------------------------------------------------------


@fix(RepairStage.ACCESS, "make a directory", "make the directory {subject}")
def _make_directory(context: RepairContext, repair: Repair) -> str:
    Path(repair.subject).mkdir(mode=0o700)
    return f"made {repair.subject}"


@fix(RepairStage.REPOSITORY, "replace what is no directory", "set {subject} aside and make the directory")
def _replace_directory(context: RepairContext, repair: Repair) -> str:
    path = repair.subject
    if not is_replaced(path):
        return f"{path} is a directory again"
    kept = f"{context.aside}/{os.path.relpath(path, context.root.path).replace('/', '-')}"
    context.host.move(path, kept)
    context.host.make_dir(path)
    return f"what stood there is {kept} now"


@fix(RepairStage.ACCESS, "make writable", "let you write to {subject}")
def _make_writable(context: RepairContext, repair: Repair) -> str:
    path = Path(repair.subject)
    path.chmod(path.stat().st_mode | 0o700)
    if not os.access(path, os.W_OK):
        raise LlmcError(f"{path} still cannot be written to", "make its disk writable")
    return f"you may write to {path}"


@fix(RepairStage.ACCESS, "close to others", "keep other users out of {subject}")
def _close_to_others(context: RepairContext, repair: Repair) -> str:
    path = Path(repair.subject)
    path.chmod(path.stat().st_mode & ~0o077)
    return f"only you may use {path}"


# --- judgement ------------------------------------------------------------------------------------

MISSING = TOPIC.error("root-missing", "there is no LLMC root where it was looked for", "`llmc init`")
READ_ONLY = TOPIC.error(
    "root-read-only",
    "the root, or a directory in it, cannot be written to",
    "`chmod u+w {path}`, or make its disk writable",
    _make_writable,
)
DISK_LOW = TOPIC.warning(
    "disk-low", "the disk of the root is nearly full; an error when it is full", "make room on the disk of {path}"
)
MODES_OPEN = TOPIC.warning(
    "modes-open", "other users may look into the root or its state", "`chmod go= {path}`", _close_to_others
)
REPLACED = TOPIC.error(
    "directory-replaced",
    "a link or a file stands where LLMC keeps a directory of its own; nothing in it is read, written or removed",
    "`llmc doctor --repair` sets it aside and makes the directory; or move {path} away yourself",
    _replace_directory,
)
WORKTREES_MISSING = TOPIC.error(
    "worktrees-missing", "the root has no directory for worktrees any more", "`mkdir {path}`", _make_directory
)


def judge(health: Health) -> Iterator[Finding]:
    seen, root = health.of(RootFilesSeen), health.root.path
    if isinstance(seen.present, Absent):
        yield MISSING.finding(f"there is no LLMC root at {root}", "name yours with --root")
    for path in known(seen.replaced, ()):
        yield REPLACED.finding(f"{path} is not a directory", "LLMC keeps files of its own there", path=path)
    if paths := known(seen.read_only, ()):
        what = f"{some(paths)} cannot be written to"
        yield READ_ONLY.finding(what, "nothing that happens can be kept", path=paths[0])
    for path, mode in known(seen.open_paths, {}).items():
        what = f"other users may use {path} (mode {mode:04o})"
        yield MODES_OPEN.finding(what, "prompts, code and settings are in there", path=path)
    if isinstance(seen.directories, Absent):
        why = "without it no command takes this directory for an LLMC root"
        yield WORKTREES_MISSING.finding(f"{root} has no .worktrees", why, path=f"{root}/.worktrees")
    if isinstance(seen.space, Found):
        yield from _space(root, seen.space.value)


def _space(root: str, space: DiskSpace) -> Iterator[Finding]:
    why = "a change that cannot be written is not made"
    if space.free_bytes < LOW_BYTES:
        severity = ERROR if space.free_bytes < FULL_BYTES else None
        what = f"only {_size(space.free_bytes)} are free on the disk of {root}"
        yield DISK_LOW.finding(what, why, severity=severity, path=root)
    elif space.free_files is not None and space.free_files < LOW_FILES:
        what = f"the disk of {root} has room for {counted(space.free_files, 'more file')}"
        yield DISK_LOW.finding(what, why, path=root)


def _size(number: float) -> str:
    for unit in ("B", "KB", "MB", "GB"):
        if number < 1024:
            return f"{number:.0f} {unit}"
        number /= 1024
    return f"{number:.1f} TB"


def summary(health: Health) -> str:
    space = known(health.of(RootFilesSeen).space, None)
    return f"root {health.root.path}, {_size(space.free_bytes)} free" if space else TOPIC.name
