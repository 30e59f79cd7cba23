"""What it costs to ask for the status or for help: against the bare interpreter, with many workers, and the peers."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from bench.checkout import COLUMNS as BESIDE_COLUMNS
from bench.checkout import Checkout, side_by_side
from bench.measure import COLUMNS, Timing, program, take_turns
from bench.orchestrator import orchestrator_server
from bench.peers import CCMANAGER, LIBTMUX, ORCHESTRATOR, PEERS, absences, own_home
from bench.report import Table, Verdict
from bench.state_updates import make_state
from llmc.store.config_file import default_config_text
from llmc.store.state_file import StateFile

WORKERS = 100
OWN = Path(sys.executable).with_name("llmc")
FLOOR = "python -c pass"
VERSION = "llmc --version"
HELP = ("--help", "start --help", "pty create --help")
STATUS = f"llmc status, {WORKERS} workers"
PTY = f"llmc pty status --short, {WORKERS} terminals"
LIMITED = {STATUS, PTY, VERSION, *(f"llmc {words}" for words in HELP)}
LIMIT = 2.5
NOTE = (
    "Each row is a process from its start to its end. libtmux has no command, so it is its import; ccmanager has no"
    " status without its screen, so it is its version. Help is mostly what argparse costs."
)

Actions = dict[str, Callable[[], object]]


def measure(beside: Checkout | None = None, rounds: int = 20) -> list[Table]:
    timings = _timings(rounds)
    verdicts = tuple(
        Verdict(timing.name, timing.ratio, LIMIT, "x bare Python") for timing in timings if timing.name in LIMITED
    )
    note = " ".join(filter(None, (f"{rounds} rounds.", NOTE, absences(*PEERS.values()))))
    table = Table("Start-up, wall time", COLUMNS, [timing.row for timing in timings], verdicts, note)
    return [table, _beside(beside, rounds)] if beside else [table]


def _beside(other: Checkout, rounds: int) -> Table:
    with tempfile.TemporaryDirectory(prefix="llmc-b-", ignore_cleanup_errors=True) as place:
        env = _root_of_many(Path(place))
        its, ours = (_questions(llmc, env) for llmc in (other.program, OWN))
        rows = side_by_side(its, ours, 2 * rounds)
    return Table(f"Start-up beside {other.name}, {2 * rounds} rounds", BESIDE_COLUMNS, rows)


def _timings(rounds: int) -> list[Timing]:
    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="llmc-b-", ignore_cleanup_errors=True)))
        actions = _own(place / "llmc") | _peers(place, stack)
        return take_turns(actions, floor=FLOOR, rounds=rounds)


def _own(root: Path) -> Actions:
    env = _root_of_many(root)
    return {FLOOR: program(sys.executable, "-c", "pass", env=env), **_questions(OWN, env)}


def _root_of_many(root: Path) -> dict[str, str]:
    for name in (".worktrees", "run"):
        (root / name).mkdir(parents=True, exist_ok=True)
    (root / "config.toml").write_text(default_config_text("/srv/repository", "main"))
    StateFile(root).create(make_state(WORKERS))
    make_statuses(root, WORKERS)
    return {**os.environ, "LLMC_ROOT": str(root)}


def _questions(llmc: Path, env: dict[str, str]) -> Actions:
    questions = {
        STATUS: "status",
        f"{STATUS}, --short": "status --short",
        f"{STATUS}, --json": "status --json",
        PTY: "pty status --short",
        VERSION: "--version",
        **{f"llmc {words}": words for words in HELP},
    }
    return {name: program(str(llmc), *words.split(), env=env) for name, words in questions.items()}


def _peers(place: Path, stack: ExitStack) -> Actions:
    env = own_home(str(place))
    actions: Actions = {}
    if node := shutil.which("node"):
        actions["node -e 0"] = program(node, "-e", "0", env=env)
    if LIBTMUX.is_here:
        actions[f"{LIBTMUX.title}: import"] = program(LIBTMUX.program, "-c", "import libtmux", env=env)
    if CCMANAGER.is_here:
        actions[f"{CCMANAGER.title}: --version"] = program(CCMANAGER.program, "--version", env=env)
    if ORCHESTRATOR.is_here:
        _, its_own = stack.enter_context(orchestrator_server(place / "orchestrator"))
        cao = ORCHESTRATOR.program
        actions[f"{ORCHESTRATOR.title}: cao --version"] = program(cao, "--version", env=its_own)
        actions[f"{ORCHESTRATOR.title}: cao session list, none"] = program(cao, "session", "list", env=its_own)
    return actions


def make_statuses(root: Path, count: int) -> None:
    """The cache of that many terminals, as a watcher leaves it."""
    for number in range(count):
        directory = root / ".workers" / f"t{number}"
        directory.mkdir(parents=True)
        (directory / "terminal.json").write_text("{}")
        status = {"id": f"t{number}", "state": "READY", "summary": "the shell waits at its prompt", "since_unix": 1.0}
        (directory / "status.json").write_text(json.dumps(status))
