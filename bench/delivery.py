"""What it costs to get a text to an agent with a proof: against bare tmux commands and libtmux, which prove nothing.

All go to the same receiver, in turns. The receiver tells its own times: what it took to draw the text and to report it
is nobody else's cost, and is shown apart.
"""

from __future__ import annotations

import io
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from bench.libtmux_peer import Sender, sender
from bench.measure import spread
from bench.peers import LIBTMUX, absences
from bench.report import Cell, Table, Verdict
from llmc.care.catch_up import work_news
from llmc.core.lifecycle import events as ev
from llmc.model import Outcome, Session
from llmc.perform.delivery import deliver
from llmc.perform.steps import decide_and_run
from llmc.site import Site
from testing.prompt_line import Times, agent_table, read_times
from testing.roots import own_environment
from testing.story import told_in
from testing.waiting import wait_until

SIZES = {"1 KiB": 1 << 10, "5 KiB": 5 << 10, "64 KiB": 64 << 10, "1 MiB": 1 << 20}
ROUNDS = {"1 KiB": 40, "5 KiB": 20, "64 KiB": 15, "1 MiB": 8}
LIMIT = 1.5
WORKER = "adam"
COLUMNS = ("", "tmux ms", "± tmux", "llmc ms", "± llmc", "receiver ms", "x tmux", "± x", "libtmux ms", "± libtmux")
NOTE = (
    "tmux: load-buffer, paste-buffer, send-keys, until the receiver has the Enter; llmc: until the receipt, which says"
    " that this very text was submitted; x tmux: llmc without the receiver's own time. libtmux: Pane.send_keys, until"
    " the receiver has the Enter; it types the text instead of pasting it and proves nothing. lost: the receiver got an"
    " Enter without the text, and no error was raised; refused: the system does not take so long an argument."
    " What llmc adds: it is on the disk that the text is about to be sent, the screen is looked at before and after the"
    " paste and after the Enter, and the agent's answer is waited for; for a long text also its digest."
)


@dataclass(frozen=True, slots=True)
class Bout:
    """One turn of each, in seconds."""

    floor: float
    ours: float
    receiver: float
    libtmux: float | str | None
    """Or what became of it."""

    @property
    def own(self) -> float:
        return self.ours - self.receiver

    @property
    def ratio(self) -> float:
        return self.own / self.floor


def measure(rounds: Mapping[str, int] = MappingProxyType(ROUNDS)) -> list[Table]:
    proofs = {"the agent reports the prompt": True, "the input line is seen filled, then empty": False}
    return [_table(proof, events, rounds) for proof, events in proofs.items()]


def _table(proof: str, events: bool, rounds: Mapping[str, int]) -> Table:
    rows, verdicts = [], []
    with _receiver(events) as receiver:
        for name, times in rounds.items():
            bouts = [receiver.bout(text_of(SIZES[name])) for _ in range(times)]
            ratio = spread([bout.ratio for bout in bouts])
            rows.append(_row(name, bouts))
            if name == "1 KiB":
                verdicts.append(Verdict(f"a delivery of {name}, without the receiver", ratio.median, LIMIT, "x tmux"))
    note = " ".join(filter(None, (NOTE, f"Rounds: {_counted(rounds)}.", absences(LIBTMUX))))
    return Table(f"Delivery, proof: {proof}", COLUMNS, rows, tuple(verdicts), note)


def _counted(rounds: Mapping[str, int]) -> str:
    return ", ".join(f"{times} of {name}" for name, times in rounds.items())


def _row(name: str, bouts: list[Bout]) -> tuple[Cell, ...]:
    floor, ours = (spread([getattr(bout, part) * 1000 for bout in bouts]) for part in ("floor", "ours"))
    ratio = spread([bout.ratio for bout in bouts])
    receiver = spread([bout.receiver * 1000 for bout in bouts])
    own = (floor.median, floor.between, ours.median, ours.between, receiver.median, ratio.median, ratio.between)
    return name, *own, *_libtmux_cells([bout.libtmux for bout in bouts])


def _libtmux_cells(found: Sequence[float | str | None]) -> tuple[Cell, Cell]:
    taken = [each * 1000 for each in found if isinstance(each, float)]
    if len(taken) < len(found):
        return next(each for each in found if not isinstance(each, float)), None
    return spread(taken).median, spread(taken).between


def text_of(size: int) -> str:
    line = "The quick brown fox jumps over the lazy dog, number 0123456789.\n"
    return (line * (size // len(line) + 1))[: size - 4] + " end"


@dataclass(slots=True)
class Receiver:
    site: Site
    file: Path
    libtmux: Sender | None
    worker: str = WORKER
    received: int = 0

    def bout(self, text: str) -> Bout:
        floor = self._bare(text)
        ours, times = self._proven(text)
        return Bout(floor, ours, times.own, self._typed(text) if self.libtmux else None)

    def _bare(self, text: str) -> float:
        pane = self.site.tmux.panes()[f"llmc-{self.worker}"].id
        began = time.monotonic()
        self._tmux("load-buffer", "-b", "bare", "-", stdin=text)
        self._tmux("paste-buffer", "-p", "-r", "-d", "-b", "bare", "-t", pane)
        self._tmux("send-keys", "-t", pane, "Enter")
        return self._times().entered - began

    def _typed(self, text: str) -> float | str:
        assert self.libtmux is not None
        had, began = self.file.stat().st_size, time.monotonic()
        if not self.libtmux.send(text):
            return "refused"
        entered = self._times().entered
        return entered - began if self.file.stat().st_size == had + len(text) else "lost"

    def _tmux(self, *words: str, stdin: str = "") -> None:
        subprocess.run(["tmux", "-L", self.site.root.tmux_socket, *words], input=stdin.encode(), check=True)

    def _proven(self, text: str) -> tuple[float, Times]:
        site = self.site
        work_news(site, site.worker(self.worker))
        worker = site.ledger.apply(self.worker, ev.MessageGiven(site.now(), text)).worker
        began = time.monotonic()
        result, receipt = deliver(site, worker, worker.pending[0], text)
        taken = time.monotonic() - began
        # The program never says that a turn is over: what comes after the first text is queued, by its account.
        assert receipt.outcome in (Outcome.DELIVERED, Outcome.QUEUED), receipt
        site.ledger.apply(self.worker, result)
        return taken, self._times()

    def _times(self) -> Times:
        """Of the next prompt that it has received."""
        self.received += 1
        wait_until(lambda: len(read_times(self.file)) >= self.received)
        return read_times(self.file)[-1]


@contextmanager
def _receiver(events: bool) -> Iterator[Receiver]:
    with tempfile.TemporaryDirectory(prefix="llmc-bench-", ignore_cleanup_errors=True) as directory:
        place = Path(directory)
        with redirect_stdout(io.StringIO()), own_environment(place / "home"), told_in(place) as story:
            story.begin(WORKER, agent="line", agents=agent_table("line", place / "received", events=events))
            site = story.site
            decide_and_run(site, WORKER, ev.StartAsked(site.now()))
            assert story.worker(WORKER).session is Session.UP, story.account()
            with ExitStack() as stack:
                yield Receiver(site, place / "received", _libtmux(site, stack))


def _libtmux(site: Site, stack: ExitStack) -> Sender | None:
    if not LIBTMUX.is_here:
        return None
    return stack.enter_context(sender(site.root.tmux_socket, site.tmux.panes()[f"llmc-{WORKER}"].id))
