"""Which signal counts, and what is said of one that differs."""

from __future__ import annotations

import pytest

from llmc.core.fusion import fuse


def signal(source: str, state: str, at: float) -> dict[str, object]:
    return {"state": state, "detail": None, "confidence": 0.9, "source": source, "at_unix": at}


@pytest.mark.parametrize(
    ("hook", "session", "screen", "source", "state", "otherwise"),
    [
        (None, None, None, None, None, None),
        (None, None, ("BUSY", 5), "screen", "BUSY", None),
        (("READY", 1), None, ("READY", 5), "hook", "READY", None),
        (("BUSY", 1), None, ("READY", 5), "hook", "BUSY", "READY"),
        (("BUSY", 9), None, ("READY", 5), "hook", "BUSY", None),
        (("BUSY", 1), None, ("UNKNOWN", 5), "hook", "BUSY", None),
        (("BUSY", 1), ("READY", 3), None, "session", "READY", None),
        (("BUSY", 4), ("READY", 3), None, "hook", "BUSY", None),
        (("ERROR", 1), ("READY", 3), None, "hook", "ERROR", None),
        (("READY", 1), ("BUSY", 3), None, "session", "BUSY", None),
        (None, ("READY", 3), ("ERROR", 5), "screen", "ERROR", None),
        (None, ("READY", 3), ("NEEDS_CONFIRMATION", 5), "session", "READY", "NEEDS_CONFIRMATION"),
    ],
)
def test_the_agent_itself_outranks_its_screen(hook, session, screen, source, state, otherwise):
    named = (("hook", hook), ("session", session), ("screen", screen))
    fused = fuse(*(signal(name, *said) if said else None for name, said in named))
    if source is None:
        assert fused is None
        return
    assert fused is not None
    assert (fused["source"], fused["state"]) == (source, state)
    assert (fused["disagreement"] or {}).get("state") == otherwise
