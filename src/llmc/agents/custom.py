"""Agents that a user describes in `config.toml`, and changes to the built-in ones."""

from __future__ import annotations

from dataclasses import replace

from llmc.agents.base import Agent, Launch, LaunchOrder
from llmc.agents.packs import PackError, load_pack
from llmc.agents.reports import read_report
from llmc.config import AgentOptions

USUAL_PATIENCE = AgentOptions().ready_timeout_secs
"""What the settings say when the user does not: an agent that knows better keeps its own."""


def described_agent(name: str, options: AgentOptions, packs: str = "") -> Agent:
    bare = Agent(name, lambda order: Launch(()), load_pack("generic"), clear="", reports_events=False)
    return with_options(bare, options, packs)


def with_own_pack(agent: Agent, packs: str) -> Agent:
    """The agent with the user's pack of that name. One that is broken must not stop the work: `llmc doctor` tells."""
    try:
        return replace(agent, pack=load_pack(agent.pack.name, packs))
    except PackError:
        return agent


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
        screen_unknown=unknown,
        translate=lambda data: read_report(data) or agent.translate(data),
        clear=agent.clear if options.clear is None else options.clear,
        submit=options.submit or agent.submit,
        reports_events=reports,
        reports_start=agent.reports_start and reports,
        clear_report=agent.clear_report if reports and not unknown else None,
        resumes=agent.resumes and options.command is None,
        ready_timeout_secs=agent.ready_timeout_secs if patience == USUAL_PATIENCE else patience,
    )


def _launch(agent: Agent, options: AgentOptions, order: LaunchOrder) -> Launch:
    own = agent.launch(order)
    argv = tuple(_filled(word, order) for word in options.command) if options.command else own.argv
    return Launch(argv, {**own.env, **options.env}, own.files, own.links)


def _filled(word: str, order: LaunchOrder) -> str:
    places = {"{model}": order.model or "", "{role_prompt}": order.role_prompt, "{settings}": order.settings_dir}
    for place, value in places.items():
        word = word.replace(place, value)
    return word
