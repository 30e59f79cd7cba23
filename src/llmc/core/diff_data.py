"""A diff as data: files, hunks, and every line with its numbers on both sides."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import field

from llmc.model import Json
from llmc.values import Value

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_FILE = "diff --git "
_BINARY = "Binary files "
_STATUS = {"A": "added", "D": "deleted", "M": "changed", "R": "renamed", "C": "copied", "T": "changed"}
_KINDS = {"+": "added", "-": "removed"}

JsonObject = dict[str, Json]


class PatchData(Value):
    text: str
    files: list[JsonObject] = field(default_factory=list)
    hunks: list[JsonObject] = field(default_factory=list)


def patch_data(patch: str, raw: Sequence[str]) -> PatchData:
    """`raw` is what `git diff --raw -z` says of the same two commits: names as they are, in the same order."""
    files, found = list(_files(raw)), []
    lines, at, file = patch.split("\n"), 0, -1
    while at < len(lines):
        line = lines[at]
        at += 1
        if line.startswith(_FILE):
            file += 1
        elif line.startswith(_BINARY):
            files[file]["binary"] = True
        elif header := _HUNK.match(line):
            hunk, at = _hunk(header, lines, at)
            found.append({"path": files[file]["path"], "old_path": files[file]["old_path"], **hunk})
    return PatchData(patch, files, found)


def _files(raw: Sequence[str]) -> Iterator[JsonObject]:
    fields = iter(raw)
    for change in fields:
        status = change.rsplit(" ", 1)[1][0]
        old = new = next(fields)
        if status in "RC":
            new = next(fields)
        # A file that became a link, say, is in a patch twice: it goes, and comes.
        for each in "DA" if status == "T" else status:
            yield {
                "path": new,
                "old_path": None if each == "A" else old,
                "status": _STATUS.get(each, "changed"),
                "binary": False,
            }


def _hunk(header: re.Match[str], lines: list[str], at: int) -> tuple[JsonObject, int]:
    """The hunk that begins there, and where it ends: its header says how many lines it has."""
    old, old_count, new, new_count = (int(number or 1) for number in header.groups())
    hunk: JsonObject = {"old_start": old, "old_count": old_count, "new_start": new, "new_count": new_count}
    old_end, new_end = old + old_count, new + new_count
    shown: list[JsonObject] = []
    while at < len(lines) and (old < old_end or new < new_end or lines[at].startswith("\\")):
        mark, text = lines[at][:1], lines[at][1:]
        at += 1
        if mark == "\\":
            shown[-1]["no_newline"] = True
            continue
        kind = _KINDS.get(mark, "context")
        in_old, in_new = kind != "added", kind != "removed"
        shown.append({"kind": kind, "old_no": old if in_old else None, "new_no": new if in_new else None, "text": text})
        old, new = old + in_old, new + in_new
    return {**hunk, "lines": list(shown)}, at
