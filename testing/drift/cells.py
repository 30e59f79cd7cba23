"""What is tried on each version: the cells of the matrix, with the real `llmc` and the real CLI."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from testing.models.conversation import Speaker
from testing.models.face import Request
from testing.models.steps import Ask, Commit, Run, Text
from testing.real_agents import AgentRoot, machine_for, make_empty_root
from testing.real_clis import AGENTS, RealAgent
from testing.roots import own_environment
from testing.tour_steps import INTERRUPT, SLOW

PATIENCE_SECS = 90.0
LOOK_EVERY_SECS = 0.3
CHOSEN, OTHER = "Reuse what is there", "Write a new one"


class CellError(Exception):
    """What did not happen, for people who read the table."""


@dataclass(frozen=True, slots=True)
class Cell:
    name: str
    skip_permissions: bool
    tried: Callable[[AgentRoot], None]


# --- the cells ------------------------------------------------------------------------------------


def start(root: AgentRoot) -> None:
    """Also what comes before every other cell."""
    _becomes(root, "idle")
    _attention(root, "READY", "its prompt is not open")


def task(root: AgentRoot) -> None:
    root.models.answer_with([Commit("feature.txt"), Text("Done.")])
    _done(root, "start", "--worker", "w", "--prompt", "Add the feature.")
    _becomes(root, "needs_review")
    _done(root, "accept", "w")
    if "feature.txt" not in _git(root, "show", "--stat", "main"):
        raise CellError("the accepted commit does not have the file")


def interrupt(root: AgentRoot) -> None:
    asked = len(root.models.prompts())
    root.models.answer_with([SLOW])
    _done(root, "start", "--worker", "w", "--prompt", "Walk me through the parser.")
    _wait(lambda: len(root.models.prompts()) > asked, "the model was not asked")
    _wait(lambda: root.reading().state == "BUSY", "the screen never showed that it works")
    if root.llmc("interrupt", "--help").ok:
        _done(root, "interrupt", "w")
    else:
        for key in INTERRUPT[root.machine.agent.name]:
            root.tmux.press(root.pane().id, key)
            time.sleep(LOOK_EVERY_SECS)
    _becomes(root, "needs_input")
    told = json.dumps(root.status())
    if "interrupted" not in told:
        raise CellError("the status does not say that it was interrupted")


def leave(root: AgentRoot) -> None:
    pid = root.pane().pid
    _done(root, "down")
    _wait(lambda: not root.machine.host.run(["kill", "-0", str(pid)]).ok, "the CLI still runs")


def permission(root: AgentRoot) -> None:
    root.models.answer_with([Run("touch allowed", outside_sandbox=True), Text("Done.")])
    _tell(root, "Make the file.")
    _asks(root)
    _done(root, "answer", "w", "yes")
    _wait((root.worktree / "allowed").exists, "the command did not run after the answer")
    _attention(root, "READY", "the turn does not end after the answer")


def question(root: AgentRoot) -> None:
    if root.machine.agent.name == "codex":
        _plan_mode(root)  # nothing else asks
    root.models.answer_with([Ask(options=(CHOSEN, OTHER)), Text("Done.")])
    _tell(root, "Ask me how.")
    _asks(root)
    before = len(_work(root))
    _done(root, "answer", "w", "1")
    _wait(lambda: _work(root)[before:], "the model did not get an answer")
    heard = json.dumps(_work(root)[-1].body)
    if heard.count(CHOSEN) <= heard.count(OTHER):  # both are in the question; the answer is one more
        raise CellError("the model got another answer")


def _plan_mode(root: AgentRoot) -> None:
    """Codex does not take the key right after its start."""
    for _ in range(5):
        root.tmux.press(root.pane().id, "BTab")
        time.sleep(1.5)
        if "Plan mode" in root.tmux.capture(root.pane().id):
            return


CELLS: Mapping[str, Cell] = {
    cell.name: cell
    for cell in (
        Cell("start", True, start),
        Cell("task", True, task),
        Cell("interrupt", True, interrupt),
        Cell("exit", True, leave),
        Cell("permission", False, permission),
        Cell("question", False, question),
    )
}
"""In the order in which they can be tried on one worker, where nothing fails."""


def try_cells(cli: str, programs: Path, names: list[str]) -> Iterator[tuple[str, str]]:
    """Each cell with why it does not work, or an empty text. After a failure the next one gets a new machine."""
    agent = next(agent for agent in AGENTS if agent.name == cli)
    for skips in (True, False):
        left = [cell for cell in CELLS.values() if cell.name in names and cell.skip_permissions is skips]
        while left:
            yield from _on_one_machine(agent, programs, left)


def _on_one_machine(agent: RealAgent, programs: Path, left: list[Cell]) -> Iterator[tuple[str, str]]:
    """Takes the cells that were tried from the list."""
    try:
        with _worker(agent, programs, skip_permissions=left[0].skip_permissions) as root:
            while left:
                cell = left.pop(0)
                why = _why_not(cell, root)
                yield cell.name, why
                if why:
                    return
    except CellError as failed:
        while left:
            yield left.pop(0).name, f"does not start: {failed}"


def _why_not(cell: Cell, root: AgentRoot) -> str:
    try:
        cell.tried(root)
    except (CellError, AssertionError, LookupError) as failed:
        return _one_line(str(failed), root)
    return ""


@contextmanager
def _worker(agent: RealAgent, programs: Path, *, skip_permissions: bool) -> Iterator[AgentRoot]:
    """A root with one worker that is up, in a home where its user has logged in and answered nothing else."""
    with (
        TemporaryDirectory(prefix="llmc-drift-", ignore_cleanup_errors=True) as directory,
        own_environment(Path(directory) / "home"),
        machine_for(agent, programs) as machine,
    ):
        root = make_empty_root(machine, Path(directory))
        if not skip_permissions:
            for name, value in {"skip_permissions": "false", "allowed_tools": "[]"}.items():
                _done(root, "config", "set", f"defaults.{name}", value)
        _done(root, "add", "w", "--agent", agent.name)
        _done(root, "up", "--detach")
        try:
            start(root)
            yield root
        finally:
            root.llmc("down", "--force")


# --- looking --------------------------------------------------------------------------------------


def _done(root: AgentRoot, *words: str) -> str:
    answer = root.llmc(*words)
    if not answer.ok:
        raise CellError(_one_line(f"`llmc {words[0]}` ended with {answer.code}: {answer.complaint}", root))
    return answer.text


def _tell(root: AgentRoot, text: str) -> None:
    receipt = root.message(text)
    if receipt["outcome"] not in ("delivered", "queued"):
        raise CellError(f"the message is {receipt['outcome']}: {receipt.get('reason', '')}")


def _becomes(root: AgentRoot, status: str) -> None:
    _wait(lambda: root.status()["status"] == status, lambda: f"it does not become {status} but is {_told(root)}")


def _asks(root: AgentRoot) -> None:
    _attention(root, "NEEDS_CONFIRMATION", lambda: _no_dialog(root))


def _no_dialog(root: AgentRoot) -> str:
    """A version that does not know the rig's model offers it other tools, and refuses the scripted call by itself."""
    answered = any(turn.speaker is Speaker.TOOL for turn in _work(root)[-1].turns)
    return "the scripted call came back without a dialog" if answered else "the dialog is not recognised"


def _attention(root: AgentRoot, state: str, otherwise: str | Callable[[], str]) -> None:
    def told() -> str:
        return f"{otherwise() if callable(otherwise) else otherwise}: {_told(root)}"

    _wait(lambda: root.status()["attention"]["state"] == state, told)


def _work(root: AgentRoot) -> list[Request]:
    """What the model was asked, without what the CLI asks for itself."""
    return [request for request in root.models.requests if not request.auxiliary]


def _told(root: AgentRoot) -> str:
    worker = root.status()
    return f"{worker['status']}, its screen {root.reading().state} by {root.reading().cue or 'nothing'}"


def _wait(holds: Callable[[], object], what: str | Callable[[], str]) -> None:
    until = time.monotonic() + PATIENCE_SECS
    while not holds():
        if time.monotonic() > until:
            raise CellError(what if isinstance(what, str) else what())
        time.sleep(LOOK_EVERY_SECS)


def _git(root: AgentRoot, *words: str) -> str:
    asked = subprocess.run(["git", "-C", root.source, *words], check=True, capture_output=True, text=True)
    return asked.stdout


LONGEST_REASON = 160


def _one_line(text: str, root: AgentRoot) -> str:
    return " ".join(text.replace(str(root.root.parent), "~").split())[:LONGEST_REASON]
