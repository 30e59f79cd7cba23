"""Bringing agents up and down."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path

from llmc.agents.base import Agent, Launch, LaunchOrder
from llmc.core import events as ev
from llmc.core.classify import Cue, Screen, read_screen
from llmc.host.marks import marked_processes
from llmc.host.processes import descendants, end_all, end_tree, family, is_running, wait_for_end
from llmc.model import Step, Worker
from llmc.perform.going_on import going_on_text
from llmc.perform.worktrees import restore_worktree
from llmc.site import Site
from llmc.store.lock import is_held
from llmc.store.spool import peek
from llmc.tmux.configuration import configuration
from llmc.tmux.parsing import Pane, last_words

LOOK_EVERY_SECS = 0.05
EVENTS_WITHIN_SECS = 3.0
"""How long an agent that has drawn its prompt may take until its first report."""
LEAVE_WITHIN_SECS = 3.0
SCROLLBACK = 50
DIALOG_AGAIN_SECS = 3.0
STRAY_ROUNDS = 3
"""What is ended may have started another program in its last moment."""


class LeftToTheNextError(Exception):
    """Nothing has failed: the step stays pending, and whoever acts for the worker next goes on with it."""


def start(site: Site, worker: Worker, step: Step) -> ev.StepResult:
    """With the conversation from before where there is one, and without it when that one cannot be taken up."""
    agent = site.agent_of(worker)
    if _live_pane(site, worker) is not None:
        return ev.SessionReady(site.now(), step.id, worker.reports_events)  # we were here before a crash
    result = None
    if worker.conversation and agent.resumes:
        result = _start(site, worker, step, agent, worker.conversation)
    if not isinstance(result, ev.SessionReady):
        result = _start(site, worker, step, agent, "")
    return result


def _start(site: Site, worker: Worker, step: Step, agent: Agent, resume: str) -> ev.StepResult:
    launch = agent.launch(_order(site, worker, resume))
    if site.host.which(launch.argv[0]) is None:
        again = f"`llmc nuke {worker.name}`, then `llmc add {worker.name} --agent ...`"
        hint = f"install it, or choose another agent for {worker.name}: {again}"
        return ev.SessionFailed(site.now(), step.id, f"{launch.argv[0]} is not installed; {hint}", hopeless=True)
    if not site.host.is_dir(worker.worktree_path):
        restore_worktree(site, worker)
    began = site.now()
    pane = _launch(site, worker, launch)
    # A conversation from before is shown with the failure that it ended in, or with half a turn that looks like one.
    states = frozenset({"READY", "ERROR"} if resume else {"READY"})
    result = _wait_until_ready(site, worker, step, agent, pane, began, states)
    if not isinstance(result, ev.SessionReady):
        return result
    return replace(result, resumed=bool(resume), go_on=going_on_text(site, worker, resumed=bool(resume)))


def _live_pane(site: Site, worker: Worker) -> Pane | None:
    pane = site.tmux.panes().get(worker.session_id)
    if pane is None:
        return None
    if not pane.dead:
        return pane
    site.tmux.kill_session(worker.session_id)
    return None


def _order(site: Site, worker: Worker, resume: str) -> LaunchOrder:
    settings = site.config.worker(worker.name)
    return LaunchOrder(
        worker.name,
        worker.worktree_path,
        site.root.path,
        site.host.environ().get("HOME", ""),
        site.root.settings_dir(worker.name),
        settings.model,
        settings.role_prompt,
        settings.skip_permissions,
        settings.allowed_tools,
        resume,
    )


def _launch(site: Site, worker: Worker, launch: Launch) -> Pane:
    for directory in (site.root.settings_dir(worker.name), site.root.spool(worker.name)):
        site.host.make_dir(directory)
    for path, content in launch.files.items():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(content, encoding="utf-8")
    for path, target in launch.links.items():
        if not os.path.lexists(path):
            os.symlink(target, path)
    defaults = site.config.defaults
    size = (defaults.terminal_width, defaults.terminal_height)
    Path(site.root.tmux_configuration).write_text(configuration(*size))
    site.tmux.start(site.root.tmux_configuration)
    env = {
        "LLMC_WORKER": worker.name,
        "LLMC_ROOT": site.root.path,
        "LLMC_SPOOL": site.root.spool(worker.name),
        **launch.env,
    }
    return site.tmux.new_session(worker.session_id, worker.worktree_path, launch.argv, env, size)


def _wait_until_ready(
    site: Site, worker: Worker, step: Step, agent: Agent, pane: Pane, began: float, states: frozenset[str]
) -> ev.StepResult:
    """Passes the dialogs of the start; waits for the prompt, and for the first report where one is due."""
    until = time.monotonic() + agent.ready_timeout_secs
    drawn_at: float | None = None
    passed: dict[str, float] = {}
    while time.monotonic() < until:
        if site.leaving.is_set():
            raise LeftToTheNextError
        facts, screen = site.tmux.look(pane.id)
        if facts.dead:
            return _ended_at_once(site, step, facts)
        reading = read_screen(agent.pack, Screen(screen, facts.title))
        if reading.matched is not None and reading.matched.advice:
            site.tmux.kill_session(worker.session_id)
            return ev.SessionFailed(site.now(), step.id, reading.matched.advice, last_words(screen), hopeless=True)
        if reading.state == "NEEDS_CONFIRMATION" and reading.matched is not None:
            _pass_dialog(site, pane, reading.matched, passed)
        # It may draw its input line, and report, long before it reads what is typed there.
        reads = not site.host.has_unread_input(facts.tty)
        reported = agent.reports_events and _reported_start(site, worker, agent, began)
        drawn = reading.state in states and reading.composer == ""
        ready = reads and (drawn or (reported and agent.screen_unknown and reading.state != "NEEDS_CONFIRMATION"))
        drawn_at = (drawn_at or time.monotonic()) if ready else None
        if drawn_at is not None:
            patience = EVENTS_WITHIN_SECS if agent.reports_start else agent.steady_secs
            if (drawn and reported) or time.monotonic() - drawn_at >= patience:
                return ev.SessionReady(site.now(), step.id, reported)
        time.sleep(LOOK_EVERY_SECS)
    words = last_words(site.tmux.capture(pane.id))
    site.tmux.kill_session(worker.session_id)
    return ev.SessionFailed(site.now(), step.id, f"it was not ready within {agent.ready_timeout_secs:.0f} s", words)


def _pass_dialog(site: Site, pane: Pane, dialog: Cue, passed: dict[str, float]) -> None:
    """Presses the keys once, and again only when the dialog is still there a good while later."""
    now = time.monotonic()
    if dialog.pass_keys and now - passed.get(dialog.name, 0.0) >= DIALOG_AGAIN_SECS:
        passed[dialog.name] = now
        for key in dialog.pass_keys:
            site.tmux.press(pane.id, key)
            time.sleep(LOOK_EVERY_SECS)


def _reported_start(site: Site, worker: Worker, agent: Agent, began: float) -> bool:
    found = (agent.translate(data) for data, _ in peek(site.root.spool(worker.name), since_unix=began - 1))
    return any(report is not None and report.kind == "session_start" for report in found)


def _ended_at_once(site: Site, step: Step, pane: Pane) -> ev.StepResult:
    # tmux scrolls what was said out of sight to make room for "Pane is dead".
    words = last_words(site.tmux.capture(pane.id, history=SCROLLBACK))
    pane = site.panes().get(pane.session, pane)
    how = f"signal {pane.exit_signal}" if pane.exit_signal is not None else f"exit code {pane.exit_code}"
    site.tmux.kill_session(pane.session)
    return ev.SessionFailed(site.now(), step.id, f"it ended at once ({how})", words)


def stop(site: Site, worker: Worker, step: Step, *, force: bool) -> ev.StepResult:
    pane = site.tmux.panes().get(worker.session_id)
    if pane is not None:
        end_session(site, worker, pane, force=force)
    end_strays(site, worker.name)
    return ev.SessionStopped(site.now(), step.id)


def end_session(site: Site, worker: Worker, pane: Pane, *, force: bool) -> None:
    """Asks the agent to leave, then ends it with everything that it started."""
    tree = [pane.pid, *descendants(pane.pid)] if not pane.dead else []
    if tree and not force:
        for key in site.agent_of(worker).exit_keys:
            site.tmux.press(pane.id, key)
        wait_for_end([pane.pid], LEAVE_WITHIN_SECS)
    site.tmux.kill_session(worker.session_id)
    for pid in tree:
        if is_running(pid) and pid != os.getpid():
            end_tree(pid)


def end_strays(site: Site, name: str = "") -> int:
    """Ends what the worker's agent, or without a name anybody's, has started and left behind. How many there were."""
    ended = 0
    for _ in range(STRAY_ROUNDS):
        strays = _strays(site, name)
        if not strays:
            break
        end_all(strays)
        ended += len(strays)
    return ended


def _strays(site: Site, name: str) -> list[int]:
    daemon = is_held(site.root.daemon_lock)
    spared = family(daemon.pid) if daemon is not None else []  # somebody may have started it in that terminal
    marked = marked_processes(LLMC_ROOT=site.root.path, LLMC_WORKER=name)
    return [each.pid for each in marked if each.pid not in spared]
