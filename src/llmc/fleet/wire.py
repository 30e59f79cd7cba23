"""What hub and machine say to each other: lines of JSON, after one line that tells who answers."""

from __future__ import annotations

import json
from typing import Any

from llmc.core.display import plain
from llmc.fleet.shapes import shaped
from llmc.values import Value

PROTOCOL = 1
GREETING = "llmc-remote "
"""What a login shell has printed before it is no part of the talk."""
MOST_BANNER_LINES = 1000
MOST_BYTES = 32 << 20
"""Of one line: who sends more is not talked to."""
BROKEN, MOST_CODE = 3, 255


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
        except (ValueError, RecursionError):
            return None

    def shaped(self, shape: Any) -> Any:  # noqa: ANN401 - as the shape is
        """The document as far as it has this shape."""
        return shaped(self.data, shape)


def encode_line(said: dict[str, Any]) -> bytes:
    return json.dumps(said).encode() + b"\n"


def decode_line(line: bytes) -> dict[str, Any]:
    """Empty for what is none of ours."""
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


def answer_in(said: dict[str, Any]) -> MachineAnswer:
    code, out, err = said.get("code"), said.get("out"), said.get("err")
    is_code = isinstance(code, int) and 0 <= code <= MOST_CODE
    return MachineAnswer(
        int(code) if is_code else BROKEN,  # type: ignore[arg-type]
        out if isinstance(out, str) else "",
        plain(err) if isinstance(err, str) else "",
    )
