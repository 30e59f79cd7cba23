"""LLMC's own view of its clone: the same commits and names, and nothing of what an agent can configure.

Agents share the clone's repository, so they can write its configuration, attributes, excludes, hooks and grafts, and a
worktree's `.git`. None of that is read here. The view is a common directory of its own with LLMC's configuration;
objects, refs and records of worktrees are links into the clone. Git is told all three places of a worktree, so that
what stands in its `.git` decides nothing.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping

from llmc.git.parse import decode, encode
from llmc.host.base import Host

DIRECTORY = "run/git"
WORKTREES = ".worktrees"
SCRATCH = ".checks"
"""Worktrees of LLMC's own, numbered from 1. The names of workers begin with a letter."""
SHARED_DIRECTORIES = ("objects", "refs", "logs", "worktrees", "rr-cache", "lfs")
SHARED_FILES = ("packed-refs",)
SUBMODULES = "modules"
"""In a worktree's record: repositories that LLMC's own git does not work in."""
_SHALLOW = "shallow"
"""Where the history was cut off when the clone was made. What is written there later would cut off more of it."""
SHARED = frozenset(("objects", "refs", "packed-refs", "worktrees", "config", "info"))
"""What is one for all worktrees, of the names that LLMC asks for."""
_MADE_FROM = "made-from"
"""The path of the person's own configuration, and below it what that said."""

DEAF: Mapping[str, str] = {
    # Looking must not run a program, nor believe one, about which files have changed.
    "core.fsmonitor": "false",
    "core.untrackedCache": "false",
    # LLMC's own steps: neither an agent's hooks nor a person's global ones may fail or change them.
    "core.hooksPath": "/dev/null",
    "core.sparseCheckout": "false",
    "core.pager": "cat",
    "core.bare": "true",
    "core.logAllRefUpdates": "true",
    # The agents' own git tidies up; with two of them at it, each would find the other's lock.
    "gc.auto": "0",
    "maintenance.auto": "false",
    "commit.verbose": "false",
    "submodule.recurse": "false",
    "rerere.enabled": "true",
    "rerere.autoupdate": "true",
}
"""What holds in the view whatever anybody's global settings say."""


EVERYWHERE_BELOW = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
"""Git looks into submodules by a git of its own there, which hears this and not the view's configuration."""


def view_of(root: str) -> str:
    return f"{root}/{DIRECTORY}"


def place_of(root: str, name: str) -> str:
    """The worktree of the worker of that name, or the scratch worktree of that number."""
    return f"{root}/{SCRATCH if name.isdecimal() else WORKTREES}/{name}"


def records_of(root: str) -> str:
    return f"{root}/.git/worktrees"


def record_of(root: str, name: str) -> str:
    """Where git keeps HEAD, index and unfinished operations of a worktree."""
    return f"{records_of(root)}/{name}"


def submodules_of(root: str, name: str) -> str:
    """Where LLMC keeps the configuration of a worktree's submodules as it made it."""
    return f"{root}/run/submodules/{name}"


def places(host: Host, cwd: str) -> dict[str, str]:
    """The variables that tell git where everything is; none outside of LLMC's own clone and worktrees."""
    parent, name = posixpath.split(cwd)
    if posixpath.basename(parent) in (WORKTREES, SCRATCH) and has_view(host, root := posixpath.dirname(parent)):
        return {
            "GIT_DIR": record_of(root, name),
            "GIT_COMMON_DIR": view_of(root),
            "GIT_WORK_TREE": cwd,
            "GIT_NO_REPLACE_OBJECTS": "1",
        }
    if has_view(host, cwd):
        return {"GIT_DIR": view_of(cwd), "GIT_NO_REPLACE_OBJECTS": "1"}
    return {}


def own_path(host: Host, cwd: str, name: str) -> str | None:
    """Where git keeps this for the clone or a worktree of it; None elsewhere, where git has to be asked."""
    known = places(host, cwd)
    is_shared = name.partition("/")[0] in SHARED
    directory = known.get("GIT_COMMON_DIR" if is_shared and "GIT_COMMON_DIR" in known else "GIT_DIR")
    return f"{directory}/{name}" if directory is not None else None


def has_view(host: Host, root: str) -> bool:
    """Written last, so a view that has its configuration is whole."""
    return host.exists(f"{view_of(root)}/config")


def is_current(host: Host, root: str) -> bool:
    """Whether the person's repository is still set up as it was when the view was made."""
    made_from, _, then = (host.read(f"{view_of(root)}/{_MADE_FROM}") or b"").partition(b"\n")
    return bool(made_from) and (host.read(decode(made_from)) or b"") == then


def write_view(
    host: Host, root: str, settings: Mapping[str, str], info: Iterable[tuple[str, bytes]], made_from: str
) -> None:
    """Makes the view, or makes it anew: complete in one step, so that a call beside this one finds it whole.

    `made_from` is the person's own file of settings.
    """
    for name in SHARED_DIRECTORIES:
        host.make_dir(f"{root}/.git/{name}")
    unfinished = f"{view_of(root)}.new"
    host.remove_tree(unfinished)
    host.make_dir(f"{unfinished}/info")
    for name in (*SHARED_DIRECTORIES, *SHARED_FILES):
        host.make_link(f"../../.git/{name}", f"{unfinished}/{name}")
    # A branch that there never is: nothing of the repository is taken from it, attributes for example.
    host.write(f"{unfinished}/HEAD", b"ref: refs/heads/llmc-view\n")
    for name, content in info:
        host.write(f"{unfinished}/info/{name}", content)
    shallow = host.read(f"{view_of(root)}/{_SHALLOW}") if has_view(host, root) else host.read(f"{root}/.git/{_SHALLOW}")
    if shallow:
        host.write(f"{unfinished}/{_SHALLOW}", shallow)
    host.write(f"{unfinished}/{_MADE_FROM}", encode(made_from) + b"\n" + (host.read(made_from) or b""))
    host.write(f"{unfinished}/config", encode(config_text({**settings, **DEAF})))
    host.remove_tree(view_of(root))
    host.move(unfinished, view_of(root))


_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\b": "\\b"})


def config_text(settings: Mapping[str, str]) -> str:
    """A configuration as git reads it. Names are `section.key` or `section.any.thing.key`."""
    lines = []
    for name, value in settings.items():
        section, _, rest = name.partition(".")
        sub, _, key = rest.rpartition(".")
        head = f'[{section} "{sub.translate(_ESCAPES)}"]' if sub else f"[{section}]"
        lines += [head, f'\t{key} = "{value.translate(_ESCAPES)}"']
    return "\n".join([*lines, ""])
