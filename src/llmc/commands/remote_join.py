"""`llmc remote-join`: typed by a hub on a machine. The root is that hub's from now on, and has its settings."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path
from uuid import uuid4

from llmc.app import App
from llmc.commands.shared.result import Result
from llmc.config.load import parse_config
from llmc.errors import LlmcError
from llmc.fleet.joining import with_own_workers
from llmc.host.files import write_atomically
from llmc.host.locks import FileLock
from llmc.store.machine_file import Membership, read_membership, write_membership


def run(app: App, args: Namespace) -> Result:
    root = app.root()
    settings = sys.stdin.buffer.read().decode("utf-8")
    with FileLock(root.inside("config.lock"), name="the settings file"):
        known = read_membership(root)
        if known is not None and (known.hub, known.machine) != (args.hub, args.name):
            raise LlmcError(
                f"{root.path} belongs to another hub already, as {known.machine}", "give the machine another --home"
            )
        if settings:
            text = with_own_workers(settings, Path(root.config_file).read_text("utf-8"))
            parse_config(text)
            write_atomically(root.config_file, text, durable=True)
        member = known or Membership(args.hub, args.name, uuid4().hex[:16], args.epoch)
        write_membership(root, member)
    return Result(f"{root.path} is the machine {args.name}", {"id": member.id, "epoch": member.epoch})
