"""The files of a root: who may use them, whether there is room, what the settings and the state say."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Collection
from pathlib import Path
from types import MappingProxyType

from llmc.agents.packs import broken_packs
from llmc.config import Config, ConfigError, load_config
from llmc.core.lifecycle.clocks import is_future, newest_time
from llmc.doctor.health import (
    Absent,
    Answer,
    Broken,
    Found,
    Inconsistency,
    Newer,
    OpenPath,
    Settings,
    Space,
    StateFacts,
)
from llmc.root import Root
from llmc.store.bad_reports import BAD
from llmc.store.codec import StateError, StateInvalidError, StateNewerError, check, parse
from llmc.store.own_directory import is_replaced
from llmc.store.state_file import StateFile, StateMissingError

PRIVATE = (".", "state.json", "state.json.bak")
OWN = ("locks", "spool", "agents", "attention")
WRITTEN = (".", ".git", ".worktrees", "logs", "run", "run/locks", "run/spool")


def find_open_paths(root: Root) -> Answer[tuple[OpenPath, ...]]:
    found = []
    for name in PRIVATE:
        path = Path(root.path, name)
        if path.exists():
            mode = stat.S_IMODE(path.stat().st_mode)
            found += [OpenPath(str(path), mode)] if mode & 0o077 else []
    return Found(tuple(found))


def find_read_only(root: Root) -> Answer[tuple[str, ...]]:
    there = [path for name in WRITTEN if (path := Path(root.path, name)).exists()]
    return Found(tuple(str(path) for path in there if not os.access(path, os.W_OK)))


def find_replaced(root: Root, workers: Collection[str]) -> Answer[tuple[str, ...]]:
    """A root may have its `run` on another disk; what is in there is LLMC's alone."""
    spools = [root.spool(name) for name in workers]
    own = [*(root.inside("run", name) for name in OWN), *spools, *(f"{spool}/{BAD}" for spool in spools)]
    own += [root.settings_dir(name) for name in workers]
    own += [root.terminals]
    run = [root.run] if os.path.lexists(root.run) and not os.path.isdir(root.run) else []
    return Found((*run, *(path for path in own if is_replaced(path))))


def look_at_space(root: Root) -> Answer[Space]:
    disk = os.statvfs(root.path)
    return Found(Space(disk.f_bavail * disk.f_frsize, disk.f_favail if disk.f_files else None))


def find_directories(root: Root) -> Answer[tuple[str, ...]]:
    """The names of what lies where the worktrees are and may be one."""
    try:
        there = [each for each in Path(root.worktrees).iterdir() if each.is_dir() and not each.name.startswith(".")]
        return Found(tuple(sorted(each.name for each in there)))
    except FileNotFoundError:
        return Absent()


def read_settings(root: Root) -> Answer[Config]:
    if not os.path.lexists(root.config_file):
        return Absent()
    if not Path(root.config_file).is_file():
        return Broken(f"{root.config_file} is not a file", "put a file in its place")
    try:
        return Found(load_config(root.config_file))
    except ConfigError as wrong:
        return Broken(wrong.what, wrong.hint)


def find_broken_packs(root: Root, config: Config) -> Answer[tuple[str, ...]]:
    named = [options.pack for options in config.agents.values() if options.pack]
    return Found(tuple(wrong.what for wrong in broken_packs(root.packs, named)))


def look_at_settings(config: Answer[Config]) -> Answer[Settings]:
    if not isinstance(config, Found):
        return config
    repo, defaults = config.value.repo, config.value.defaults
    return Found(Settings(repo.source, repo.branch, defaults.agent, defaults.patrol_interval_secs))


def look_at_state(root: Root, now: float) -> Answer[StateFacts]:
    file = StateFile(root.path)
    try:
        written, state = file.as_written(), file.load()
    except StateMissingError:
        return Absent()
    except StateNewerError as newer:
        return Newer(newer.what)
    except StateInvalidError as invalid:
        facts = _contradicting(file)
        return Broken(invalid.what) if facts is None else Found(facts)
    except StateError as broken:
        return Broken(broken.what)
    ahead = {name: newest_time(worker) - now for name, worker in written.workers.items()}
    future = MappingProxyType({name: secs for name, secs in ahead.items() if is_future(now + secs, now)})
    return Found(StateFacts(state.workers, state.patrol_last_run_unix, future=future))


def _contradicting(file: StateFile) -> StateFacts | None:
    """The state whose every field is right and that is refused for what they say together; None for any other."""
    try:
        state = parse(json.loads(file.path.read_bytes()))
    except (StateError, ValueError):
        return None
    problems = tuple(Inconsistency(each.worker or None, str(each)) for each in check(state))
    return StateFacts(state.workers, state.patrol_last_run_unix, problems)


def look_at_backup(root: Root, now: float) -> Answer[float]:
    file = StateFile(root.path)
    try:
        file.load_backup()
    except StateMissingError:
        return Absent()
    except StateError as broken:
        return Broken(broken.what)
    return Found(max(0.0, now - file.backup_path.stat().st_mtime))
