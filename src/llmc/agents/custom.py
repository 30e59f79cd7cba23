"""Agents that a user describes in `config.toml`, and changes to the built-in ones."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from llmc.agents.base import Agent, Launch, LaunchOrder
from llmc.agents.packs import load_pack
from llmc.agents.reports import read_report
from llmc.config.sections import AgentOptions

USUAL_PATIENCE = AgentOptions().ready_timeout_secs
"""What the settings say when the user does not: an agent that knows better keeps its own."""


def described_agent(name: str, options: AgentOptions, packs: str = "") -> Agent:
    bare = Agent(name, lambda order: Launch(()), load_pack("generic"), clear="", reports_events=False)
    return with_options(bare, options, packs)


def with_options(agent: Agent, options: AgentOptions, packs: str = "") -> Agent:
    """The agent with everything that the user has set put in place of its own."""
    reports = agent.reports_events if options.events is None else options.events
    patience = options.ready_timeout_secs
    # Another program than the one whose ways we know, and it says that it reports.
    unknown = bool(options.command and options.events and not options.pack)
    return replace(
        agent,
        launch=lambda order: _launch(agent, options, order),
        pack=load_pack(options.pack, packs) if options.pack else agent.pack,
        install=agent.install if options.command is None else "",
        screen_unknown=unknown,
        translate=lambda data: read_report(data) or agent.translate(data),
        clear=agent.clear if options.clear is None else options.clear,
        submit=options.submit or agent.submit,
        interrupt_keys=options.interrupt or agent.interrupt_keys,
        reports_events=reports,
        reports_start=agent.reports_start and reports,
        clear_report=agent.clear_report if reports and not unknown else None,
        resumes=agent.resumes and options.command is None,
        own_files=agent.own_files if options.own_files is None else options.own_files,
        asked_for_help=agent.asked_for_help if options.command is None else (),
        ready_timeout_secs=agent.ready_timeout_secs if patience == USUAL_PATIENCE else patience,
    )


def _launch(agent: Agent, options: AgentOptions, order: LaunchOrder) -> Launch:
    own, fill = agent.launch(order), _filler(order)
    more = tuple(fill(word) for word in _more_words(options, order))
    argv, left_out = own.argv, own.left_out
    if options.command:
        argv, left_out = tuple(fill(word) for word in options.command), ()
    return Launch(
        argv + more,
        {**own.env, **{name: fill(value) for name, value in options.env.items()}},
        {**own.files, **{f"{order.settings_dir}/{name}": fill(text) for name, text in options.files.items()}},
        own.links,
        left_out,
    )


def _more_words(options: AgentOptions, order: LaunchOrder) -> tuple[str, ...]:
    asks: tuple[str, ...] = ()
    if order.skip_permissions is not None:
        asks = options.skip_permissions_args if order.skip_permissions else options.ask_args
    return (*asks, *(options.model_args if order.model else ()))


PLACE = re.compile(r"\{(settings|model|role_prompt|worktree|spool|name)\}")


def _filler(order: LaunchOrder) -> Callable[[str], str]:
    """Fills in what is known of the worker. In one go: a role prompt that names a place is not filled in itself."""
    places = {
        "settings": order.settings_dir,
        "model": order.model or "",
        "role_prompt": order.role_prompt,
        "worktree": order.worktree,
        "spool": order.spool,
        "name": order.worker,
    }
    return lambda text: PLACE.sub(lambda found: places[found[1]], text)
