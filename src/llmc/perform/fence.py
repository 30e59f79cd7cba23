"""The fence around an agent, a setup or a check: made ready here, entered by `host.fence_entry`."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence

from llmc.core.fence.environment import kept_variables
from llmc.core.fence.layout import (
    SYSTEM,
    Ground,
    Wishes,
    all_mounts,
    network_words,
    own_mounts,
    system_words,
    tool_places,
    wall_mounts,
)
from llmc.core.fence.mounts import Mount, Sight, Symlink, is_inside, link_words, mount_words
from llmc.core.fence.seccomp import terminal_filter
from llmc.core.fence.secrets import secret_places
from llmc.errors import LlmcError
from llmc.git.own_view import place_of, record_of, view_of
from llmc.git.private_store import OBJECTS, STORE, Inside, is_plain, make_store
from llmc.git.wall import write_wall
from llmc.host import fence_entry
from llmc.host.base import Completed, Host
from llmc.host.files import make_own_directory, write_atomically
from llmc.model import Worker
from llmc.site import Site

PROGRAM = "bwrap"
LOOK_SECS = 60.0
RESOLVER = "/etc/resolv.conf"
GIT_SETTINGS = (".gitconfig", ".config/git/config", ".config/git/ignore", ".config/git/attributes")
"""The person's, below their home."""


class FenceImpossibleError(LlmcError):
    """The settings ask for a fence, and this machine has none. Nothing is ever started without it instead."""


def checks_are_fenced(site: Site) -> bool:
    """All of a root's, as soon as it has one fenced worker: a scratch worktree keeps what a check has left there."""
    names = (*site.ledger.load().workers, *site.config.workers)
    return site.config.sandbox.mode == PROGRAM or any(map(site.is_fenced, names))


def require_fence(host: Host) -> str:
    """The path of bubblewrap, where it works."""
    why = fence_problem(host)
    if why is not None:
        raise FenceImpossibleError(*why)
    return host.which(PROGRAM) or PROGRAM


def fence_problem(host: Host) -> tuple[str, str] | None:
    """What keeps this machine from having a fence, and what to do about it."""
    program = host.which(PROGRAM)
    if program is None:
        return "bubblewrap is not installed", "install the package `bubblewrap`, or set sandbox.mode to `off`"
    said = host.run([program, *fence_entry.NAMESPACES, *system_words(_system(host)), *fence_entry.PLACES, "true"])
    if said.ok:
        return None
    hint = "let your user make user namespaces (`sysctl user.max_user_namespaces`, on Ubuntu also "
    hint += "`kernel.apparmor_restrict_unprivileged_userns=0`), update bubblewrap to 0.8 or later, or set sandbox.mode"
    return f"bubblewrap cannot make a fence here: {said.complaint[-300:]}", f"{hint} to `off`"


# --- what is inside -------------------------------------------------------------------------------


def prepare_fence(site: Site, name: str) -> str:
    """Makes what is mounted. Nobody is inside yet. The path of bubblewrap."""
    program = require_fence(site.host)
    root, store = site.root, site.root.fence_store(name)
    for directory in (root.fence(name), root.fence_home(name), _tmp(site, name)):
        make_own_directory(directory)
    make_own_directory(store)
    make_store(site.host, store, root.git_dir, name)
    if not is_plain(site.host, store, name):
        raise FenceImpossibleError(
            f"{name}'s git directory in the fence was tampered with",
            f"look at {store}, then remove it: what was committed there is on llmc/{name}",
        )
    make_own_directory(f"{root.fence(name)}/temporary")
    write_wall(site.host, root.path, name, _wall_words(site, name, program))
    return program


def fenced_command(
    site: Site,
    name: str,
    command: Sequence[str],
    variables: Mapping[str, str],
    *,
    agent: str = "",
    writable: tuple[str, ...] = (),
) -> tuple[str, ...]:
    """What to run in place of the command, so that it runs in the fence of the worker, or of the scratch worktree."""
    program = prepare_fence(site, name)
    network, environ = site.config.sandbox.network, site.host.environ()
    limited = network if isinstance(network, tuple) else ()
    marks = {key: value for key, value in variables.items() if key.startswith("LLMC_")}
    links, mounts = _mounts(site, name, command, writable)
    order = {
        "program": (program,),
        "command": command,
        "directory": (place_of(site.root.path, name),),
        "network": network_words(network),
        "allowed": limited,
        "base": (*link_words(links),),
        "mounts": (*mount_words(mounts),),
        "filter": (_filter(),),
        "kept": sorted(kept_variables(environ, agent, proxies=network is True)),
        "variables": _pairs({**_own_variables(site, name, limited), **variables}),
        "marks": _pairs(marks),
    }
    path = f"{site.root.fence(name)}/order"
    write_atomically(path, fence_entry.written(order))
    return (sys.executable, "-I", "-S", fence_entry.__file__, path)


def _pairs(variables: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(word for pair in variables.items() for word in pair)


def _filter() -> str:
    made = terminal_filter(platform.machine())
    if made is None:
        raise FenceImpossibleError(
            f"LLMC knows no filter of system calls for {platform.machine()}", "set sandbox.mode to `off`"
        )
    return made.hex()


def _own_variables(site: Site, name: str, allowed: Sequence[str]) -> dict[str, str]:
    own = {"HOME": site.root.fence_home(name), "TMPDIR": "/tmp"}
    if allowed:
        address = f"http://127.0.0.1:{fence_entry.PORT}"
        for variable in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            own |= {variable: address, variable.lower(): address}
        outside = {entry.rpartition(":")[0].strip("[]") for entry in allowed}  # a server of the person's, perhaps
        inside = ",".join(each for each in ("localhost", "127.0.0.1", "::1") if each not in outside)
        own |= {"NO_PROXY": inside, "no_proxy": inside}
    return own


def _tmp(site: Site, name: str) -> str:
    return f"{site.root.fence(name)}/tmp"


def _ground(site: Site, name: str, writable: tuple[str, ...]) -> Ground:
    root, real = site.root, site.host.real_path
    return Ground(
        root.path,
        real(site.config.repo.source),
        place_of(root.path, name),
        record_of(root.path, name),
        root.fence_store(name),
        root.fence_home(name),
        _tmp(site, name),
        writable,
    )


def _mounts(
    site: Site, name: str, command: Sequence[str], writable: tuple[str, ...]
) -> tuple[list[Symlink], tuple[Mount, ...]]:
    host, sandbox = site.host, site.config.sandbox
    wishes = Wishes(
        tuple(_there(host, sandbox.readable, Sight.READABLE)),
        tuple(_there(host, sandbox.writable, Sight.WRITABLE)),
        tuple(_there(host, sandbox.hide, Sight.HIDDEN)),
    )
    own = own_mounts(_ground(site, name, writable))
    started = [found for program in (command[0], "sh", "git") if (found := host.which(program))]
    return _shown(site, name, started, (*sandbox.readable, *sandbox.writable), _llmc_itself(), wishes, own)


def _shown(
    site: Site,
    name: str,
    started: Sequence[str],
    linked: Sequence[str],
    more_tools: Sequence[str],
    wishes: Wishes,
    own: Iterable[Mount],
) -> tuple[list[Symlink], tuple[Mount, ...]]:
    """The system, the programs that will be started with what they need, and what is given, but for what is secret."""
    host, environ = site.host, site.host.environ()
    home = host.real_path(environ.get("HOME", "/nonexistent"))
    search = [each for each in environ.get("PATH", "").split(":") if each.startswith("/")]
    links = [Symlink(each, host.real_path(each)) for each in (*started, *linked, *search)]
    path, programs = ":".join(map(host.real_path, search)), [host.real_path(each) for each in started]
    tools = [*tool_places(path, programs, home, _ground(site, name, ())), *more_tools]
    secrets = [
        mount
        for each in secret_places(home, environ)
        for mount in _there(host, (each,), Sight.SECRET)
        if mount.target not in ("/", home)
    ]
    mounts = all_mounts([each for each in tools if host.exists(each)], secrets, wishes, own)
    system = _system(host)
    needed = [each for each in system if isinstance(each, Symlink)] + _needed_links(links, mounts)
    return needed, (*(each for each in system if isinstance(each, Mount)), *mounts)


def _wall_words(site: Site, name: str, program: str) -> tuple[str, ...]:
    """For LLMC's own git at the worktree: see `git.wall`."""
    host, repo = site.host, site.config.repo
    ground, environ = _ground(site, name, ()), host.environ()
    settings = [environ.get("GIT_CONFIG_GLOBAL", ""), *(f"{environ.get('HOME', '')}/{each}" for each in GIT_SETTINGS)]
    asked = ("config", "--type=path", "--get-regexp", r"^core\.(attributes|excludes)file$")
    settings += [line.partition(" ")[2] for line in site.git.run(site.root.path, *asked, check=False).text.splitlines()]
    # The contents that git-lfs has, and for submodules the whole: they are filled from there.
    settings += [repo.source] if repo.submodules else [f"{repo.source}/.git/lfs"]
    readable = Wishes(tuple(_there(host, [each for each in settings if each.startswith("/")], Sight.OWN_READABLE)))
    own = wall_mounts(ground, f"{site.root.fence(name)}/temporary", view_of(site.root.path))
    git = host.which("git")
    links, mounts = _shown(site, name, [git] if git else [], settings, (), readable, own)
    network = () if repo.submodules else network_words(site.config.sandbox.network)
    apart = (*fence_entry.NAMESPACES, "--new-session", *network)
    return (program, *apart, *link_words(links), *fence_entry.PLACES, *mount_words(mounts), *fence_entry.LAST)


def _needed_links(links: list[Symlink], mounts: Sequence[Mount]) -> list[Symlink]:
    """For a place that is known by another name, unless that name is in what is mounted anyway."""
    shown = [mount.target for mount in mounts if not mount.hides] + list(SYSTEM)
    found = {link.path: link for link in links if link.path.startswith("/") and link.path != link.leads_to}
    return [link for link in found.values() if not any(is_inside(link.path, each) for each in shown)]


def _there(host: Host, paths: Sequence[str], sight: Sight) -> Iterator[Mount]:
    """Those of the places that there are, by their real names: a link to one hides and shows what it leads to."""
    for path in paths:
        if not host.exists(path):
            continue  # as most of them, and to ask for its real name takes much longer
        real = host.real_path(path)
        if host.exists(real):
            yield Mount(real, sight, is_file=not host.is_dir(real))


def _llmc_itself() -> list[str]:
    """The demo agent and the way to the proxy run on it."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(fence_entry.__file__)))
    return [package, sys.prefix, sys.base_prefix]


def _system(host: Host) -> tuple[Symlink | Mount, ...]:
    found: list[Symlink | Mount] = []
    for path in SYSTEM:
        target = host.read_link(path)
        if target is not None:
            found.append(Symlink(path, target))
        elif host.is_dir(path):
            found.append(Mount(path, Sight.SYSTEM))
    resolver = host.real_path(RESOLVER)
    if not resolver.startswith("/etc/") and host.exists(resolver):
        found.append(Mount(resolver, Sight.SYSTEM))  # of a name service that has its files in /run
    return tuple(found)


# --- git in the fence -----------------------------------------------------------------------------


def inside_of(site: Site, name: str) -> Inside:
    """Where there is nothing but the store, the clone's objects and the programs of the system."""
    program, root = require_program(site.host), site.root
    words = [program, *fence_entry.NAMESPACES, "--unshare-net", *system_words(_system(site.host)), *fence_entry.PLACES]
    words += [
        "--bind",
        root.fence_store(name),
        STORE,
        "--ro-bind",
        f"{root.git_dir}/objects",
        OBJECTS,
        "--chdir",
        STORE,
    ]
    env = {"PATH": site.host.environ().get("PATH", ""), "HOME": "/", "LC_ALL": "C", "GIT_CONFIG_NOSYSTEM": "1"}

    def inside(script: str, said: bytes) -> Completed:
        return site.host.run([*words, "--", "sh", "-c", script], env=env, stdin=said, timeout=LOOK_SECS, cwd="/")

    return inside


def require_program(host: Host) -> str:
    program = host.which(PROGRAM)
    if program is None:
        raise FenceImpossibleError(
            "bubblewrap is not installed any more", "install the package `bubblewrap` again: what is inside waits"
        )
    return program


def has_store(site: Site, worker: Worker) -> bool:
    return site.host.exists(f"{site.root.fence_store(worker.name)}/HEAD")
