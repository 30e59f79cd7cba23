"""`make bench`: every measurement, one after the other, or those that are named."""

from __future__ import annotations

import argparse
import compileall
import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import llmc
from bench import (
    classification,
    delivery,
    fence,
    hops,
    landing,
    machines,
    observing,
    queue,
    repository,
    size,
    start_up,
    state_updates,
    train,
    ui,
    watching,
    web,
)
from bench.checkout import HERE, Checkout
from bench.page import page
from bench.report import Table, load, machine

COMPARED: Mapping[str, Callable[[Checkout | None], list[Table]]] = {
    "size": size.measure,
    "hops": hops.measure,
    "start_up": start_up.measure,
    "state_updates": state_updates.measure,
    "landing": landing.measure,
}
"""Those that can be measured beside another checkout."""
ALONE: Mapping[str, Callable[[], list[Table]]] = {
    "queue": queue.measure,
    "train": train.measure,
    "repository": repository.measure,
    "classification": classification.measure,
    "delivery": delivery.measure,
    "fence": fence.measure,
    "observing": observing.measure,
    "watching": watching.measure,
    "ui": ui.measure,
    "web": web.measure,
    "fleet": machines.measure,
}
MEASUREMENTS = (*COMPARED, *ALONE)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(MEASUREMENTS)}; all without any")
    parser.add_argument("--json", metavar="FILE", help="write the figures there too")
    parser.add_argument("--markdown", metavar="FILE", help="write the tables there as a page")
    parser.add_argument("--beside", metavar="DIR", type=Path, help=f"measure that checkout too: {', '.join(COMPARED)}")
    parser.add_argument("--onto", metavar="FILE", type=Path, help="what is not measured now is as in this --json FILE")
    words = parser.parse_args()
    unknown = sorted(set(words.names) - {*MEASUREMENTS})
    if unknown:
        parser.error(f"there is no measurement named {', '.join(unknown)}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that no daemon and no tmux server is left behind
    compileall.compile_dir(os.path.dirname(llmc.__file__), quiet=1)  # as every installed package is
    measured_on = machine() | {"llmc": Checkout(HERE).name}
    print("\n".join(f"{what}: {value}" for what, value in measured_on.items()))
    found: dict[str, list[Table]] = {}
    if words.onto:
        measured_on, found = _earlier(words.onto, words.names, measured_on)
    other = Checkout(words.beside.resolve()) if words.beside else None
    for name in words.names or MEASUREMENTS:
        found[name] = COMPARED[name](other) if name in COMPARED else ALONE[name]()
        print("", *found[name], sep="\n\n", flush=True)
        measured_on["load after, then" if words.onto else "load after"] = load()
        _keep(words, measured_on, found)


def _earlier(file: Path, names: list[str], now: Mapping[str, str]) -> tuple[dict[str, str], dict[str, list[Table]]]:
    """What was measured before, and on what; with when and how busily the rest is measured now."""
    kept = json.loads(file.read_bytes())
    found = {name: [Table.of_data(each) for each in tables] for name, tables in kept["measurements"].items()}
    again = {f"{', '.join(names)} measured later, at": now["at"]}
    again |= {"llmc, then": now["llmc"], "load before, then": now["load before"]}
    return kept["machine"] | again, found


def _keep(words: argparse.Namespace, measured_on: Mapping[str, str], found: Mapping[str, list[Table]]) -> None:
    """After each measurement, so that a run which is cut short was not in vain."""
    if words.json:
        _write(words.json, _as_json(measured_on, found))
    if words.markdown:
        _write(words.markdown, page(measured_on, found))


def _write(file: str, text: str) -> None:
    Path(file).parent.mkdir(parents=True, exist_ok=True)
    Path(file).write_text(text, "utf-8")


def _as_json(measured_on: Mapping[str, str], found: Mapping[str, list[Table]]) -> str:
    tables = {name: [table.as_data() for table in tables] for name, tables in found.items()}
    return json.dumps({"machine": measured_on, "measurements": tables}, indent=2) + "\n"


if __name__ == "__main__":
    main()
