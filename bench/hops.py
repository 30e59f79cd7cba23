"""How far a command has to go: the functions and modules of LLMC that it enters, what it loads, what it starts."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.checkout import HERE, Checkout
from bench.landing import commit_file
from bench.report import Table, Verdict
from testing.commands import Llmc
from testing.roots import make_repository, own_environment
from testing.waiting import wait_until

COLUMNS = ("", "functions", "modules entered", "modules loaded", "child processes")
LIMITS = (
    ("llmc start", "functions", 250),
    ("llmc start", "modules entered", 50),
    ("llmc start", "child processes", 12),
    ("llmc rebase", "child processes", 18),
    ("llmc accept", "child processes", 28),
)
OVER = (
    "What is left is looking at the screen, the store, the settings, the guards of git and the delivery itself, each in"
    " small functions; half as many would mean to join functions, not to do less"
)
STORY = (
    ("status",),
    ("start", "--prompt", "first note"),
    ("rebase", "adam"),
    ("review",),
    ("accept",),
    ("add", "baker", "--agent", "demo"),
)
"""One after the other on one root, where a worker of the demo agent is idle and the daemon runs."""
PATIENCE_SECS = 120.0
NOTE = (
    "Each command once, in a process of its own. Counted is what a reader of a trace would meet: each function of LLMC"
    " that is called, methods, properties and inner functions included, once, however often it is entered. A module"
    " is entered when one of its functions is called, and loaded when it is imported. Not counted are calls while a"
    " module is imported, lambdas and comprehensions, and what `dataclasses` writes. Child processes are those that the"
    " command itself starts; a git that git starts is not one of them."
)

TRACED = """
import json, os, sys, threading
entered, started, importing = set(), [], 0
def called(frame, event, _):
    global importing
    if frame.f_code.co_name == "<module>":
        importing += (event == "call") - (event == "return")
    elif event == "call" and not importing:
        entered.add(frame.f_code)
sys.addaudithook(lambda event, _: started.append(event) if event == "subprocess.Popen" else None)
threading.setprofile(called)
sys.setprofile(called)
from llmc.cli.main import main
code = main(sys.argv[2:])
sys.setprofile(None)
import llmc
home = os.path.dirname(llmc.__file__) + os.sep
own = [code for code in entered if code.co_filename.startswith(home)]
named = {(code.co_filename, code.co_qualname) for code in own if not code.co_name.startswith("<")}
loaded = [name for name in sys.modules if name.partition(".")[0] == "llmc"]
with open(sys.argv[1], "w") as file:
    json.dump([len(named), len({where for where, _ in named}), len(loaded), len(started)], file)
sys.exit(code)
"""

Figures = tuple[int, int, int, int]


def measure(beside: Checkout | None = None) -> list[Table]:
    found = _story(Checkout(HERE))
    verdicts = tuple(
        Verdict(name, found[name][COLUMNS.index(unit) - 1], limit, unit, OVER) for name, unit, limit in LIMITS
    )
    rows = [(name, *figures) for name, figures in found.items()]
    if beside is not None:
        rows += [(f"{beside.name}: {name}", *figures) for name, figures in _story(beside).items()]
    return [Table("Hops of a command", COLUMNS, rows, verdicts, NOTE)]


def _story(checkout: Checkout) -> dict[str, Figures]:
    with _idle_worker(checkout) as llmc:
        return {f"llmc {words[0]}": _hops(checkout, llmc, *words) for words in STORY}


@contextmanager
def _idle_worker(checkout: Checkout) -> Iterator[Llmc]:
    with tempfile.TemporaryDirectory(prefix="llmc-b-", ignore_cleanup_errors=True) as directory:
        place = Path(directory)
        with own_environment(place / "home"):
            source = make_repository(place / "repository")
        with Llmc(place / "home", place / "llmc", program=checkout.program) as llmc:
            llmc.run("init", "--source", str(source))
            llmc.run("add", "adam", "--agent", "demo")
            llmc.run("up", "--detach", timeout=PATIENCE_SECS)
            yield llmc


def _hops(checkout: Checkout, llmc: Llmc, *words: str) -> Figures:
    if words[0] == "rebase":
        wait_until(lambda: "needs_review" in llmc.run("status", "--json").out, PATIENCE_SECS)
        with own_environment(llmc.home):
            commit_file(llmc.home.parent / "repository", "upstream.txt")
    found = llmc.home / "hops.json"
    argv = [str(checkout.python), "-P", "-c", TRACED, str(found), *words]
    done = subprocess.run(argv, env=llmc.environment(), cwd=llmc.home, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"llmc {' '.join(words)} ended with {done.returncode}: {done.stdout}{done.stderr}")
    functions, modules, loaded, started = json.loads(found.read_text())
    return functions, modules, loaded, started
