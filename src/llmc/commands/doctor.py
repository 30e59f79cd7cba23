"""`llmc doctor`: looks at everything and says what is wrong. It works where nothing else does.

Without --repair and --rebuild it changes nothing.
"""

from __future__ import annotations

from argparse import Namespace

from llmc.app import App
from llmc.commands.shared.doctor_report import report
from llmc.commands.shared.result import Result
from llmc.doctor.checks import look_twice
from llmc.errors import InvalidUsageError
from llmc.root import Root
from llmc.roots import USUAL, RootMissingError


def run(app: App, args: Namespace) -> Result:
    if sum((args.repair, args.rebuild, args.agents)) > 1:
        raise InvalidUsageError("these are three different things", "say one of --repair, --rebuild and --agents")
    root = named_root(app)
    app.console.progress("looking at everything")
    if args.agents:
        from llmc.commands.shared.doctor_agents import try_agents

        return try_agents(app, root)
    if args.rebuild:
        from llmc.commands.shared.doctor_rebuild import rebuild

        return rebuild(app, root)
    if args.repair:
        from llmc.commands.shared.doctor_repair import repair

        return repair(app, root)
    return report(*look_twice(app.host(), root))


def named_root(app: App) -> Root:
    """Where the root is or would be: a damaged one is no root to other commands."""
    try:
        return app.root()
    except RootMissingError:
        return Root(app.given_root or app.environ.get("LLMC_ROOT") or USUAL)
