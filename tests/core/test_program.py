"""Reading what a program says of itself."""

from __future__ import annotations

import pytest

from llmc.core.program import InstalledProgram, options_in, version_in

CODEX = """\
Usage: codex [OPTIONS] [PROMPT]

Options:
  -c, --config <key=value>
          Override a configuration value. Use --strict-config to be told of errors.

      --dangerously-bypass-hook-trust
          Run enabled hooks without requiring persisted hook trust

  -a, --ask-for-approval <APPROVAL_POLICY>
          Configure when the model requires human approval

          Possible values:
          - on-request: The model decides when to ask
          - never:      Never ask
"""
CLAUDE = """\
Options:
  --allowedTools, --allowed-tools <tools...>
      Comma or space-separated list of tool names to allow (e.g. "Bash(git *)
      Edit")
  --permission-mode <mode>              Permission mode to use for the session
                                        (choices: "acceptEdits", "auto",
                                        "manual", "plan")
  -r, --resume [value]                  Resume a conversation by session ID, see
                                        --continue

Commands:
  mcp                                   Configure MCP servers (--permission-mode auto)
"""


@pytest.mark.parametrize(
    ("page", "options"),
    [
        (CODEX, {"-c", "--config", "--dangerously-bypass-hook-trust", "-a", "--ask-for-approval"}),
        (CLAUDE, {"--allowedTools", "--allowed-tools", "--permission-mode", "-r", "--resume"}),
    ],
)
def test_the_options_are_those_that_a_line_begins_with(page: str, options: set[str]) -> None:
    assert set(options_in(page) or {}) == options


@pytest.mark.parametrize("page", ["", "error: unknown command", "usage: x [-h]\n  --one\n"])
def test_a_page_without_a_list_of_options_tells_nothing(page: str) -> None:
    assert options_in(page) is None


def test_the_values_of_an_option_are_in_its_own_words() -> None:
    claude = InstalledProgram("2.1", {"": options_in(CLAUDE) or {}})
    assert claude.offers("--permission-mode", "manual")
    assert not claude.offers("--permission-mode", "default")
    assert not claude.offers("--resume", "manual")
    codex = InstalledProgram("0.166", {"": options_in(CODEX) or {}})
    assert codex.offers("-a", "on-request")
    assert not codex.offers("-a", "untrusted")


def test_of_a_program_that_did_not_answer_everything_is_taken_for_known() -> None:
    silent = InstalledProgram()
    assert silent.knows("--anything")
    assert not silent.offers("--anything", "value")
    half = InstalledProgram("1.0", {"": {"--one": ""}})
    assert half.knows("--other", "resume"), "that sub-command was not asked"
    assert not half.knows("--other")


def test_the_version_is_the_first_thing_that_looks_like_one() -> None:
    assert version_in("codex-cli 0.150.0\n") == "0.150.0"
    assert version_in("hello") == ""
