"""Records screens of the real agent CLIs with true labels: `python -m testing.record_screens [CLI...] [--size 80x24]`.

A tour leads a CLI through its states with a scripted model. What each frame shows is known from the script and never
from the look of the screen. See testing/recordings.py for where frames go.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from llmc.tmux.configuration import configuration
from llmc.tmux.parsing import Pane
from llmc.tmux.server import Tmux
from testing.models.steps import Step
from testing.real_agents import EVERY_AGENT, PROJECT, AgentMachine, machine_for
from testing.real_clis import RealAgent
from testing.recordings import keep_frame
from testing.roots import make_repository, own_environment

SCREENS = PROJECT / "tests" / "screens"
LOOK_EVERY_SECS = 0.2
PATIENCE_SECS = 400.0
SETTLED_SECS = 1.5
STILL_AT_LAST_SECS = 45.0
MOST_OPTIONS = 6


@dataclass
class Tour:
    """One CLI in one terminal, from its start to its end."""

    machine: AgentMachine
    tmux: Tmux
    repository: Path
    size: tuple[int, int]
    into: Path
    variables: Mapping[str, str]
    mark: str = ""
    """At the end of every scenario's name, to tell the frames of one version from those of another."""
    pane: Pane | None = None
    frames: dict[str, int] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.machine.agent.name

    # --- the terminal -----------------------------------------------------------------------------

    def start(self, *argv: str, wait: bool = True) -> None:
        """Starts a program in a new terminal; the last one ends."""
        self.end()
        self.pane = self.tmux.new_session("tour", str(self.repository), argv, self.variables, self.size)
        if wait:
            self.wait_for_prompt()

    def end(self) -> None:
        self.tmux.kill_session("tour")

    def press(self, *keys: str, pause: float = 0.4) -> None:
        for key in keys:
            self.tmux.press(self.id, key)
            time.sleep(pause)

    def type(self, text: str) -> None:
        self.tmux.type_text(self.id, text)
        time.sleep(0.8)

    @property
    def id(self) -> str:
        assert self.pane is not None
        return self.pane.id

    @property
    def ended(self) -> bool:
        return self.tmux.panes()["tour"].dead

    def choose(self, option: str) -> None:
        """Moves down until this option of a dialog is the marked one, and takes it: the first may end the program."""
        marked = re.compile(rf"^\W*[❯›●] (?:\d\. )?{re.escape(option)}", re.MULTILINE)
        for _ in range(MOST_OPTIONS):
            if marked.search(self.text()):
                break
            self.press("Down")
        else:
            raise LookupError(f"{option!r} cannot be chosen:\n{self.text()}")
        self.press("Enter")

    def text(self) -> str:
        return self.tmux.run("capture-pane", "-p", "-t", self.id).text

    def wait(self, holds: Callable[[], bool], what: str) -> None:
        until = time.monotonic() + PATIENCE_SECS
        while not holds():
            if time.monotonic() > until:
                raise TimeoutError(f"{what}:\n{self.text()}")
            time.sleep(LOOK_EVERY_SECS)

    def wait_for(self, *words: str) -> None:
        self.wait(lambda: any(word in self.text() for word in words), f"no {words}")
        time.sleep(SETTLED_SECS)

    def wait_for_prompt(self) -> None:
        self.wait(lambda: self.machine.agent.composer.search(self.text()) is not None, "no prompt")
        time.sleep(SETTLED_SECS + 1)

    # --- the model --------------------------------------------------------------------------------

    def say(self, text: str, *script: Step) -> None:
        """Submits a prompt and waits until the model has it."""
        self.machine.models.answer_with(list(script))
        before = len(self.machine.models.requests)
        self.type(text)
        self.press("Enter")
        self.wait(lambda: self.asked(before) > 0, "the model was not asked")

    def asked(self, before: int) -> int:
        return sum(1 for request in self.machine.models.requests[before:] if not request.auxiliary)

    def wait_until_quiet(self, secs: float) -> None:
        """Until the CLI has asked the model for nothing in so many seconds: then it has given up."""
        asked, since = -1, time.monotonic()
        while time.monotonic() - since < secs:
            now = len(self.machine.models.requests)
            asked, since = (now, time.monotonic()) if now != asked else (asked, since)
            time.sleep(LOOK_EVERY_SECS)

    def wait_until_still(self, secs: float = 4.0) -> None:
        """Until the screen has not changed for so long: a dialog waits, where work has a spinner that turns."""
        shown, since, until = "", time.monotonic(), time.monotonic() + STILL_AT_LAST_SECS
        while time.monotonic() - since < secs and time.monotonic() < until:
            now = self.text()
            shown, since = (now, time.monotonic()) if now != shown else (shown, since)
            time.sleep(LOOK_EVERY_SECS)

    # --- frames -----------------------------------------------------------------------------------

    def frame(self, label: str, scenario: str, detail: str | None = None, alt: str | None = None) -> None:
        scenario = f"{scenario}{self.mark}"
        number = self.frames[scenario] = self.frames.get(scenario, 0) + 1
        name = f"{scenario}-{self.size[0]}x{self.size[1]}-{number}.txt"
        known = {"label": label, "detail": detail, "alt_label": alt}
        shown_as = {str(self.repository.parent): "~", str(self.machine.home): "~"}
        keep_frame(self.tmux, self.id, self.into / self.name / label / name, known, shown_as)

    def frames_over(self, secs: Sequence[float], label: str, scenario: str, detail: str | None = None) -> None:
        for pause in secs:
            time.sleep(pause)
            self.frame(label, scenario, detail)


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be recorded, and where it goes."""

    size: tuple[int, int]
    wanted: str
    colours: str
    mark: str
    programs: Path | None
    into: Path


def record(agent: RealAgent, order: Order) -> None:
    """Every tour of this CLI whose name has the wanted word in it, each on a machine of its own."""
    from testing.other_tours import OTHER_TOURS
    from testing.screen_tours import tours_of

    for name, tour in (OTHER_TOURS.get(agent.name) or tours_of(agent.name)).items():
        if order.wanted not in name:
            continue
        began = time.monotonic()
        try:
            _on_a_new_machine(agent, order, tour)
            said = "done"
        except Exception:
            said = traceback.format_exc()
        size = f"{order.size[0]}x{order.size[1]}"
        sys.stderr.write(f"{agent.name} {size} {name}: {said} ({time.monotonic() - began:.0f} s)\n")


def _on_a_new_machine(agent: RealAgent, order: Order, tour: Callable[[Tour], None]) -> None:
    with TemporaryDirectory(prefix="llmc-", ignore_cleanup_errors=True) as directory:
        home = Path(directory) / "home"
        with own_environment(home), machine_for(agent, order.programs) as machine:
            repository = make_repository(Path(directory) / "demo")
            tmux = Tmux(machine.host, "llmc-tour")
            settings = Path(directory) / "tmux.conf"
            settings.write_text(configuration(*order.size))
            tmux.start(str(settings))
            tour(Tour(machine, tmux, repository, order.size, order.into, {"COLORTERM": order.colours}, order.mark))


def _directory(name: str) -> Path:
    """As a terminal in another directory finds it."""
    return Path(name).resolve(strict=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("clis", nargs="*", default=[agent.name for agent in EVERY_AGENT])
    parser.add_argument("--size", action="append", help="width and height (default: 100x30 and 60x20)")
    parser.add_argument("--tour", default="", help="only tours with this in their name")
    parser.add_argument("--colours", default="truecolor", help="what the terminal says of its colours (COLORTERM)")
    parser.add_argument("--mark", default="", help="at the end of every scenario's name, such as -v325 for a version")
    parser.add_argument("--programs", type=_directory, help="where another version of the CLI is")
    parser.add_argument("--into", type=Path, default=SCREENS)
    args = parser.parse_args()
    for size in args.size or ["100x30", "60x20"]:
        width, height = map(int, size.split("x"))
        for agent in EVERY_AGENT:
            if agent.name in args.clis:
                order = Order((width, height), args.tour, args.colours, args.mark, args.programs, args.into)
                record(agent, order)


if __name__ == "__main__":
    main()
