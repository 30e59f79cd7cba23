"""The whole of one fence: what a worker, or a check, finds inside."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable, Iterator

from llmc.core.fence.mounts import Mount, Sight, Symlink, is_inside
from llmc.values import Value

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", "/snap")
TOOLS_IN_HOME = (
    *(
        ".nvm",
        ".fnm",
        ".volta",
        ".bun",
        ".deno",
        ".npm-global",
        ".pyenv",
        ".rbenv",
        ".goenv",
        ".jenv",
        ".asdf",
        ".sdkman",
    ),
    *(".rustup", ".cargo/bin", "go/bin", ".local/bin", ".local/lib", ".local/pipx", ".opencode/bin"),
    *(".local/share/mise", ".local/share/uv", ".local/share/pipx", ".local/share/pnpm", ".local/share/claude"),
)
CLONE_OBJECTS = "clone-objects"
"""In the git directory of a fence, where the objects of the clone are: what its own store takes them from."""


class Ground(Value):
    """The places of a root that a fence is about; all of them real paths."""

    root: str
    source: str
    """The person's checkout."""
    worktree: str
    record: str
    """Git's record of the worktree, in the clone."""
    store: str
    home: str
    tmp: str
    writable: tuple[str, ...]
    """The spool and the settings directory of a worker."""

    @property
    def clone(self) -> str:
        return f"{self.root}/.git"


class Wishes(Value):
    """What the settings say, as places that there are."""

    readable: tuple[Mount, ...] = ()
    writable: tuple[Mount, ...] = ()
    hidden: tuple[Mount, ...] = ()


def own_mounts(ground: Ground) -> Iterator[Mount]:
    """The git directory is the worker's own, where the clone's would be; objects and the record stand in it."""
    clone, store = ground.clone, ground.store
    yield Mount(ground.root, Sight.ABSENT)
    yield Mount(ground.source, Sight.SECRET)
    yield Mount(ground.worktree, Sight.OWN)
    yield Mount(clone, Sight.OWN, store)
    # Mounted by themselves, so that nobody inside can put something else in their place.
    yield Mount(f"{clone}/objects", Sight.OWN, f"{store}/objects")
    yield Mount(f"{clone}/objects/info", Sight.OWN_READABLE, f"{store}/objects/info")
    yield Mount(f"{clone}/{CLONE_OBJECTS}", Sight.OWN_READABLE, f"{clone}/objects")
    yield Mount(f"{clone}/info", Sight.OWN_READABLE)
    yield Mount(ground.record, Sight.OWN)
    yield Mount(ground.home, Sight.OWN)
    yield Mount("/tmp", Sight.OWN, ground.tmp)
    yield from (Mount(path, Sight.OWN) for path in ground.writable)


def wall_mounts(ground: Ground, temporary: str, view: str) -> Iterator[Mount]:
    """For LLMC's own git, which works on the clone itself."""
    yield Mount(ground.root, Sight.ABSENT)
    yield Mount(ground.source, Sight.SECRET)
    yield from (Mount(path, Sight.OWN) for path in (ground.worktree, ground.clone, temporary))
    yield Mount(view, Sight.OWN_READABLE)


def all_mounts(
    tools: Iterable[str], secrets: Iterable[Mount], wishes: Wishes, own: Iterable[Mount]
) -> tuple[Mount, ...]:
    tool_mounts = (Mount(path, Sight.READABLE) for path in tools)
    return (*secrets, *tool_mounts, *wishes.readable, *wishes.writable, *own, *wishes.hidden)


def tool_places(path: str, programs: Collection[str], home: str, ground: Ground) -> Iterator[str]:
    """Where the programs of a search path are, with what stands around them; what the system has is there anyway.

    `programs` are the real paths of those that will be started.
    """
    found = [*(each for directory in path.split(":") for each in _around(directory)), *map(_package, programs)]
    found += [f"{home}/{name}" for name in TOOLS_IN_HOME]
    broad = {home, f"{home}/.local", ground.root, ground.source}
    for place in dict.fromkeys(found):
        is_broad = any(is_inside(each, place) for each in broad)
        if place.startswith("/") and not is_broad and not any(is_inside(place, each) for each in SYSTEM):
            yield place


def _around(directory: str) -> tuple[str, ...]:
    """With the libraries beside it."""
    parent, name = posixpath.split(directory.rstrip("/"))
    return (directory.rstrip("/"), parent) if name in ("bin", ".bin", "sbin", "shims") else (directory.rstrip("/"),)


def _package(program: str) -> str:
    before, modules, _ = program.partition("/node_modules/")
    if modules:
        return f"{before}/node_modules"
    directory = posixpath.dirname(program)
    return posixpath.dirname(directory) if posixpath.basename(directory) == "bin" else directory


def network_words(network: bool | tuple[str, ...]) -> tuple[str, ...]:
    return () if network is True else ("--unshare-net",)


def system_words(present: Iterable[Symlink | Mount]) -> Iterator[str]:
    for each in present:
        if isinstance(each, Symlink):
            yield from ("--symlink", each.leads_to, each.path)
        else:
            yield from ("--ro-bind", each.source or each.target, each.target)
