"""`python -m testing.kills`: all of them, or those that are named."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from testing.killed_git import Moment
from testing.kills.cases import CASES
from testing.kills.trial import CHANGES, CHANGING, Bench, Kill
from testing.roots import own_environment


def main() -> int:
    words = _parser().parse_args()
    failed = 0
    with tempfile.TemporaryDirectory(prefix="llmc-kills-", ignore_cleanup_errors=True) as place:
        for name in words.command or CASES:
            with own_environment(Path(place, name, "home")):
                failed += _try_all(Bench(CASES[name], Path(place, name)), words)
    print(f"{failed} of the kills did harm" if failed else "no kill did harm")
    return 1 if failed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m testing.kills", description=__doc__)
    parser.add_argument("--command", action="append", choices=list(CASES))
    parser.add_argument("--child", action="append", type=int, help="the number of the git that is killed, from 1")
    parser.add_argument("--moment", action="append", type=Moment, choices=list(Moment))
    parser.add_argument("--changes", type=int, help="how many changes are in its middle")
    parser.add_argument("--only-changing", action="store_true", help="leave out what only reads")
    return parser


def _try_all(bench: Bench, words: argparse.Namespace) -> int:
    verbs = bench.calls()
    failed = 0
    print(f"{bench.case.name}: {len(verbs)} calls of git", flush=True)
    for kill in _kills(verbs, words):
        wrong = bench.complaints(kill)
        if wrong:
            failed += 1
            print(f"  --command {bench.case.name} {kill}")
            print("\n".join(f"    {line}" for each in wrong for line in each.splitlines()), flush=True)
    return failed


def _kills(verbs: list[str], words: argparse.Namespace) -> Iterator[Kill]:
    for child in words.child or range(1, len(verbs) + 1):
        changing = verbs[child - 1] in CHANGING
        if words.only_changing and not changing:
            continue
        for moment in words.moment or Moment:
            in_the_middle = moment in (Moment.MIDDLE, Moment.CUT)
            if in_the_middle and not changing and not words.child:
                continue  # what only reads has no middle
            each = ((words.changes,) if words.changes else CHANGES) if in_the_middle else (1,)
            yield from (Kill(child, moment, changes) for changes in each)


if __name__ == "__main__":
    sys.exit(main())
