"""Bringing agents up and down."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from os import urandom
from pathlib import Path

from llmc.agents.base import Agent, Launch, LaunchOrder
from llmc.config.sections import SUPERVISOR
from llmc.core.lifecycle import events as ev
from llmc.core.program import InstalledProgram
from llmc.errors import LlmcError
from llmc.git.own_files import exclude_own_files
from llmc.git.own_view import view_of
from llmc.host.files import make_own_directory, write_atomically
from llmc.host.locks import is_held
from llmc.host.processes import descendants, end_all, end_tree, family, is_running, marked_processes, wait_for_end
from llmc.model import Step, Worker
from llmc.perform.fence import FenceImpossibleError, fenced_command, has_store, prepare_fence
from llmc.perform.fence_home import bring_back, furnish
from llmc.perform.fenced_work import take_over
from llmc.perform.going_on import going_on_text
from llmc.perform.launch_files import write_launch_files
from llmc.perform.programs import forget_installed, installed_program
from llmc.perform.start import StartEnded, wait_until_ready
from llmc.perform.worker_variables import worker_variables
from llmc.perform.worktrees import needs_setup, restore_worktree
from llmc.site import Site
from llmc.store.spool import make_spool
from llmc.tmux.configuration import configuration
from llmc.tmux.parsing import Pane, last_words

LEAVE_WITHIN_SECS = 3.0
SCROLLBACK = 50
STRAY_ROUNDS = 3
"""What is ended may have started another program in its last moment."""


def start(site: Site, worker: Worker, step: Step) -> ev.StepResult:
    """With the conversation from before where there is one, and without it when that one cannot be taken up.

    An agent that runs already was launched by somebody who left before it was ready: the start goes on from there.
    """
    agent = site.agent_of(worker)
    pane = site.pane_of(worker.session_id)
    if pane is not None and pane.dead and worker.start_dialog:
        return _ended_at_once(site, step, pane)  # the person has chosen that
    pane = _live_pane(site, worker)
    if pane is not None:
        return _follow(site, worker, step, agent, pane)
    result = None
    if worker.conversation and agent.resumes:
        result = _start(site, worker, step, agent, worker.conversation)
    if result is None or isinstance(result, ev.SessionFailed):
        result = _start(site, worker, step, agent, "")
    return result


def _start(
    site: Site, worker: Worker, step: Step, agent: Agent, resume: str, *, again_after_choice: bool = False
) -> ev.StepResult:
    if site.is_fenced(worker.name):
        try:
            _make_fence(site, worker)
        except FenceImpossibleError as none:
            return ev.SessionFailed(site.now(), step.id, f"{none.what}; {none.hint}", hopeless=True)
    elif has_store(site, worker):
        _take_fence_down(site, worker)
    launch = agent.launch(_order(site, worker, installed_program(site.host, site.root, agent), resume))
    if site.host.which(launch.argv[0]) is None:
        again = f"`llmc nuke {worker.name}`, then `llmc add {worker.name} --agent ...`"
        hint = f"install it, or choose another agent for {worker.name}: {again}"
        return ev.SessionFailed(site.now(), step.id, f"{launch.argv[0]} is not installed; {hint}", hopeless=True)
    if not site.host.is_dir(worker.worktree_path):
        restore_worktree(site, worker)
    if needs_setup(site, site.worker(worker.name)):
        from llmc.perform.setup import set_up  # once in the life of a worktree

        end_strays(site, worker.name)  # of a setup that somebody was killed at
        failed = set_up(site, worker, step)
        if failed is not None:
            return failed
    exclude_own_files(site.host, (site.root.git_dir, view_of(site.root.path)), _own_files(site))
    takes_up = resume if resume in launch.argv else ""  # not where the program does not know how
    pane = _launch(site, worker, step, launch, takes_up)
    launched = replace(site.worker(worker.name), took_up=takes_up)
    return _follow(site, launched, step, agent, pane, again_after_choice=again_after_choice)


def _make_fence(site: Site, worker: Worker) -> None:
    if not site.host.is_dir(worker.worktree_path):
        restore_worktree(site, worker)
    end_strays(site, worker.name)  # so that nobody is inside
    prepare_fence(site, worker.name)
    take_over(site, worker)
    furnish(site, worker.name, worker.agent)


def _take_fence_down(site: Site, worker: Worker) -> None:
    """The settings say by now that it works without one."""
    end_strays(site, worker.name)
    take_over(site, worker)
    bring_back(site, worker.name, worker.agent)
    site.host.remove_tree(site.root.fence(worker.name))


def _follow(
    site: Site, worker: Worker, step: Step, agent: Agent, pane: Pane, *, again_after_choice: bool = False
) -> ev.StepResult:
    """One that ends right after LLMC has chosen an option for it is started once more."""
    resumed = bool(worker.took_up)
    result = wait_until_ready(site, worker, step, agent, pane, resumed=resumed)
    if isinstance(result, StartEnded):
        failed = _ended_at_once(site, step, result.pane)
        again = result.after_choice and not again_after_choice
        return _start(site, worker, step, agent, worker.took_up, again_after_choice=True) if again else failed
    if isinstance(result, ev.SessionFailed):
        forget_installed(site.host, site.root, agent)
        site.tmux.kill_session(worker.session_id)
    if isinstance(result, ev.SessionReady):
        return replace(result, resumed=resumed, go_on=going_on_text(site, worker, resumed=resumed))
    return result


def _live_pane(site: Site, worker: Worker) -> Pane | None:
    pane = site.tmux.panes().get(worker.session_id)
    if pane is None:
        return None
    if not pane.dead:
        return pane
    site.tmux.kill_session(worker.session_id)
    return None


def _own_files(site: Site) -> set[str]:
    """Of every agent that a worker has: they share what git ignores."""
    found: set[str] = set()
    for name in {worker.agent for worker in site.ledger.load().workers.values()}:
        with suppress(LlmcError):  # another worker's agent may not be described any more
            found.update(site.agent_named(name).own_files)
    return found


def left_out(site: Site, worker: Worker, program: InstalledProgram) -> tuple[str, ...]:
    """What the worker's agent is started without, because the installed program does not know it."""
    return site.agent_of(worker).launch(_order(site, worker, program, "")).left_out


def _order(site: Site, worker: Worker, program: InstalledProgram, resume: str) -> LaunchOrder:
    settings = site.config.worker(worker.name)
    return LaunchOrder(
        worker.name,
        worker.worktree_path,
        site.root.path,
        site.home_of(worker.name),
        site.root.settings_dir(worker.name),
        settings.model,
        settings.role_prompt,
        settings.skip_permissions,
        settings.allowed_tools,
        resume,
        site.root.spool(worker.name),
        settings.role == SUPERVISOR,
        program,
    )


def _launch(site: Site, worker: Worker, step: Step, launch: Launch, resume: str) -> Pane:
    make_spool(site.root.spool(worker.name))
    make_own_directory(site.root.settings_dir(worker.name))
    write_launch_files(launch, site.root.settings_dir(worker.name))
    defaults = site.config.defaults
    size = (defaults.terminal_width, defaults.terminal_height)
    write_atomically(Path(site.root.tmux_configuration), configuration(*size))
    site.tmux.start(site.root.tmux_configuration)
    variables = worker_variables(site, worker)
    session = _new_session(site, worker, step, resume)
    env = {
        **variables,
        "LLMC_SESSION": session,
        "LLMC_WORKER": worker.name,
        "LLMC_ROOT": site.root.path,
        "LLMC_SPOOL": site.root.spool(worker.name),
        **launch.env,
    }
    argv = _fenced(site, worker, launch, env) if site.is_fenced(worker.name) else launch.argv
    return site.tmux.new_session(worker.session_id, worker.worktree_path, argv, env, size)


def _fenced(site: Site, worker: Worker, launch: Launch, env: Mapping[str, str]) -> tuple[str, ...]:
    """tmux stays outside: the terminal's process is the fence, and all that is inside ends with it."""
    own = (site.root.spool(worker.name), site.root.settings_dir(worker.name))
    return fenced_command(site, worker.name, launch.argv, env, agent=worker.agent, writable=own)


def _new_session(site: Site, worker: Worker, step: Step, resume: str) -> str:
    """Its id is known before it begins, and what was told by the last one is forgotten."""
    session = urandom(6).hex()
    site.ledger.apply(worker.name, ev.SessionLaunched(site.now(), step.id, session, resume))
    Path(site.root.attention_file(worker.name)).unlink(missing_ok=True)
    return session


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
    if site.is_fenced(worker.name):
        bring_back(site, worker.name, worker.agent)
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
