"""`make bench`: every measurement, one after the other, or those that are named."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from bench import classification, delivery, observing, repository, start_up, state_updates, watching
from bench.report import Table, machine

MEASUREMENTS: Mapping[str, Callable[[], list[Table]]] = {
    "start_up": start_up.measure,
    "state_updates": state_updates.measure,
    "repository": repository.measure,
    "classification": classification.measure,
    "delivery": delivery.measure,
    "observing": observing.measure,
    "watching": watching.measure,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(MEASUREMENTS)}; all without any")
    parser.add_argument("--json", metavar="FILE", help="write the figures there too")
    words = parser.parse_args()
    unknown = sorted(set(words.names) - MEASUREMENTS.keys())
    if unknown:
        parser.error(f"there is no measurement named {', '.join(unknown)}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that no daemon and no tmux server is left behind
    measured_on = machine()
    print("\n".join(f"{what}: {value}" for what, value in measured_on.items()))
    found: dict[str, object] = {}
    for name in words.names or MEASUREMENTS:
        tables = MEASUREMENTS[name]()
        found[name] = [table.as_data() for table in tables]
        print("", *tables, sep="\n\n", flush=True)
    if words.json:
        Path(words.json).write_text(json.dumps({"machine": measured_on, "measurements": found}, indent=2) + "\n")


if __name__ == "__main__":
    main()
