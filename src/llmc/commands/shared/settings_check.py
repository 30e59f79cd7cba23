"""Whether the settings are right, for commands that do without them. Light on imports.

Reading TOML takes longer than all of `llmc status`: only a file that has changed since it was found right is read.
"""

from __future__ import annotations

import os

from llmc.errors import LlmcError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from llmc.root import Root


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
        with open(root.settings_mark, "w", encoding="utf-8") as file:
            file.write(mark)
    except OSError:
        pass  # it is read again next time
    return None


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, ValueError):
        return ""
