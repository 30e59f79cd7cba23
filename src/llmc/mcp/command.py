"""`llmc mcp`: the tools of LLMC on standard input and output, for one client."""

from __future__ import annotations

from argparse import Namespace

from llmc.app import App
from llmc.commands.shared.result import Result
from llmc.config.mcp_settings import TOOL_KINDS, USUAL_KINDS, WORKER_KINDS
from llmc.mcp.desk import Desk
from llmc.root import Root


def run(app: App, args: Namespace) -> Result:
    import anyio  # with the SDK it takes longer to load than most commands to run

    from llmc.mcp.lines import serve_lines
    from llmc.mcp.server import allowed_kinds, client_of, make_server

    site = app.site()
    worker = args.worker or _worker_around(app, site.root)
    if worker:
        site.worker(worker)
    usual = WORKER_KINDS if worker else USUAL_KINDS
    kinds = allowed_kinds(args.allow, TOOL_KINDS) if args.allow is not None else usual
    kinds = tuple(kind for kind in kinds if not worker or kind in WORKER_KINDS)
    desk = Desk(site.root, kinds, worker, supervises=bool(args.worker))
    anyio.run(serve_lines, make_server(desk, client_of))
    return Result()


def _worker_around(app: App, root: Root) -> str:
    """The one in whose terminal this was started: what its agent may do is bounded there, too."""
    here = app.environ.get("LLMC_ROOT") == root.path
    return app.environ.get("LLMC_WORKER", "") if here else ""
