"""The demo agent with a memory that no disaster reaches: every prompt that it accepts is written down outside."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from llmc.demo.program import Program
from llmc.demo.spool import Spool

PACE_SECS = 0.02


class RememberingSpool(Spool):
    def __init__(self, directory: str, session: str, memory: Path) -> None:
        super().__init__(directory, session)
        self._memory = memory

    def report(self, event: str, fields: Mapping[str, str | int]) -> None:
        if event == "prompt":
            line = json.dumps({"worker": os.environ["LLMC_WORKER"], "text": fields["text"]}) + "\n"
            with self._memory.open("a", encoding="utf-8") as memory:
                memory.write(line)
        super().report(event, fields)


if __name__ == "__main__":
    memory = Path(os.environ["LLMC_CHAOS_MEMORY"])
    spool = RememberingSpool(os.environ["LLMC_SPOOL"], os.environ.get("LLMC_SESSION", ""), memory)
    sys.exit(Program(spool, PACE_SECS).run())
