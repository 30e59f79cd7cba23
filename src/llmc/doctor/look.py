"""A look at everything that can be wrong. It changes nothing, and no answer that fails keeps another from coming."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

from llmc.doctor.diagnose import diagnose
from llmc.doctor.findings import Finding
from llmc.doctor.health import Absent, Answer, Broken, Clone, Found, Health, RootHealth, StateFacts, Unknown, Version
from llmc.doctor.kinds import NOTE
from llmc.doctor.look_files import (
    find_broken_packs,
    find_directories,
    find_open_paths,
    find_read_only,
    find_replaced,
    look_at_backup,
    look_at_settings,
    look_at_space,
    look_at_state,
    read_settings,
)
from llmc.doctor.look_git import look_at_clone, look_at_following, look_at_lfs, look_at_source
from llmc.doctor.look_landings import find_landings, find_source_locks
from llmc.doctor.look_probe import both, given, probe
from llmc.doctor.look_records import find_unreadable, look_at_daemon, names_acted_for
from llmc.doctor.look_remains import find_broken_refs, find_git_locks, find_left_over, find_strays
from llmc.doctor.look_workers import Surroundings, look_at_agents, look_at_terminals, look_at_workers
from llmc.errors import LlmcError
from llmc.git.runner import MINIMUM as GIT_MINIMUM
from llmc.git.runner import Git
from llmc.host.base import Host
from llmc.host.local import ProgramHungError, ProgramMissingError
from llmc.model import Worker
from llmc.root import Root
from llmc.tmux.server import MINIMUM as TMUX_MINIMUM
from llmc.tmux.server import Tmux

T = TypeVar("T")

MINIMUM: Mapping[str, Version] = {"git": GIT_MINIMUM, "tmux": TMUX_MINIMUM}
TOOLS = ("git-lfs", "difft", "delta")
TRACES = (".worktrees", "state.json", "state.json.bak")
"""Each of them shows that a directory was a root, even if it is damaged now."""


def check_health(host: Host, root: Root, now: float) -> Health:
    git = probe(lambda: _version(host, "git", "--version"))
    tmux = probe(lambda: _version(host, "tmux", "-V"))
    return Health(
        now,
        root.path,
        git,
        tmux,
        MINIMUM,
        tools={tool: host.which(tool) is not None for tool in TOOLS},
        root=probe(lambda: _look_at_root(host, root, now, git, tmux)),
    )


def look_twice(host: Host, root: Root) -> tuple[Health, tuple[Finding, ...]]:
    """What is wrong and stays so: agents and the daemon go on meanwhile, and a moment in between is nothing wrong."""
    health = check_health(host, root, time.time())
    first = diagnose(health)
    if all(each.severity is NOTE for each in first):
        return health, first
    again = check_health(host, root, time.time())
    seen = {(each.code, each.worker) for each in first}
    return again, tuple(each for each in diagnose(again) if (each.code, each.worker) in seen)


def _version(host: Host, program: str, option: str) -> Answer[Version]:
    try:
        said = host.run([program, option])
    except ProgramMissingError:
        return Absent()
    except ProgramHungError:
        raise
    except LlmcError as refused:
        return Broken(refused.what)
    if not said.ok:
        return Broken(f"{program} does not run: {said.complaint or f'exit code {said.code}'}")
    found = re.search(r"(\d+)\.(\d+)", said.text)
    # A development version of tmux calls itself `master`.
    return Found((int(found[1]), int(found[2])) if found else (99, 0))


def _usable(program: str, version: Answer[Version], tool: T) -> Answer[T]:
    return given(
        version, lambda version: Found(tool) if version >= MINIMUM[program] else Unknown("too old", covered=True)
    )


def _look_at_root(
    host: Host, root: Root, now: float, git_version: Answer[Version], tmux_version: Answer[Version]
) -> Answer[RootHealth]:
    if not _is_there(root):
        return Absent()
    git = _usable("git", git_version, Git(host))
    tmux = _usable("tmux", tmux_version, Tmux(host, root.tmux_socket))
    config = probe(lambda: read_settings(root))
    state = probe(lambda: look_at_state(root, now))
    known = both(git, config)
    clone = given(git, lambda git: look_at_clone(git, root))
    source = given(known, lambda of: look_at_source(*of))
    terminals = given(tmux, look_at_terminals)
    around = Surroundings(host, root, now, git, clone, terminals)
    return Found(
        RootHealth(
            root.path,
            root.tmux_socket,
            open_paths=probe(lambda: find_open_paths(root)),
            read_only=probe(lambda: find_read_only(root)),
            replaced=probe(lambda: find_replaced(root, _workers_of(state))),
            space=probe(lambda: look_at_space(root)),
            directories=probe(lambda: find_directories(root)),
            settings=look_at_settings(config),
            state=state,
            backup=probe(lambda: look_at_backup(root, now)),
            clone=clone,
            source=source,
            follows_source=given(clone, lambda clone: given(known, lambda of: look_at_following(*of, clone))),
            uses_lfs=given(clone, lambda _: given(known, lambda of: look_at_lfs(*of, root))),
            agents=given(config, lambda config: look_at_agents(host, root, config, _workers_of(state))),
            terminals=terminals,
            daemon=probe(lambda: look_at_daemon(root)),
            acting=probe(lambda: names_acted_for(root)),
            unreadable=probe(lambda: find_unreadable(root)),
            broken_refs=given(clone, lambda _: given(git, lambda git: find_broken_refs(git, root))),
            git_locks=probe(lambda: find_git_locks(root)),
            landings=probe(lambda: find_landings(root)),
            source_locks=given(source, lambda _: given(known, lambda of: find_source_locks(*of))),
            strays=given(terminals, lambda terminals: find_strays(root, terminals)),
            left_over=given(state, lambda state: find_left_over(root, state, _other_names(root, clone))),
            workers=given(state, lambda state: look_at_workers(around, state)),
            broken_packs=given(config, lambda config: find_broken_packs(root, config)),
        )
    )


def _is_there(root: Root) -> bool:
    """Damaged roots count; a directory that may not be looked into raises."""
    try:
        names = {each.name for each in Path(root.path).iterdir()}
    except (FileNotFoundError, NotADirectoryError):
        return False
    return root.exists or not names.isdisjoint(TRACES)


def _other_names(root: Root, clone: Answer[Clone]) -> frozenset[str]:
    """Names that are in use, though no worker may have them."""
    directories = find_directories(root)
    branches = clone.value.heads if isinstance(clone, Found) else {}
    acting = names_acted_for(root)
    return frozenset(
        (
            *(directories.value if isinstance(directories, Found) else ()),
            *(branch.removeprefix("llmc/") for branch in branches),
            *(acting.value if isinstance(acting, Found) else ()),
        )
    )


def _workers_of(state: Answer[StateFacts]) -> Mapping[str, Worker]:
    return state.value.workers if isinstance(state, Found) else {}
