"""Every agent by its name, and what settings change about one."""

from __future__ import annotations

from dataclasses import MISSING, fields, replace
from pathlib import Path

import pytest

from llmc.agents.base import Agent, Launch, LaunchOrder
from llmc.agents.custom import with_options
from llmc.agents.packs import load_pack
from llmc.agents.registry import BUILT_IN, ELSEWHERE, agent_named
from llmc.config.load import parse_config
from llmc.config.sections import BUILT_IN_AGENTS, AgentOptions
from llmc.config.settings import Config
from llmc.core.program import InstalledProgram
from llmc.errors import LlmcError

PLAIN = LaunchOrder(**{each.name: f"/{each.name}" for each in fields(LaunchOrder) if each.default is MISSING})
ORDER = replace(PLAIN, model="large", role_prompt="Be kind.")


def settings(text: str = "") -> Config:
    return parse_config(f'[repo]\nsource = "/x"\nbranch = "main"\n{text}')


def test_only_built_in_agents_are_made_elsewhere() -> None:
    assert ELSEWHERE.keys() <= set(BUILT_IN_AGENTS)


@pytest.mark.lesson(32, "files of ours never show in a worktree's status or commits")
@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_a_built_in_agent_can_be_started(name: str) -> None:
    agent = agent_named(name, settings(), "")
    assert agent.name == name
    launch = agent.launch(ORDER)
    assert launch.argv
    assert all(path.startswith("/settings_dir/") for path in launch.files), "nothing of it is in the worktree"
    assert agent.exit_keys
    assert agent.pack.composer is not None


@pytest.mark.lesson(8, "Escape only to refuse what a dialog asks")
@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_escape_is_pressed_only_to_refuse_what_a_dialog_asks(name: str) -> None:
    """Elsewhere it interrupts what the agent is doing."""
    agent = agent_named(name, settings(), "")
    assert "Escape" not in (agent.submit, *agent.exit_keys)
    assert {cue.ways.refuse for cue in agent.pack.cues} <= {"", "Escape"}


def asking(name: str, **more: object) -> Launch:
    return BUILT_IN[name]().launch(replace(ORDER, skip_permissions=False, **more))


def test_codex_asks_again_in_a_conversation_in_which_it_did_not() -> None:
    resumed = asking("codex", resume="the-conversation").argv
    assert resumed[:2] == ("codex", "resume")
    assert resumed[-5:] == (
        *("-c", 'approval_policy="on-request"'),
        *("-c", 'sandbox_mode="read-only"'),
        "the-conversation",
    )
    unasked = BUILT_IN["codex"]().launch(replace(ORDER, resume="the-conversation")).argv
    assert not any("approval_policy" in word for word in unasked)


def test_an_agent_that_is_to_ask_is_told_so_in_the_words_of_its_version() -> None:
    older = InstalledProgram("2.1.100", {"": {"--permission-mode": 'choices: "default", "plan"', "--allowedTools": ""}})
    newer = InstalledProgram("2.1.325", {"": {"--permission-mode": 'choices: "auto", "manual"', "--allowedTools": ""}})
    tools = ("Read", "Glob")
    assert asking("claude", program=older, allowed_tools=tools).argv[1:] == (
        *("--permission-mode", "default"),
        *("--allowedTools", *tools),
    )
    assert "manual" in asking("claude", program=newer).argv
    assert "default" in asking("gemini").argv
    assert (
        'approval_policy="untrusted"'
        in asking(
            "codex", program=InstalledProgram("0.100", {"": {"-c": "", "--ask-for-approval": "- untrusted: asks"}})
        ).argv
    )


@pytest.mark.parametrize("name", ["claude", "codex", "gemini", "opencode"])
def test_in_a_terminal_of_the_person_their_own_settings_hold(name: str) -> None:
    launch = BUILT_IN[name]().launch(replace(ORDER, skip_permissions=None))
    said = " ".join((*launch.argv, *launch.files.values()))
    for word in ("dangerously-skip", "bypass-approvals", "--yolo", "--permission-mode", "approval", '"permission":'):
        assert word not in said
    assert "CLAUDE_CODE_SANDBOXED" not in launch.env


def test_codex_starts_without_an_option_that_it_does_not_know() -> None:
    """Version 0.150.0 ends at once when it is given `--no-daemon`."""
    old = InstalledProgram("0.150.0", {"": {"-c": "", "-m": "", "--dangerously-bypass-hook-trust": ""}})
    launch = BUILT_IN["codex"]().launch(replace(ORDER, program=old))
    assert "--no-daemon" not in launch.argv
    assert [each.partition(" ")[0] for each in launch.left_out] == [
        "--no-daemon",
        "--dangerously-bypass-approvals-and-sandbox",
    ]
    known = BUILT_IN["codex"]().launch(ORDER)
    assert "--no-daemon" in known.argv
    assert known.left_out == ()


def test_an_unknown_agent_is_told_with_those_that_there_are() -> None:
    with pytest.raises(LlmcError, match="no agent named 'clod'") as unknown:
        agent_named("clod", settings('[agents.mine]\ncommand = ["mine"]\n'), "")
    assert "claude" in unknown.value.hint
    assert "mine" in unknown.value.hint


def mine(text: str, packs: str = "") -> Agent:
    return agent_named("mine", settings(f"[agents.mine]\n{text}"), packs)


def test_an_agent_of_ones_own() -> None:
    agent = mine(
        'command = ["mine", "--model", "{model}", "--role={role_prompt}", "{settings}/x"]\n'
        'env = { MODE = "tui" }\nclear = "/new"\nsubmit = "C-m"\nevents = true\nready_timeout_secs = 5\n'
        'own_files = [".mine*"]\n'
    )
    launch = agent.launch(ORDER)
    assert launch.argv == ("mine", "--model", "large", "--role=Be kind.", "/settings_dir/x")
    assert dict(launch.env) == {"MODE": "tui"}
    assert (agent.clear, agent.submit, agent.reports_events, agent.ready_timeout_secs) == ("/new", "C-m", True, 5)
    assert (agent.pack.name, agent.own_files) == ("generic", (".mine*",))


def test_what_is_known_of_the_worker_is_filled_in_everywhere() -> None:
    agent = mine(
        'command = ["mine", "{worktree}"]\nenv = { HOME_OF = "{settings}", SPOOL = "{spool}" }\n'
        'files = { "conf/a.json" = \'{"name": "{name}", "role": "{role_prompt}", "to": "{unknown}"}\' }\n'
    )
    launch = agent.launch(replace(ORDER, spool="/spool", role_prompt="{model} {settings}"))
    assert launch.argv == ("mine", "/worktree")
    assert dict(launch.env) == {"HOME_OF": "/settings_dir", "SPOOL": "/spool"}
    filled = '{"name": "/worker", "role": "{model} {settings}", "to": "{unknown}"}'
    assert dict(launch.files) == {"/settings_dir/conf/a.json": filled}


def test_words_vary_with_permissions_and_the_model() -> None:
    agent = mine(
        'command = ["mine"]\nskip_permissions_args = ["--yolo"]\nask_args = ["--ask", "{name}"]\n'
        'model_args = ["-m", "{model}"]\n'
    )
    assert agent.launch(ORDER).argv == ("mine", "--yolo", "-m", "large")
    assert agent.launch(replace(ORDER, skip_permissions=False, model=None)).argv == ("mine", "--ask", "/worker")
    assert agent.launch(replace(ORDER, skip_permissions=None, model=None)).argv == ("mine",)


def test_a_pack_of_ones_own_is_found_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("name = \"mine\"\n[composer]\nprompt = '^> '\n")
    with pytest.raises(LlmcError, match="no pack named"):
        mine('command = ["mine"]\npack = "mine"\n')
    assert mine('command = ["mine"]\npack = "mine"\n', str(tmp_path)).pack.name == "mine"


def test_what_is_not_said_of_ones_own_is_plain() -> None:
    agent = agent_named("mine", settings('[agents.mine]\ncommand = ["mine"]\n'), "")
    assert (agent.clear, agent.submit, agent.reports_events, agent.ready_timeout_secs) == ("", "Enter", False, 120)
    assert agent.launch(PLAIN).argv == ("mine",)


def test_settings_change_only_what_they_name() -> None:
    own = agent_named("claude", settings(), "")
    changed = agent_named("claude", settings('[agents.claude]\nenv = { X = "1" }\n'), "")
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
    agent = agent_named("demo", settings("[agents.demo]\nevents = false\n"), "")
    assert not agent.reports_events
    assert not agent.reports_start
    assert agent_named("demo", settings(), "").reports_start


def test_another_pack_can_be_named() -> None:
    assert agent_named("shell", settings('[agents.shell]\npack = "demo"\n'), "").pack.name == "demo"
