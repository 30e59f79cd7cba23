"""Filling the submodules of a worktree, from the person's own checkout where that has them."""

from __future__ import annotations

from dataclasses import replace

from llmc.errors import LlmcError
from llmc.git.failure import GitError
from llmc.git.own_view import EVERYWHERE_BELOW, record_of, submodules_of
from llmc.git.parse import nul_fields
from llmc.git.repository import common_dir, toplevel
from llmc.git.runner import LONG, Git
from llmc.git.worktree import worktree_path
from llmc.host.files import read_below, write_below
from llmc.values import Value

# Git takes submodules from local paths only if told so (2.38.1 and later); no hook of a template runs here.
_QUIETLY = (*EVERYWHERE_BELOW, "-c", "protocol.file.allow=always")
LARGEST = 1024 * 1024
"""Bytes of a configuration."""
_UPDATE = ("submodule", "--quiet", "update", "--init")


class SubmoduleLinkError(LlmcError):
    """Somebody has put a link where a submodule belongs; nothing was written through it."""


class _Level(Value):
    """A worktree, or a submodule in it: where its files and its git are, and where the person has the same."""

    files: str
    git_dir: str
    settings: str
    """Where LLMC keeps the configuration of each submodule as it made it: agents can write what git has there."""
    theirs: str
    their_git: str
    worktree: str
    """The worker's; and the clone's record of it."""
    record: str


class _Submodule(Value):
    name: str
    level: _Level


def fill_submodules(git: Git, source: str, root: str, worker: str, aside: str) -> None:
    """As `git submodule update --init --recursive` would in the person's own checkout. Done again, it changes nothing.

    What an agent has configured, in the clone or in a submodule, is not heard; afterwards its own git knows the
    submodules, too. What somebody else has put in their place goes aside.
    """
    kept, theirs = submodules_of(root, worker), toplevel(git, source) or source
    place, record = worktree_path(root, worker), record_of(root, worker)
    top = _Level(place, record, kept, theirs, common_dir(git, source) or source, place, record)
    for each in _fill(git, top, aside):
        url = _url(git, each.level.files)
        if url:
            replace(git, as_agents=True).run(root, "config", f"submodule.{each.name}.url", url)


def _fill(git: Git, level: _Level, aside: str) -> list[_Submodule]:
    found = _submodules(git, level)
    for each in found:
        _make_deaf(git, each, aside)
    if found:
        _update(git, level, found)
    for each in found:
        git.host.write(f"{each.level.settings}/.made", _settings_of(each.level))
        _fill(git, each.level, f"{aside}/{each.name}")
    return found


def _settings_of(level: _Level) -> bytes:
    return read_below(level.record, f"{level.git_dir.removeprefix(level.record)}/config".lstrip("/"), LARGEST)


def _make_deaf(git: Git, each: _Submodule, aside: str) -> None:
    level, made = each.level, git.host.read(f"{each.level.settings}/.made")
    for place in (level.files, level.git_dir):
        if git.host.real_path(place) != place:
            raise SubmoduleLinkError(f"{place} leads to another place", "remove the link that is on the way to it")
    if made is not None and git.host.exists(f"{level.git_dir}/config"):
        write_below(level.record, f"{level.git_dir.removeprefix(level.record)}/config", made)
    elif git.host.exists(f"{level.files}/.git") or git.host.exists(level.git_dir):
        for place, name in ((level.files, "files"), (level.git_dir, "git")):
            if git.host.exists(place):
                git.host.move(place, f"{aside}/{each.name}/{name}")


def _update(git: Git, level: _Level, found: list[_Submodule]) -> None:
    # Relative addresses begin at the person's remote, and not at their repository, which is where the clone came from.
    remote = ("-c", f"remote.origin.url={_url(git, level.theirs) or level.theirs}")
    local = {each: place for each in found if (place := _at_hand(git, each.level))}
    nearby = tuple(word for each, at in local.items() for word in ("-c", f"submodule.{each.name}.url={at}"))
    _fetch_from(git, local)
    done = git.run(level.files, *_QUIETLY, *remote, *nearby, *_UPDATE, check=False, timeout=LONG)
    _fetch_from(git, {each: url for each, place in local.items() if (url := _url(git, place))})
    if not done.ok and not local:
        raise GitError(_UPDATE, done.complaint, done.code)
    if not done.ok:  # theirs may be behind: what is missing is fetched from where it belongs
        git.run(level.files, *_QUIETLY, *remote, *_UPDATE, timeout=LONG)


def _fetch_from(git: Git, places: dict[_Submodule, str]) -> None:
    for each, place in places.items():
        settings = f"{each.level.git_dir}/config"
        if git.host.exists(settings):
            git.run(each.level.worktree, "config", "--file", settings, "remote.origin.url", place)


def _submodules(git: Git, level: _Level) -> list[_Submodule]:
    """Those that the commit has at the place that `.gitmodules` names."""
    if not git.host.exists(f"{level.files}/.gitmodules"):
        return []
    asked = ("config", "--file", ".gitmodules", "-z", "--get-regexp", r"^submodule\..*\.path$")
    pairs = (field.partition("\n") for field in nul_fields(git.run(level.files, *asked, check=False).out))
    named = {path: name.removeprefix("submodule.").removesuffix(".path") for name, _, path in pairs}
    listed = nul_fields(git.run(level.files, "ls-files", "--stage", "-z").out)
    paths = (entry.partition("\t")[2] for entry in listed if entry.startswith("160000 "))
    return [_Submodule(named[path], _below(level, named[path], path)) for path in paths if path in named]


def _below(level: _Level, name: str, path: str) -> _Level:
    return _Level(
        f"{level.files}/{path}",
        f"{level.git_dir}/modules/{name}",
        f"{level.settings}/{path}",
        f"{level.theirs}/{path}",
        f"{level.their_git}/modules/{name}",
        level.worktree,
        level.record,
    )


def _at_hand(git: Git, level: _Level) -> str | None:
    if git.host.exists(f"{level.theirs}/.git"):
        return level.theirs
    return level.their_git if git.host.exists(f"{level.their_git}/HEAD") else None


def _url(git: Git, repository: str) -> str | None:
    """Of its usual remote; None where it has none."""
    done = git.run(repository, "ls-remote", "--get-url", check=False) if git.host.is_dir(repository) else None
    url = done.text.removesuffix("\n") if done is not None and done.ok else ""
    return None if url in ("", "origin") else url
