"""Trying an agent CLI for real, in a directory and on a tmux server that exist for nothing else.

It is started, spoken to and ended by the very code that workers use, with the person's own login.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType

from llmc.agents.base import Agent, program_of
from llmc.agents.registry import agent_named
from llmc.config.sections import WorkerOptions
from llmc.config.settings import Config
from llmc.core.lifecycle import events as ev
from llmc.core.lifecycle.effects import Deliver, Purpose, StartSession, to_step
from llmc.core.lifecycle.policy import Policy
from llmc.core.program import InstalledProgram
from llmc.core.screen.classify import Pack
from llmc.errors import LlmcError
from llmc.git.runner import LLMC_IDENTITY, Git
from llmc.host.base import Host
from llmc.model import Outcome, Receipt, State, Worker
from llmc.perform import delivery, sessions
from llmc.perform.programs import ask_program, installed_program
from llmc.perform.unread_reports import spooled_reports
from llmc.root import Root
from llmc.site import Site
from llmc.store.event_log import EventLog
from llmc.store.ledger import Ledger
from llmc.store.spool import marks
from llmc.store.state_file import StateFile
from llmc.store.tasks import TaskStore
from llmc.store.worker_log import WorkerLog
from llmc.tmux.server import Tmux
from llmc.values import Value

PROMPT = "This is a test of the connection. Reply with the single word: ready. Use no tools and change no files."
NAME = "canary"
SELF_SECS = 30.0
"""For what it says of itself."""
ANSWER_SECS = 180.0
LOOK_EVERY_SECS = 0.1


class TrialVerdict(StrEnum):
    OK = "ok"
    DRIFTED = "drifted"
    """The CLI is another one than LLMC knows."""
    FAILED = "failed"
    """It does not work here, whatever LLMC knows: not logged in, no network."""
    UNKNOWN = "unknown"


class Check(Value):
    name: str
    verdict: TrialVerdict
    words: str


class Trial(Value):
    """One CLI."""

    agent: str
    program: str
    installed: bool
    version: str = ""
    pack: str = ""
    checks: tuple[Check, ...] = ()

    @property
    def ok(self) -> bool:
        return self.installed and all(check.verdict in (TrialVerdict.OK, TrialVerdict.UNKNOWN) for check in self.checks)

    @property
    def drifted(self) -> tuple[str, ...]:
        return tuple(check.name for check in self.checks if check.verdict is TrialVerdict.DRIFTED)


# --- look -----------------------------------------------------------------------------------------


def try_agent(host: Host, name: str, config: Config, packs: str) -> Trial:
    agent = agent_named(name, config, packs)
    program = program_of(agent)
    if host.which(program) is None:
        return Trial(name, program, installed=False)
    checks, version = [], ""
    try:
        with _place(host, _only(name, config), packs) as site:
            said = _ask(site, agent, program)
            version = said.version
            checks = [check_version(version, agent.pack)]
            checks += _tried(site, name, agent, said)
    except LlmcError as failure:
        checks.append(Check("start", TrialVerdict.FAILED, failure.what))
    return Trial(name, program, True, version, agent.pack.label, tuple(checks))


def _only(name: str, config: Config) -> Config:
    """Settings with one worker, who has this agent: the default model, for one, is another agent's."""
    return replace(config, workers=MappingProxyType({NAME: WorkerOptions(agent=name)}))


def _ask(site: Site, agent: Agent, program: str) -> InstalledProgram:
    if agent.asked_for_help:
        return installed_program(site.host, site.root, agent, SELF_SECS)
    return ask_program(site.host, program, (), SELF_SECS)


@contextmanager
def _place(host: Host, config: Config, packs: str) -> Iterator[Site]:
    """A root of its own with a little repository; everything in it ends with it."""
    with tempfile.TemporaryDirectory(prefix="llmc-canary-", ignore_cleanup_errors=True) as directory:
        root = Root(directory)
        git, tmux = Git(host), Tmux(host, root.tmux_socket, root.tmux_turns)
        worktree = root.worktree(NAME)
        for path in (worktree, root.inside("run", "locks"), root.logs):
            Path(path).mkdir(mode=0o700, parents=True)
        Path(root.packs).symlink_to(packs)
        git.run(worktree, "init", "--quiet")
        git.run(worktree, "commit", "--quiet", "--allow-empty", "-m", "first", env=LLMC_IDENTITY)
        ledger = Ledger(
            StateFile(root.path),
            EventLog(root.event_log),
            WorkerLog(root.logs),
            lambda _: Policy(),
            TaskStore(root.tasks, root.tasks_mark),
        )
        site = Site(root, config, host, git, tmux, ledger)
        try:
            yield site
        finally:
            tmux.stop()
            sessions.end_strays(site)
            ledger.events.close()


def _tried(site: Site, name: str, agent: Agent, program: InstalledProgram) -> Iterator[Check]:
    worker = _employ(site, name)
    if agent.asked_for_help:
        yield _options(program, sessions.left_out(site, worker, program))
    step = to_step(StartSession(), "canary-1")
    started = sessions.start(site, worker, step)
    if not isinstance(started, ev.SessionReady):
        yield _not_started(started)
        return
    yield Check("prompt", TrialVerdict.OK, "its prompt was found")
    before = marks(site.root.spool(worker.name))
    _, receipt = delivery.deliver(site, site.worker(NAME), worker.pending[0], PROMPT)
    yield _delivery(receipt)
    if receipt.outcome in (Outcome.DELIVERED, Outcome.QUEUED):
        yield _answer(site, agent, before)
    if agent.reports_events:
        yield _events(site)


def _employ(site: Site, name: str) -> Worker:
    now = site.now()
    step = to_step(Deliver(PROMPT, Purpose.TASK), "canary-2")
    worker = Worker(NAME, site.root.worktree(NAME), "main", f"llmc-{NAME}", name, now, now, pending=(step,))
    site.ledger.state.create(State(MappingProxyType({NAME: worker})))
    return worker


# --- judgement ------------------------------------------------------------------------------------


def check_version(said: str, pack: Pack) -> Check:
    if not said:
        return Check("version", TrialVerdict.UNKNOWN, "it does not tell its version")
    if not pack.version:
        return Check("version", TrialVerdict.UNKNOWN, f"{said}; its pack names no version")
    if pack.covers(said):
        return Check("version", TrialVerdict.OK, f"{said}, and the pack is for {pack.version}")
    return Check("version", TrialVerdict.DRIFTED, f"it is {said}, but the pack is for {pack.version}")


def _options(program: InstalledProgram, left_out: tuple[str, ...]) -> Check:
    if not program.options:
        return Check("options", TrialVerdict.UNKNOWN, "it did not tell which options it knows")
    if left_out:
        return Check("options", TrialVerdict.UNKNOWN, f"it is started without {'; '.join(left_out)}")
    return Check("options", TrialVerdict.OK, "it knows all that it is started with")


def _not_started(result: ev.StepResult) -> Check:
    if isinstance(result, ev.StartWaits):
        return Check("prompt", TrialVerdict.FAILED, result.advice or f"it asks at its start: {result.asked}")
    reason = result.reason if isinstance(result, ev.SessionFailed) else "it did not start"
    words = f"{reason} ({result.last_words})" if isinstance(result, ev.SessionFailed) and result.last_words else reason
    # It runs, and shows nothing that its pack knows.
    drifted = "was not ready within" in reason
    return Check("prompt", TrialVerdict.DRIFTED if drifted else TrialVerdict.FAILED, words)


def _events(site: Site) -> Check:
    kinds = dict.fromkeys(report.kind for report in spooled_reports(site, site.worker(NAME)))
    if not kinds:
        return Check("events", TrialVerdict.DRIFTED, "it has reported nothing: its hooks did not run")
    return Check("events", TrialVerdict.OK, f"it reported {', '.join(kinds)}")


def _delivery(receipt: Receipt) -> Check:
    if receipt.outcome in (Outcome.DELIVERED, Outcome.QUEUED):
        return Check("delivery", TrialVerdict.OK, f"{receipt.outcome.value}, proof: {receipt.proof.value}")
    why = receipt.reason or "nothing proves that the prompt arrived"
    return Check("delivery", TrialVerdict.DRIFTED, f"{receipt.outcome.value}: {why}")


def _answer(site: Site, agent: Agent, before: frozenset[str]) -> Check:
    if not agent.reports_events:
        return Check("answer", TrialVerdict.UNKNOWN, "it does not report the end of a turn")
    until = time.monotonic() + ANSWER_SECS
    while time.monotonic() < until:
        for report in spooled_reports(site, site.worker(NAME), besides=before):
            if report.kind == "failure":
                return Check("answer", TrialVerdict.FAILED, f"its turn failed ({report.failure}): {report.text}")
            if report.kind == "turn_end":
                return Check("answer", TrialVerdict.OK, "it answered")
        time.sleep(LOOK_EVERY_SECS)
    return Check("answer", TrialVerdict.FAILED, f"no answer within {ANSWER_SECS:.0f} seconds: is it logged in?")
