"""How often the packs are right: `evaluate_packs.py DIRECTORY` of recordings (see testing/recordings.py).

Prints who was taken for what, for each CLI, and every frame that was read wrongly. Ends with 1 when a CLI is below
the bar, or when a dialog was taken for an idle prompt or the other way round.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from llmc.core.screen.classify import ScreenReading
from testing.recordings import Recording, recordings

BAR = 0.98
NEVER = {("NEEDS_CONFIRMATION", "READY"), ("READY", "NEEDS_CONFIRMATION")}

Read = tuple[Recording, ScreenReading]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("--details", action="store_true", help="also show where only the detail differs")
    parser.add_argument("--cli", help="only this one")
    parser.add_argument("--bare", action="store_true", help="text alone, as if tmux told nothing else")
    args = parser.parse_args()
    began = time.perf_counter()
    read = [(recording, recording.read(bare=args.bare)) for recording in recordings(args.directory)]
    spent = time.perf_counter() - began
    by_cli: dict[str, list[Read]] = defaultdict(list)
    for one in read:
        by_cli[one[0].cli].append(one)
    fine = [show(cli, rows, details=args.details) for cli, rows in by_cli.items() if args.cli in (None, cli)]
    print(f"{len(read)} screens, {spent / max(1, len(read)) * 1000:.2f} ms each")
    return 0 if all(fine) else 1


def show(cli: str, rows: list[Read], *, details: bool) -> bool:
    right = [one for one in rows if one[0].is_right(one[1])]
    confused = Counter((recording.label, reading.state) for recording, reading in rows)
    worst = [one for one in rows if one not in right and (one[0].label, one[1].state) in NEVER]
    print(f"== {cli}: {len(right)} of {len(rows)} right, {len(right) / len(rows):.2%}")
    for (label, state), times in sorted(confused.items()):
        print(f"   {label:>18} -> {state:<18} {times:>4}")
    for recording, reading in rows:
        if not recording.is_right(reading):
            print(f"   WRONG {recording.name}: {reading.state} by {reading.cue or 'nothing'} {reading.confidence}")
        elif details and reading.state == recording.label and recording.facts.get("detail") != reading.detail:
            true = recording.facts.get("detail")
            print(f"   detail {recording.name}: {true} read as {reading.detail} ({reading.cue})")
    return len(right) / len(rows) >= BAR and not worst


if __name__ == "__main__":
    sys.exit(main())
