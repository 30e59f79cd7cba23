"""`python -m testing.drift`: which versions of the agent CLIs this LLMC works with, cell by cell."""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from datetime import date

from llmc import __version__
from testing.drift.cells import CELLS, try_cells
from testing.drift.install import NotInstalledError, install_version, matrix
from testing.drift.table import Result, keep_result


def main() -> int:
    parser = _parser()
    words = parser.parse_args()
    if words.version and len(words.cli or ()) != 1:
        parser.error("--version needs one --cli, whose version it is")
    everything = True
    for cli, pinned in matrix().items():
        if words.cli and cli not in words.cli:
            continue
        for version in words.version or pinned:
            everything &= _measure(cli, version, words.cell or list(CELLS))
    return 0 if everything else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m testing.drift", description=__doc__)
    parser.add_argument("--cli", action="append", choices=list(matrix()), help="only this one")
    parser.add_argument("--version", action="append", help="only this version (default: those of versions.json)")
    parser.add_argument("--cell", action="append", choices=list(CELLS), help="only this one")
    return parser


def _measure(cli: str, version: str, cells: list[str]) -> bool:
    try:
        programs = install_version(cli, version)
    except (NotInstalledError, subprocess.CalledProcessError) as failed:
        print(f"{cli} {version}: not installed: {failed}", flush=True)
        return False
    works = True
    began = time.monotonic()
    for cell, why_not in try_cells(cli, programs, cells):
        keep_result(Result(cli, version, cell, why_not, date.today().isoformat(), __version__))
        spent, began = time.monotonic() - began, time.monotonic()
        print(f"{cli} {version} {cell}: {f'no: {why_not}' if why_not else 'yes'} ({spent:.0f} s)", flush=True)
        works &= not why_not
    return works


if __name__ == "__main__":
    sys.exit(main())
