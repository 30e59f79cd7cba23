"""`llmc add`: a new worker."""

from __future__ import annotations

from argparse import Namespace

from llmc.agents.base import Agent
from llmc.app import App
from llmc.care.acting import newest_tip
from llmc.commands.shared.elsewhere import place_elsewhere
from llmc.commands.shared.result import Result
from llmc.config.sections import SUPERVISOR
from llmc.core.names import check_worker_name
from llmc.core.prompts.supervisor import supervisor_prompt
from llmc.daemon.process import running_daemon
from llmc.doctor.agents import look_at_agent
from llmc.errors import LlmcError
from llmc.git.worktree import add_worktree, delete_branch, remove_worktree
from llmc.model import Evidence, Worker
from llmc.perform.fence import prepare_fence, require_fence
from llmc.perform.fenced_work import take_over
from llmc.perform.worktrees import carry_ignored_files, needs_setup
from llmc.site import Site
from llmc.store.config_file import remove_worker_table, set_worker_table
from llmc.store.terminals import Terminals


def run(app: App, args: Namespace) -> Result:
    check_worker_name(args.name)
    site = app.site()
    _refuse_elsewhere(site, args.name)
    if args.machine is not None:
        from llmc.commands.shared.add_elsewhere import add_elsewhere

        return add_elsewhere(site, args)
    agent = site.config.worker(args.name).agent if args.agent is None else args.agent
    _require_fit(site.agent_named(agent), args.role)
    fenced = (args.sandbox or site.config.worker(args.name).sandbox) == "bwrap"
    if fenced:
        require_fence(site.host)
    with site.lock_of(args.name), site.git.operation:
        _refuse_taken(site, args.name)
        worker = make_worker(site, args, agent)
    brings_up = running_daemon(site.root) is not None
    then = "the daemon brings it up" if brings_up else "bring it up with `llmc up`"
    if needs_setup(site, worker):
        then += f"; its worktree is set up first: `llmc logs {worker.name} --setup --follow` shows it"
    data = {"name": worker.name, "branch": worker.branch, "worktree_path": worker.worktree_path, "agent": agent}
    return Result(f"added {worker.name} ({agent}) in {worker.worktree_path}; {then}{_note(site, worker)}", data)


def _require_fit(agent: Agent, role: str | None) -> None:
    if role == SUPERVISOR and not agent.takes_tools:
        raise LlmcError(
            f"{agent.name} cannot be a supervisor: LLMC cannot give it tools",
            "claude, codex, gemini and opencode can: name one of them with --agent",
        )


def _refuse_elsewhere(site: Site, name: str) -> None:
    there = place_elsewhere(site, name)
    if there is not None:
        raise LlmcError(f"there is a worker named {name} on {there.machine}", "choose another name")


def _refuse_taken(site: Site, name: str) -> None:
    """Asked under the lock: whoever adds the same name in the same moment must not clear away what the other made."""
    if name in site.ledger.load().workers:
        raise LlmcError(f"there is a worker named {name} already", f"choose another name, or `llmc nuke {name}`")
    if name in Terminals(site.root).all():
        raise LlmcError(f"there is a terminal named {name} (see `llmc pty list`)", "choose another name")


def _note(site: Site, worker: Worker) -> str:
    found = look_at_agent(site.host, site.root, site.config, worker.agent)
    if found.installed:
        return ""
    how = f": {found.install}" if found.install else ""
    return f"\nnote: {found.program} is not installed. Worker {worker.name} cannot start until it is{how}"


def make_worker(site: Site, args: Namespace, agent: str) -> Worker:
    """All of it or nothing."""
    name, branch = args.name, f"llmc/{args.name}"
    site.progress(f"making the worktree of {name}")
    tip = newest_tip(site)
    path = add_worktree(site.git, site.root.path, name, branch, tip)
    try:
        if args.sandbox == "bwrap" or (args.sandbox is None and site.is_fenced(name)):
            prepare_fence(site, name)  # a daemon watches what it finds when it hears of the worker
        carry_ignored_files(site, path)
        set_worker_table(
            site.root.config_file,
            name,
            agent=agent,
            model=args.model,
            role_prompt=supervisor_prompt(args.role_prompt) if args.role == SUPERVISOR else args.role_prompt,
            role=args.role,
            excluded=args.exclude_from_pool or args.role == SUPERVISOR,
            sandbox=args.sandbox,
        )
        now = site.now()
        new = Evidence("command.add", now, "new")
        worker = Worker(name, path, branch, f"llmc-{name}", agent, now, now, base_sha=tip, evidence=new)
        site.ledger.add(worker)
        take_over(site, worker)
    except BaseException:
        site.host.remove_tree(site.root.fence(name))
        remove_worktree(site.git, site.root.path, name)
        delete_branch(site.git, site.root.path, branch)
        remove_worker_table(site.root.config_file, name)
        raise
    return worker
