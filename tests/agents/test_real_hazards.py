"""Texts for the real CLIs when something is in the way: the model gets each of them whole and once, or is not said to.

One running agent goes through all of it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from llmc.root import Root
from llmc.store.state_file import StateFile
from llmc.tmux.server import NESTING
from testing.models.steps import Hang, Run, Text
from testing.real_agents import EACH_AGENT, AgentRoot, installed, machine_for, make_empty_root
from testing.roots import own_environment
from testing.waiting import wait_until

LINES = "\n".join(f"line {n}: the quick brown fox jumps over the lazy dog" for n in range(90))
ONE_LINE = "{}: please look at the parser, which is a sentence that is wider than eighty columns of a terminal are."
MANY_LINES = "{}, 5 KB:\n" + LINES
DRAFT = "half a dra"
CLEAR_LINE = "\x15"
ESCAPE = "\x1b"
LOOK_BACK = b"\x02[\x1b[5~"
"""tmux's prefix, its key for copy mode, and a page up."""
BUSY_LOOP = [sys.executable, "-c", "while True: pass"]
ARRIVED = ("delivered", "queued")
PATIENCE_SECS = 120
SOME_WORDS = "I read the code first, because every caller goes through it. Then I looked at the tests, and at the docs."
"""Not the same word again and again: Gemini CLI stops what it takes for a loop."""

pytestmark = [pytest.mark.hazard, pytest.mark.timeout(300)]


@pytest.fixture(scope="module", params=EACH_AGENT)
def running(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AgentRoot]:
    """A daemon, and a worker that was given a task while its agent was starting."""
    agent, where = installed(request.param), tmp_path_factory.mktemp("hazards")
    with own_environment(where / "home"), machine_for(agent) as machine:
        root = make_empty_root(machine, where)
        root.done("up", "--detach")
        root.done("add", "w", "--agent", agent.name)
        yield root
        root.done("down", "--force")


@pytest.fixture
def root(running: AgentRoot) -> AgentRoot:
    """The worker is up, with nothing to do."""
    running.models.answer_with([Text("Read.")])
    if running.status()["session"] != "up":
        running.done("restart", "w")
    wait_until(lambda: _at_rest(running), timeout=PATIENCE_SECS)
    return running


@pytest.fixture
def small_root(running: AgentRoot) -> AgentRoot:
    """The same on a terminal of 80x24, and the agent asks before it acts."""
    if running.pane().width != 80:
        settings = {"skip_permissions": "false", "allowed_tools": "[]", "terminal_width": "80", "terminal_height": "24"}
        for name, value in settings.items():
            running.done("config", "set", f"defaults.{name}", value)
        running.done("restart", "w")
    running.models.answer_with([Text("Read.")])
    wait_until(lambda: _at_rest(running), timeout=PATIENCE_SECS)
    return running


def _at_rest(root: AgentRoot) -> bool:
    reading = root.reading()
    return root.status()["session"] == "up" and reading.state == "READY" and reading.composer == ""


def _arrives(root: AgentRoot, receipt: dict[str, Any], text: str) -> None:
    assert receipt["outcome"] in ARRIVED, receipt
    wait_until(lambda: root.times_got(text) == 1, timeout=PATIENCE_SECS)


@pytest.mark.lesson(12, "the first text waits for the agent's own start")
def test_a_task_for_an_agent_that_is_still_starting_is_refused_or_waits(running: AgentRoot) -> None:
    running.models.answer_with([Text("Read.")])
    answer = running.llmc("start", "--worker", "w", "--prompt", "The very first task.", "--json")
    if answer.ok:
        wait_until(lambda: len(running.models.prompts()) == 1, timeout=PATIENCE_SECS)
    else:
        assert "not running" in answer.complaint or "is locked by" in answer.complaint
        assert running.models.prompts() == []
        wait_until(lambda: running.status()["session"] == "up", timeout=PATIENCE_SECS)
        running.done("start", "--worker", "w", "--prompt", "The very first task.")
        wait_until(lambda: len(running.models.prompts()) == 1, timeout=PATIENCE_SECS)
    assert "The task:\n\nThe very first task." in running.models.prompts()[0]


def test_on_a_machine_that_is_busy_with_other_things(root: AgentRoot) -> None:
    with ExitStack() as stack:
        for _ in range(2 * (os.cpu_count() or 1)):
            stack.enter_context(_busy_loop())
        for text in (ONE_LINE.format("Under load"), MANY_LINES.format("Under load")):
            _arrives(root, root.message(text), text)


@contextmanager
def _busy_loop() -> Iterator[None]:
    with subprocess.Popen(BUSY_LOOP) as loop:
        try:
            yield
        finally:
            loop.kill()


@pytest.mark.lesson(5, "each paste has a buffer of its own, and tmux makes the brackets")
@pytest.mark.lesson(9, "one sender at a time for a terminal, across processes")
def test_two_senders_at_once(root: AgentRoot) -> None:
    texts = [MANY_LINES.format("The first sender"), MANY_LINES.format("The second sender")]
    with ThreadPoolExecutor() as pool:
        receipts = list(pool.map(root.message, texts))
    for receipt, text in zip(receipts, texts, strict=True):
        _arrives(root, receipt, text)


@pytest.mark.lesson(3, "who was busy before proves nothing by being busy after")
def test_an_agent_that_is_busy_gets_it_once(root: AgentRoot) -> None:
    root.models.answer_with(lambda prompt: [Text(SOME_WORDS, 4.0 if "slowly" in prompt else 0.0)])
    slow, meanwhile = ONE_LINE.format("Answer slowly"), ONE_LINE.format("Meanwhile")
    _arrives(root, root.message(slow), slow)
    wait_until(lambda: root.status()["turn"] == "open", timeout=PATIENCE_SECS)
    _arrives(root, root.message(meanwhile), meanwhile)
    wait_until(lambda: _at_rest(root), timeout=PATIENCE_SECS)
    assert (root.times_got(slow), root.times_got(meanwhile)) == (1, 1)


@pytest.mark.lesson(11, "copy mode is left first, and a dialog gets neither text nor Enter")
def test_somebody_looks_back_in_the_terminal(root: AgentRoot) -> None:
    own_size = (root.pane().width, root.pane().height)
    with root.person() as person:
        wait_until(lambda: (root.pane().width, root.pane().height) == (80, 23))
        person.types(LOOK_BACK)
        wait_until(lambda: root.pane().in_mode)
        text = ONE_LINE.format("While you look back")
        _arrives(root, root.message(text), text)
        assert not root.pane().in_mode
        person.leaves()
    wait_until(lambda: (root.pane().width, root.pane().height) == own_size)


@pytest.mark.lesson(10, "a person's draft is waited for, never cleared or added to")
def test_the_draft_of_somebody_who_is_attached_is_theirs(root: AgentRoot) -> None:
    refused, through = ONE_LINE.format("Behind your draft"), ONE_LINE.format("After your draft")
    with root.person() as person:
        person.types(DRAFT)
        wait_until(lambda: root.reading().composer == DRAFT, timeout=PATIENCE_SECS)
        with _little_patience(root):
            receipt = root.message(refused, code=1)
        assert (receipt["outcome"], receipt["reason"]) == (
            "undelivered",
            "somebody's unsent draft is in its input line",
        )
        assert root.reading().composer == DRAFT
        person.types(CLEAR_LINE)
        wait_until(lambda: root.reading().composer == "", timeout=PATIENCE_SECS)
        _arrives(root, root.message(through), through)
    assert root.times_got(refused) == 0
    assert not any(DRAFT in prompt for prompt in root.models.prompts())


@contextmanager
def _little_patience(root: AgentRoot) -> Iterator[None]:
    """A text does not wait long for the input line."""
    usual = root.done("config", "get", "policy.input_wait_secs").strip()
    root.done("config", "set", "policy.input_wait_secs", "2")
    try:
        yield
    finally:
        root.done("config", "set", "policy.input_wait_secs", usual)


@pytest.mark.lesson(35, "the agent is the terminal's own process, and knows of no agent around it")
def test_what_it_tells_its_commands_of_itself_is_kept_from_other_agents(root: AgentRoot, tmp_path: Path) -> None:
    """Whoever starts LLMC from inside of an agent starts agents that know nothing of that one."""
    told = tmp_path / "variables"
    root.models.answer_with([Run(f"env -0 >{told}"), Text("Done.")])
    root.message("Tell me your variables.")
    wait_until(lambda: told.exists() and told.read_bytes().endswith(b"\0"), timeout=PATIENCE_SECS)
    own = root.machine.namespace.run(["cat", f"/proc/{root.pane().pid}/environ"], env=root.machine.env).text
    added = {entry.partition("=")[0] for entry in told.read_text().split("\0") if entry not in own.split("\0")}
    of_itself = {name for name in added if name.startswith(("CLAUDE", "CODEX", "GEMINI", "OPENCODE", "AGENT", "AI_"))}
    assert of_itself, "every one of them says something"
    assert of_itself - NESTING == set()


@pytest.mark.lesson(16, "interrupts and deaths that nobody reports are seen by process and screen")
def test_a_turn_that_a_person_interrupts_is_noticed(root: AgentRoot) -> None:
    """Not every CLI reports that; its screen tells."""
    settings = {"policy.autonomy": "assist", "policy.quiet_after_secs": "2", "defaults.patrol_interval_secs": "1"}
    for name, value in settings.items():
        root.done("config", "set", name, value)
    root.models.answer_with([Hang()])
    root.done("reset", "w", "--yes")
    root.done("start", "--worker", "w", "--prompt", "A task that is never answered.")
    with root.person() as person:
        wait_until(lambda: root.reading().state == "BUSY", timeout=PATIENCE_SECS)
        person.types(ESCAPE)
        if root.machine.agent.name == "opencode":  # it asks for the key once more
            wait_until(lambda: "again to interrupt" in root.done("peek", "w"), timeout=PATIENCE_SECS)
            person.types(ESCAPE)
        wait_until(lambda: root.reading().state == "READY", timeout=PATIENCE_SECS)
    wait_until(lambda: root.status()["work"] == "needs_input", timeout=PATIENCE_SECS)
    root.done("config", "set", "policy.autonomy", "manual")


def test_on_a_terminal_of_80_columns(small_root: AgentRoot) -> None:
    pane = small_root.pane()
    assert (pane.width, pane.height) == (80, 24)
    for text in (ONE_LINE.format("Small"), MANY_LINES.format("Small")):
        _arrives(small_root, small_root.message(text), text)


@pytest.mark.lesson(11, "copy mode is left first, and a dialog gets neither text nor Enter")
def test_an_open_dialog_gets_no_text_but_an_answer(small_root: AgentRoot) -> None:
    made = small_root.worktree / "made-with-permission"
    small_root.models.answer_with([Run(f"touch {made.name}", outside_sandbox=True), Text("Done.")])
    small_root.message("Make the file.")
    wait_until(lambda: small_root.reading().state == "NEEDS_CONFIRMATION", timeout=PATIENCE_SECS)
    text = ONE_LINE.format("In front of a dialog")
    receipt = small_root.message(text, code=1)
    assert receipt["outcome"] == "undelivered"
    assert "a dialog is open (permission)" in receipt["reason"]
    assert small_root.reading().state == "NEEDS_CONFIRMATION"
    assert not made.exists()
    small_root.done("answer", "w", "yes")
    wait_until(made.exists, timeout=PATIENCE_SECS)
    assert small_root.times_got(text) == 0


# --- the agent is killed on the way -----------------------------------------------------------------


def test_killed_before_the_text_was_typed(root: AgentRoot) -> None:
    text = ONE_LINE.format("Killed before")
    with root.person() as person, ThreadPoolExecutor() as pool:
        person.types(DRAFT)
        wait_until(lambda: root.reading().composer == DRAFT, timeout=PATIENCE_SECS)
        sent = pool.submit(root.message, text)
        wait_until(lambda: _somebody_sends(root))
        root.signal("KILL")
        assert sent.result()["outcome"] == "undelivered"
    _is_not_sent_again(root, text, at_most=0)


@pytest.mark.lesson(4, "what may have arrived is looked for and not sent again")
@pytest.mark.parametrize("moment", ["when it is typed", "when it is shown"])
def test_killed_on_the_way(root: AgentRoot, moment: str) -> None:
    text = MANY_LINES.format(f"Killed {moment}")
    reached = _is_being_typed if moment == "when it is typed" else _is_shown
    with ThreadPoolExecutor() as pool:
        sent = pool.submit(root.message, text)
        wait_until(lambda: reached(root) or sent.done(), timeout=PATIENCE_SECS)
        root.signal("KILL")
        receipt = sent.result()
    # What the agent itself says that it has taken, it may still not have asked its model.
    assert receipt["outcome"] in ("undelivered", "unknown") or receipt["proof"] == "hook", receipt
    _is_not_sent_again(root, text, at_most=1)


def _is_being_typed(root: AgentRoot) -> bool:
    worker = StateFile(str(root.root)).load().workers["w"]
    return any(step.begun for step in worker.pending)


def _is_shown(root: AgentRoot) -> bool:
    return root.reading().composer not in ("", None)


@pytest.mark.lesson(1, "a receipt says delivered, queued, undelivered or unknown, and never guesses success")
@pytest.mark.lesson(4, "what may have arrived is looked for and not sent again")
def test_killed_after_it_took_the_text_and_before_it_could_say_so(root: AgentRoot) -> None:
    text = ONE_LINE.format("Killed after")
    root.models.answer_with([Hang()])
    spool = Path(Root(str(root.root)).spool("w"))
    spool.rename(spool.with_name("away"))
    with ThreadPoolExecutor() as pool:
        sent = pool.submit(root.message, text, code=4)
        wait_until(lambda: root.times_got(text) == 1 or sent.done(), timeout=PATIENCE_SECS)
        root.signal("KILL")
        assert sent.result()["outcome"] == "unknown"
    spool.with_name("away").rename(spool)
    _is_not_sent_again(root, text, at_most=1)


def _somebody_sends(root: AgentRoot) -> bool:
    """The pane's lock is there while somebody types, or waits until they can."""
    held = subprocess.run(["flock", "--nonblock", Root(str(root.root)).pane_lock("w"), "true"], check=False)
    return held.returncode != 0


def _is_not_sent_again(root: AgentRoot, text: str, *, at_most: int) -> None:
    """After the agent has come back; the next text gets there at once."""
    root.models.answer_with([Text("Read.")])
    wait_until(lambda: root.status()["session"] == "crashed", timeout=PATIENCE_SECS)
    root.done("restart", "w")
    after = f"{text} And then?"
    _arrives(root, root.message(after), after)
    assert root.times_got(text) <= at_most
