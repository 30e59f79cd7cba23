"""Whether the person means the root that was found: `~/llmc` may belong to another repository than theirs."""

from __future__ import annotations

from llmc.app import App
from llmc.errors import LlmcError
from llmc.roots import RootMissingError, foreign_source


def require_meant_root(app: App) -> None:
    """Asks, and changes nothing where nobody agrees. A `--yes` agrees to what the command does, not to where."""
    if app.given_root or app.environ.get("LLMC_ROOT"):
        return
    try:
        root = app.root()
    except RootMissingError:
        return  # the command says so, or can do without
    source = foreign_source(root, app.cwd)
    if source is None or app.console.agrees(f"{root.path} is the root of {source}, not of the repository here. Go on?"):
        return
    raise LlmcError(
        f"{root.path} is the root of {source}, not of the repository around you",
        f"`llmc init` makes a root for this repository; --root {root.shown} before the command means that one",
    )
