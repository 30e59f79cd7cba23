"""What an agent does, by what it writes down of its conversation. Only of those that keep that file open."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from llmc.agents.registry import BUILT_IN
from llmc.agents.transcripts import Transcripts, last_state
from llmc.core.screen.assessment import Assessment
from llmc.host.processes import open_files, started_at, with_children

CONFIDENCE = 0.95


def read_transcript(cli: str, pids: Iterable[int]) -> Assessment | None:
    """Of the first of these processes, or of one that it started, that has such files open."""
    transcripts = _transcripts_of(cli)
    if transcripts is None:
        return None
    for process in (each for pid in pids for each in with_children(pid)):
        paths = {path for path in open_files(process) if transcripts.kept_open in path and path.endswith(".jsonl")}
        if paths:
            return _last_told(transcripts, paths, started_at(process))
    return None


def _last_told(transcripts: Transcripts, paths: Iterable[str], since: float) -> Assessment | None:
    """Nothing from before the program was started: that was somebody else, who may have been cut short.

    An agent that has given work to others has a file for each of them, and is busy as long as one of them is.
    """
    lines = [line for path in paths if (line := last_state(transcripts, path, since)) is not None]
    if not lines:
        return None
    line = max(lines, key=lambda line: (line.state == "BUSY", line.at_unix))
    return Assessment(
        state=line.state, detail=None, confidence=CONFIDENCE, source="transcript", at_unix=line.at_unix, summary=""
    )


@cache
def _transcripts_of(cli: str) -> Transcripts | None:
    """Those that are kept open: of others nobody knows whose they are."""
    known = BUILT_IN[cli]().transcripts if cli in BUILT_IN else None
    return known if known is not None and known.kept_open else None
