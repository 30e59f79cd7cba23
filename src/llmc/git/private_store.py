"""The git directory that a fenced worker has to itself, and what is brought from it into the clone and back.

What is in it was written by whoever is inside, so LLMC neither reads nor writes its files: git does, in a fence of its
own where there is nothing else, and what it says is taken as one takes it from a stranger's server. Objects come as a
pack, and the clone's git names them by their content.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

from llmc.errors import LlmcError
from llmc.git.history import is_ancestor
from llmc.git.own_view import record_of
from llmc.git.parse import decode, encode
from llmc.git.repository import HEADS, branch_tip
from llmc.git.runner import LONG, Git
from llmc.host.base import Completed, Host
from llmc.values import Value

Inside = Callable[[str, bytes], Completed]
"""Runs a script of the shell in the fence of the store, with this as its input."""

STORE = "/store"
OBJECTS = "/objects"
"""Where the script finds the store, and the objects of the clone."""
_LINE = re.compile(r"([0-9a-f]{40,64}) (refs/heads/\S+)")
_OBJECT = re.compile(r"([0-9a-f]{40,64}) ([0-9]+)")
_BUNCH_BYTES = 64 * 1024 * 1024
_MANY = 1000
"""So many objects are kept as a pack."""
_PLAIN = """\
odd=$(find /store '(' ! -type f ! -type d -o ! -path '/store/objects/*' -size +65536k ')' -print | head -n 1)
[ -z "$odd" ] || { echo "$odd is no file of git's" >&2; exit 1; }
"""
"""A pipe keeps git waiting, and so does a file without an end, or a link to one."""
_LOOK = f"""\
{_PLAIN}export GIT_DIR=/store
git for-each-ref --format='%(objectname) %(refname)' refs/heads || exit 1
echo
exec git cat-file --batch-all-objects --unordered --batch-check='%(objectname) %(objectsize:disk)'
"""
_PACK = f"{_PLAIN}GIT_DIR=/store exec git pack-objects -q --window=0 --stdout"
_MOVE = f"""\
{_PLAIN}export GIT_DIR=/store GIT_ALTERNATE_OBJECT_DIRECTORIES=/objects
exec git -c core.hooksPath=/dev/null -c core.logAllRefUpdates=true update-ref --no-deref --stdin
"""


class StoreError(LlmcError):
    """What is in the fence cannot be brought out."""


class Inventory(Value):
    heads: dict[str, str]
    objects: dict[str, int]
    """Each with the bytes that it takes."""


def make_store(host: Host, store: str, clone: str, name: str) -> None:
    """Nobody is inside yet, or any more. One that is there is kept, with all that is in it but its configuration."""
    if not host.exists(f"{store}/HEAD"):
        for directory in ("objects/info", "objects/pack", "refs/heads/llmc", "refs/tags", "info", "clone-objects"):
            host.make_dir(f"{store}/{directory}")
        host.write(f"{store}/objects/info/alternates", b"../clone-objects\n")
        host.write(f"{store}/HEAD", host.read(f"{clone}/HEAD") or b"ref: refs/heads/main\n")
    host.write(f"{store}/config", (host.read(f"{clone}/config") or b"") + b"[gc]\n\tauto = 0\n")
    for directory in (f"{store}/worktrees/{name}", f"{clone}/info"):
        host.make_dir(directory)


def is_plain(host: Host, store: str, name: str) -> bool:
    """Whether what the fence is mounted on is there, and nothing of it leads elsewhere."""
    mounted_on = ("", "/objects", "/objects/info", "/info", "/clone-objects", "/worktrees", f"/worktrees/{name}")
    return all(host.is_dir(store + each) and host.read_link(store + each) is None for each in mounted_on)


def mark_of(root: str, store: str, name: str, branch: str) -> str:
    """Changes whenever something may be new inside. Costs no process, and opens nothing."""
    record = record_of(root, name)
    own = ("HEAD", "index", "ORIG_HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REBASE_HEAD", "rebase-merge", "logs/HEAD")
    places = [f"{record}/{each}" for each in own]
    places += [f"{store}/{HEADS}{branch}", f"{store}/packed-refs", f"{store}/logs/{HEADS}{branch}"]
    return ";".join(_stamp(place) for place in places)


def _stamp(path: str) -> str:
    with suppress(OSError):
        seen = os.lstat(path)
        return f"{seen.st_mtime_ns}.{seen.st_size}.{seen.st_ino}"
    return ""


def inventory(inside: Inside) -> Inventory:
    done = inside(_LOOK, b"")
    if not done.ok:
        raise StoreError(f"git cannot read what is in the fence: {done.complaint[-300:]}", "see `llmc peek`")
    heads, _, objects = decode(done.out).partition("\n\n" if not done.out.startswith(b"\n") else "\n")
    return Inventory(
        {found[2]: found[1] for line in heads.splitlines() if (found := _LINE.fullmatch(line))},
        {found[1]: int(found[2]) for line in objects.splitlines() if (found := _OBJECT.fullmatch(line))},
    )


def bring_objects(git: Git, root: str, inside: Inside, there: Inventory) -> int:
    """All that the clone has not: commits, and what is only staged yet. How many there were."""
    missing = _missing(git, root, there.objects)
    for bunch in _bunches(missing, there.objects):
        done = inside(_PACK, encode("".join(f"{name}\n" for name in bunch)))
        if not done.ok:
            raise StoreError(f"git cannot pack what is in the fence: {done.complaint[-300:]}", "see `llmc peek`")
        how = ("index-pack", "--stdin") if len(bunch) > _MANY else ("unpack-objects", "-q")
        git.run(root, *how, stdin=done.out, timeout=LONG)
    return len(missing)


def _missing(git: Git, root: str, names: Iterable[str]) -> list[str]:
    asked = encode("".join(f"{name}\n" for name in names))
    if not asked:
        return []
    answers = decode(git.run(root, "cat-file", "--batch-check", stdin=asked).out).splitlines()
    return [answer.removesuffix(" missing") for answer in answers if answer.endswith(" missing")]


def _bunches(names: list[str], sizes: dict[str, int]) -> Iterator[list[str]]:
    bunch: list[str] = []
    size = 0
    for name in names:
        bunch.append(name)
        size += sizes[name]
        if size >= _BUNCH_BYTES:
            yield bunch
            bunch, size = [], 0
    if bunch:
        yield bunch


def is_whole(git: Git, root: str, tip: str, *known: str | None) -> bool:
    """Whether the clone has the commit with all that it leads to."""
    args = [f"^{each}" for each in known if each]
    return git.run(root, "rev-list", "--objects", "--quiet", tip, *args, "--", check=False, timeout=LONG).ok


def move_inside(inside: Inside, moves: Iterable[tuple[str, str, str]]) -> None:
    """Each a ref with what it becomes and what it must be: zeros where it is absent, nothing where that is all one."""
    orders = "".join(" ".join(filter(None, ("update", *move))) + "\n" for move in moves)
    done = inside(_MOVE, encode(orders))
    if not done.ok:
        raise StoreError(f"git in the fence does not follow: {done.complaint[-300:]}", "it is tried again")


def holds(git: Git, root: str, branch: str, commit: str) -> bool:
    tip = branch_tip(git, root, branch)
    return tip is not None and is_ancestor(git, root, commit, tip)
