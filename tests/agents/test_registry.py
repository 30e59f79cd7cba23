"""Every agent by its name, and what settings change about one."""

from __future__ import annotations

from dataclasses import MISSING, fields, replace

import pytest

from llmc.agents.base import Agent, LaunchOrder
from llmc.agents.custom import with_options
from llmc.agents.packs import load_pack
from llmc.agents.registry import BUILT_IN, agent_named
from llmc.config import AgentOptions, Config, parse_config
from llmc.config.options import BUILT_IN_AGENTS
from llmc.errors import LlmcError

PLAIN = LaunchOrder(**{each.name: f"/{each.name}" for each in fields(LaunchOrder) if each.default is MISSING})
ORDER = replace(PLAIN, model="large", role_prompt="Be kind.")


def settings(text: str = "") -> Config:
    return parse_config(f'[repo]\nsource = "/x"\nbranch = "main"\n{text}')


def test_the_settings_know_the_same_agents() -> None:
    assert set(BUILT_IN_AGENTS) == set(BUILT_IN)


@pytest.mark.lesson(32, "files of ours never show in a worktree's status or commits")
@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_a_built_in_agent_can_be_started(name: str) -> None:
    agent = agent_named(name, settings())
    assert agent.name == name
    launch = agent.launch(ORDER)
    assert launch.argv
    elsewhere = {path: text for path, text in launch.files.items() if not path.startswith("/settings_dir/")}
    assert set(elsewhere.values()) <= {"*\n"}, "nothing of it shows in the worktree"
    assert all(path.endswith("/.gitignore") for path in elsewhere)
    assert agent.exit_keys
    assert agent.pack.composer is not None


@pytest.mark.lesson(8, "Escape only to refuse what a dialog asks")
@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_escape_is_pressed_only_to_refuse_what_a_dialog_asks(name: str) -> None:
    """Elsewhere it interrupts what the agent is doing."""
    agent = agent_named(name, settings())
    pressed = [agent.submit, *agent.exit_keys, *(key for cue in agent.pack.cues for key in cue.pass_keys)]
    answers = {choice: keys for cue in agent.pack.cues for choice, keys in cue.answers.items() if "Escape" in keys}
    assert "Escape" not in pressed
    assert set(answers) <= {"no"}


def test_codex_asks_again_in_a_conversation_in_which_it_did_not() -> None:
    resumed = replace(ORDER, skip_permissions=False, resume="the-conversation")
    assert BUILT_IN["codex"]().launch(resumed).argv[-5:] == (
        *("-a", "on-request"),
        *("-s", "workspace-write"),
        "the-conversation",
    )
    assert "-a" not in BUILT_IN["codex"]().launch(replace(resumed, skip_permissions=True)).argv


def test_an_unknown_agent_is_told_with_those_that_there_are() -> None:
    with pytest.raises(LlmcError, match="no agent named 'clod'") as unknown:
        agent_named("clod", settings('[agents.mine]\ncommand = ["mine"]\n'))
    assert "claude" in unknown.value.hint
    assert "mine" in unknown.value.hint


def test_an_agent_of_ones_own() -> None:
    agent = agent_named(
        "mine",
        settings(
            "[agents.mine]\n"
            'command = ["mine", "--model", "{model}", "--role={role_prompt}", "{settings}/x"]\n'
            'env = { MODE = "tui" }\nclear = "/new"\nsubmit = "C-m"\nevents = true\nready_timeout_secs = 5\n'
        ),
    )
    launch = agent.launch(ORDER)
    assert launch.argv == ("mine", "--model", "large", "--role=Be kind.", "/settings_dir/x")
    assert dict(launch.env) == {"MODE": "tui"}
    assert (agent.clear, agent.submit, agent.reports_events, agent.ready_timeout_secs) == ("/new", "C-m", True, 5)
    assert agent.pack.name == "generic"


def test_what_is_not_said_of_ones_own_is_plain() -> None:
    agent = agent_named("mine", settings('[agents.mine]\ncommand = ["mine"]\n'))
    assert (agent.clear, agent.submit, agent.reports_events, agent.ready_timeout_secs) == ("", "Enter", False, 120)
    assert agent.launch(PLAIN).argv == ("mine",)


def test_settings_change_only_what_they_name() -> None:
    own = agent_named("claude", settings())
    changed = agent_named("claude", settings('[agents.claude]\nenv = { X = "1" }\n'))
    assert changed.launch(ORDER).argv == own.launch(ORDER).argv
    assert dict(changed.launch(ORDER).env) == {**own.launch(ORDER).env, "X": "1"}
    assert (changed.clear, changed.submit, changed.reports_events) == (own.clear, own.submit, own.reports_events)
    assert (changed.pack.name, changed.exit_keys) == (own.pack.name, own.exit_keys)


def test_the_patience_of_a_built_in_agent_is_its_own() -> None:
    slow = Agent("slow", lambda order: BUILT_IN["shell"]().launch(order), load_pack("generic"), ready_timeout_secs=300)
    assert with_options(slow, AgentOptions()).ready_timeout_secs == 300
    assert with_options(slow, AgentOptions(env={"X": "1"})).ready_timeout_secs == 300
    assert with_options(slow, AgentOptions(ready_timeout_secs=5)).ready_timeout_secs == 5


def test_reports_can_be_switched_off() -> None:
    agent = agent_named("demo", settings("[agents.demo]\nevents = false\n"))
    assert not agent.reports_events
    assert not agent.reports_start
    assert agent_named("demo", settings()).reports_start


def test_another_pack_can_be_named() -> None:
    assert agent_named("shell", settings('[agents.shell]\npack = "demo"\n')).pack.name == "demo"
