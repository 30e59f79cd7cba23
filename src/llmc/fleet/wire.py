"""What hub and machine say to each other: lines of JSON, after one line that tells who answers."""

from __future__ import annotations

import json
from typing import Any

from llmc.values import Value

PROTOCOL = 1
GREETING = "llmc-remote "
"""What a login shell has printed before it is no part of the talk."""
MOST_BANNER_LINES = 1000


class MachineAnswer(Value):
    """What a command on the machine has said."""

    code: int
    out: str = ""
    err: str = ""

    @property
    def data(self) -> Any:  # noqa: ANN401 - that is what JSON is
        """Its `--json` document; None where there is none."""
        try:
            return json.loads(self.out)
        except ValueError:
            return None


def encode_line(said: dict[str, Any]) -> bytes:
    return json.dumps(said).encode() + b"\n"


def decode_line(line: bytes) -> dict[str, Any]:
    """Empty for what is none of ours."""
    try:
        said = json.loads(line)
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}


def answer_in(said: dict[str, Any]) -> MachineAnswer:
    return MachineAnswer(int(said.get("code", 3)), str(said.get("out", "")), str(said.get("err", "")))
