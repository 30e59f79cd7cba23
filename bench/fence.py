"""What the fence costs: until a program runs behind it, and until an agent behind it has a text."""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path

from bench.checkout import HERE
from bench.delivery import COLUMNS as OF_DELIVERY
from bench.delivery import Receiver, text_of
from bench.measure import COLUMNS, program, spread, take_turns
from bench.report import Table, Verdict
from llmc.core.lifecycle import events as ev
from llmc.git.repository import raw_status
from llmc.perform.fence import fenced_command
from llmc.perform.steps import decide_and_run
from testing.prompt_line import agent_table
from testing.roots import own_environment
from testing.story import Story, told_in

FLOOR = "true"
FENCED = "the fence around it"
MADE_READY = "making the fence ready"
STATUS, WALLED = "git status of a worktree", "git status of a fenced one"
LIMIT_MS = 100.0
LIMIT = 1.25
NOTE = (
    "the fence around it: from LLMC's command to the end of `true` inside; making it ready: what LLMC does before that,"
    " in the process that starts the agent. LLMC's own git at a fenced worktree runs behind a fence of its own, too."
)


def measure(rounds: int = 20, deliveries: int = 40) -> list[Table]:
    with _story() as story:
        return [_start_up(story, rounds), _delivery(story, deliveries)]


def _start_up(story: Story, rounds: int) -> Table:
    site, environ = story.site, dict(os.environ)
    argv = fenced_command(site, "baker", ("true",), {})
    actions = {
        FLOOR: program("true"),
        FENCED: program(*argv, env=environ),
        MADE_READY: lambda: fenced_command(site, "baker", ("true",), {}),
        STATUS: lambda: raw_status(site.git, story.root.worktree("adam")),
        WALLED: lambda: raw_status(site.git, story.root.worktree("baker")),
    }
    timings = take_turns(actions, floor=FLOOR, rounds=rounds)
    ms = {timing.name: timing.median_ms for timing in timings}
    verdict = Verdict("what the fence adds to a start", ms[FENCED] - ms[FLOOR] + ms[MADE_READY], LIMIT_MS, "ms")
    rows = [timing.row for timing in timings]
    return Table("The fence, start-up", COLUMNS, rows, (verdict,), f"{rounds} rounds. {NOTE}")


def _delivery(story: Story, rounds: int) -> Table:
    for name in ("adam", "baker"):
        decide_and_run(story.site, name, ev.StartAsked(story.site.now()))
    open_one, fenced = (Receiver(story.site, story.place / name / "received", None, name) for name in ("adam", "baker"))
    text = text_of(1 << 10)
    bouts = [(open_one.bout(text), fenced.bout(text)) for _ in range(rounds)]
    times = spread([both[1].own / both[0].own for both in bouts])
    rows = []
    for number, name in enumerate(("without the fence", "behind the fence")):
        floor, ours = (spread([getattr(both[number], part) * 1000 for both in bouts]) for part in ("floor", "ours"))
        receiver = spread([both[number].receiver * 1000 for both in bouts])
        ratio = spread([both[number].ratio for both in bouts])
        own = (floor.median, floor.between, ours.median, ours.between, receiver.median, ratio.median, ratio.between)
        rows.append((name, *own))
    verdict = Verdict("a delivery of 1 KiB behind the fence", times.median, LIMIT, "x one without it")
    note = f"{rounds} rounds, in turns; the columns are those of the deliveries above."
    return Table("The fence, delivery", OF_DELIVERY[: len(rows[0])], rows, (verdict,), note)


@contextmanager
def _story() -> Iterator[Story]:
    with tempfile.TemporaryDirectory(prefix="llmc-bench-", ignore_cleanup_errors=True) as directory:
        place = Path(directory)
        with redirect_stdout(io.StringIO()), own_environment(place / "home"), told_in(place) as story:
            tables = [agent_table(f"line-{name}", place / name / "received") for name in ("adam", "baker")]
            for name in ("adam", "baker"):
                (place / name).mkdir()
            story.begin(agents="".join(tables))
            story.llmc("config", "set", "sandbox.writable", f'["{place / "baker"}"]')
            story.llmc("config", "set", "sandbox.readable", f'["{HERE}"]')
            story.llmc("add", "adam", "--agent", "line-adam")
            story.llmc("add", "baker", "--agent", "line-baker", "--sandbox", "bwrap")
            yield story
