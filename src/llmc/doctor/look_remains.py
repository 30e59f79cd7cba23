"""What was left behind: by git, by agents that are gone, by writes that were cut short."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from llmc.core.lifecycle.clocks import elapsed, is_older
from llmc.doctor.health import Answer, Found, GitLock, StateFacts, Stray, Terminal, Unknown
from llmc.doctor.look_git import missing_commits
from llmc.git.parse import decode
from llmc.git.runner import Git
from llmc.host.process_search import marked_processes, works_in
from llmc.root import Root
from llmc.store.lock import is_held
from llmc.store.own_directory import is_own_directory

OLD_LOCK_SECS = 60.0
OLD_WRITE_SECS = 60.0
CUT_SHORT = (".state.json.new", ".state.json.bak.new", ".config.toml.new", ".landings.json.new")
_BROKEN = re.compile(r"warning: ignoring (?:broken ref|dangling symref|ref with broken name) (\S+)")


def find_broken_refs(git: Git, root: Root) -> Answer[tuple[str, ...]]:
    """Those that git itself leaves out, and those whose commit is not there."""
    listed = git.run(root.path, "for-each-ref", "--format=%(objectname) %(refname)")
    pairs = [line.split(" ", 1) for line in decode(listed.out).splitlines()]
    gone = set(missing_commits(git, root.path, tuple(dict.fromkeys(sha for sha, _ in pairs))))
    broken = _BROKEN.findall(listed.err.decode("utf-8", "replace"))
    return Found(tuple(dict.fromkeys([*broken, *(ref for sha, ref in pairs if sha in gone)])))


def find_git_locks(root: Root) -> Answer[tuple[GitLock, ...]]:
    """Old ones only, and none while any git runs in the root: an agent's hooks may keep a lock for long."""
    if not Path("/proc/self").exists():
        return Unknown("there is no /proc to tell whether a git runs", covered=True)
    now = time.time()
    found = ((str(path), at) for path, at in _locks(Path(root.git_dir)) if is_older(at, now, OLD_LOCK_SECS))
    old = tuple(GitLock(path, elapsed(at, now)) for path, at in found)
    return Found(() if old and works_in(root.path, "git") else old)


def _locks(git_dir: Path) -> Iterator[tuple[Path, float]]:
    """With the time of each."""
    for path in _lock_files(git_dir):
        with suppress(FileNotFoundError):  # given back just now
            yield path, path.lstat().st_mtime


def _lock_files(git_dir: Path) -> Iterator[Path]:
    yield from git_dir.glob("*.lock")
    yield from git_dir.glob("worktrees/*/*.lock")
    yield from (git_dir / "refs").rglob("*.lock")


def find_strays(root: Root, terminals: tuple[Terminal, ...]) -> Answer[tuple[Stray, ...]]:
    """Programs of workers that have no running terminal: of the others, nobody can tell what they still need."""
    live = {each.session for each in terminals if each.alive}
    daemon = is_held(root.daemon_lock)
    found = [
        Stray(each.pid, each.variables["LLMC_WORKER"], each.command)
        for each in marked_processes(LLMC_ROOT=root.path, LLMC_WORKER="")
    ]
    return Found(
        tuple(each for each in found if f"llmc-{each.worker}" not in live and each.pid != (daemon and daemon.pid))
    )


def find_left_over(root: Root, state: StateFacts, known: frozenset[str]) -> Answer[tuple[str, ...]]:
    """`known` are names that somebody acts for, or that have a worktree or a branch: their files may be wanted."""
    wanted = known | state.workers.keys()
    files = (path for path in _files_of_workers(root) if path.name.partition(".")[0] not in wanted)
    return Found((*(str(path) for path in files if not _is_in_use(path)), *_cut_short(root)))


def _files_of_workers(root: Root) -> Iterator[Path]:
    for directory, pattern in (("spool", "*"), ("agents", "*"), ("attention", "*.json"), ("locks", "*")):
        if is_own_directory(root.inside("run", directory)):  # through a link they would be somebody else's
            yield from sorted(Path(root.run, directory).glob(pattern))


def _is_in_use(path: Path) -> bool:
    return path.suffix in (".lock", ".pane") and is_held(path) is not None


def _cut_short(root: Root) -> Iterator[str]:
    for path in (Path(root.inside(name)) for name in CUT_SHORT):
        if path.is_file() and is_older(path.stat().st_mtime, time.time(), OLD_WRITE_SECS):
            yield str(path)
