"""`llmc ui`: the board in the terminal."""

from __future__ import annotations

import sys
from argparse import Namespace

from llmc.app import App
from llmc.commands.shared.result import Result
from llmc.errors import LlmcError
from llmc.store.state_file import StateFile

BUG = 3


def run(app: App, args: Namespace) -> Result:
    root = app.root()
    if not (app.console.is_terminal and sys.stdin.isatty() and sys.stderr.isatty()):
        raise LlmcError("`llmc ui` needs a terminal, and this is none", "`llmc status` shows the same as text")
    if app.environ.get("TERM", "") in ("", "dumb"):
        raise LlmcError("this terminal can draw nothing (TERM is dumb or not set)", "`llmc status --watch` works here")
    StateFile(root.path).load()  # says what is wrong with it, before the screen is taken over
    from llmc.ui.face import BoardUi

    face = BoardUi(root, app.host(), app.site)
    face.run()
    return Result(exit_code=BUG if face.return_code else 0)
