"""The files that a span of commits changes, before and after, as files in two directories, to be compared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from llmc.core.display import plain
from llmc.git.failure import GitError
from llmc.git.parse import encode, nul_fields
from llmc.git.runner import LONG, Git

SUBMODULE = "160000"
NOTHING = "0"

Change = tuple[str, tuple[str, str], tuple[str, str]]
"""A path, and mode and object of both sides."""


def write_both_sides(
    git: Git, root: str, span: tuple[str, str], place: Path, adapt: Callable[[bytes], bytes] = bytes
) -> tuple[str, ...]:
    """The paths that differ, each in `place/before`, `place/after` or both. A link is a file with its target.

    Names have lost what a terminal would act upon, because whoever compares prints them, and stay different.
    """
    changes = tuple(_apart(_changes(git, root, span)))
    contents = _contents(git, root, {sha for _, *sides in changes for mode, sha in sides if mode != SUBMODULE})
    for path, *sides in changes:
        for name, (mode, sha) in zip(("before", "after"), sides, strict=True):
            if sha.strip(NOTHING):
                content = contents[sha] if mode != SUBMODULE else f"submodule at {sha}\n".encode()
                file = place / name / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(adapt(content))
    return tuple(path for path, *_ in changes)


def _apart(changes: Iterable[Change]) -> Iterator[Change]:
    """A name that is another's without its control characters, or the directory of another, gets a number."""
    taken: set[str] = set()
    for path, before, after in changes:
        name, number = plain(path), 1
        while name in taken or any(name.startswith(f"{other}/") or other.startswith(f"{name}/") for other in taken):
            number += 1
            name = f"{plain(path)} ({number})"
        taken.add(name)
        yield name, before, after


def _changes(git: Git, root: str, span: tuple[str, str]) -> Iterator[Change]:
    """Path, and mode and object of both sides."""
    said = git.run(root, "diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", *span, "--").out
    fields = iter(nul_fields(said))
    for change, path in zip(fields, fields, strict=True):
        old_mode, new_mode, old, new, _ = change.removeprefix(":").split(" ")
        yield path, (old_mode, old), (new_mode, new)


def _contents(git: Git, root: str, wanted: set[str]) -> dict[str, bytes]:
    objects = sorted(sha for sha in wanted if sha.strip(NOTHING))
    asked = b"".join(encode(f"{sha}\n") for sha in objects)
    out = git.run(root, "cat-file", "--batch", stdin=asked, timeout=LONG).out
    found, at = {}, 0
    for sha in objects:
        head, _, size = out[at : out.index(b"\n", at)].rpartition(b" ")
        if not head.endswith(b" blob"):
            raise GitError(("cat-file",), f"fatal: bad object {sha}")
        at += len(head) + len(size) + 2
        found[sha] = out[at : at + int(size)]
        at += int(size) + 1
    return found
