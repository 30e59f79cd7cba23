"""Whether the settings are right, for commands that do without them. Light on imports.

Reading TOML takes longer than all of `llmc status`: only a file that has changed since it was found right is read.
"""

from __future__ import annotations

import os

from llmc.errors import LlmcError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from llmc.root import Root

UNTRUSTED = os.O_NOFOLLOW | os.O_NONBLOCK
"""Agents can put a link or a pipe there: nothing is written through the one, and nobody waits for the other."""


def settings_problem(root: Root) -> LlmcError | None:
    try:
        found = os.stat(root.config_file)
    except OSError:
        return None  # without it there is no root, and that is told already
    mark = f"{found.st_mtime_ns} {found.st_size} {found.st_ino}"
    if _read(root.settings_mark) == mark:
        return None
    from llmc.config.load import load_config

    try:
        load_config(root.config_file)
    except LlmcError as wrong:
        return wrong
    try:
        fd = os.open(root.settings_mark, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | UNTRUSTED, 0o600)
        with open(fd, "w", encoding="utf-8") as file:
            file.write(mark)
    except OSError:
        pass  # it is read again next time
    return None


def _read(path: str) -> str:
    try:
        with open(os.open(path, os.O_RDONLY | UNTRUSTED), encoding="utf-8") as file:
            return file.read()
    except (OSError, ValueError):
        return ""
