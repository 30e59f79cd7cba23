"""`llmc web`."""

from __future__ import annotations

from argparse import Namespace

from llmc.app import App
from llmc.commands.shared.result import Result
from llmc.errors import LlmcError


def run(app: App, args: Namespace) -> Result:
    raise LlmcError("not there yet", "see `llmc status`")
