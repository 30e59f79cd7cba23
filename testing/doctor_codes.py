"""The table of the doctor's codes in docs/doctor.md."""

from __future__ import annotations

import re

from llmc.doctor.checks import KINDS


def codes_table() -> str:
    rows = [
        f"| `{kind.code}` | {kind.severity} | {kind.meaning} | {_with_places(kind.advice)} |" for kind in KINDS.values()
    ]
    return "\n".join(["| code | severity | meaning | repair |", "| --- | --- | --- | --- |", *rows])


def _with_places(advice: str) -> str:
    return re.sub(r"\{(\w+)\}", lambda place: place[1].upper(), advice)
