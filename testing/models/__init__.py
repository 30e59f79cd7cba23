"""A scripted model behind the APIs that the real agent CLIs talk to, on loopback only.

    with ModelServer.start() as server:
        server.answer_with([Run("make test"), Commit("notes.txt"), Text("Done.")])
        ...  # run a CLI with server.url as its base URL
        assert server.prompts() == ["Add the notes"]

A prompt can also carry its own script: see `testing.models.script`.
"""

from __future__ import annotations

from testing.models.server import ModelServer
from testing.models.steps import FOREVER, Ask, Commit, Drop, Fail, Hang, Plan, Run, Step, Text, Write

__all__ = ["FOREVER", "Ask", "Commit", "Drop", "Fail", "Hang", "ModelServer", "Plan", "Run", "Step", "Text", "Write"]
