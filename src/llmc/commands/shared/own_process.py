"""Another `llmc`, as a process of its own: how a face carries out what a person asks of it.

It is the command itself, with its own locks and its own end: a face that dies takes nothing along, and a command that
takes minutes holds up nobody.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from llmc.fleet.words import complaint_in
from llmc.host.base import Host
from llmc.root import Root
from llmc.values import Value

WITHIN_SECS = 3600.0
"""An accept may wait for checks. Who asks goes on meanwhile."""


class Answered(Value):
    """What a command said."""

    code: int
    """Its exit code: 0 done, 1 refused, 2 invalid usage, 3 a bug, 4 delivery unknown."""
    data: Any
    """Its `--json` document; None where there is none."""
    text: str
    error: str = ""
    hint: str = ""

    @property
    def ok(self) -> bool:
        return self.code == 0


def own_command(root: Root, *words: str) -> list[str]:
    """-P: whatever lies in the current directory is not ours."""
    return [sys.executable, "-P", "-m", "llmc.cli.main", "--root", root.path, *words]


def ask_llmc(
    host: Host,
    root: Root,
    words: Sequence[str],
    *,
    stdin: str = "",
    env: Mapping[str, str] | None = None,
    within: float = WITHIN_SECS,
) -> Answered:
    """Runs the command to its end. With `--json` among the words its document is read."""
    entered = stdin.encode("utf-8", "surrogateescape")
    done = host.run(own_command(root, *words), cwd=root.path, env=env, stdin=entered, timeout=within)
    error, hint = complaint_in(done.err.decode("utf-8", "replace")) if done.code else ("", "")
    return Answered(done.code, _document(done.text) if "--json" in words else None, done.text, error, hint)


def _document(text: str) -> Any:  # noqa: ANN401 - that is what JSON is
    try:
        return json.loads(text)
    except ValueError:
        return None
