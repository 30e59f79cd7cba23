"""What may be confirmed unasked, and what never is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from llmc.agents.packs import load_pack
from llmc.core.lifecycle.policy import AutoConfirm
from llmc.core.screen.assessment import Assessment
from llmc.core.screen.auto_confirm import LONGEST, ConfirmVerdict, covers, judge
from llmc.core.screen.screen import screen_of

SCREENS = Path(__file__).parent.parent / "screens"
Rules = tuple[AutoConfirm, ...]
RULES: Rules = (AutoConfirm("claude", "permission", "git (status|diff).*"),)
RULE = "─" * 80


def dialog(*command: str, why: str = "Show it", above: tuple[str, ...] = ()) -> str:
    """As Claude Code draws it."""
    head = (*above, RULE, " Bash command", "", *(f"   {line}" for line in command), f"   {why}", "")
    return "\n".join((*head, " Do you want to proceed?", " ❯ 1. Yes", "   2. No", "", " Esc to cancel · Tab to amend"))


def reported(kind: str, words: str) -> Assessment:
    return {"state": "NEEDS_CONFIRMATION", "detail": kind, "source": "hook", "summary": words}


def judged(text: str, told: str | None = None, kind: str = "permission", rules: Rules = RULES) -> ConfirmVerdict:
    return judge(load_pack("claude"), screen_of(text), "claude", rules, None if told is None else reported(kind, told))


def test_a_command_that_a_rule_covers_is_confirmed() -> None:
    verdict = judged(dialog("git diff --stat"), "Bash: git diff --stat")
    assert (verdict.refusal, verdict.asked, verdict.pattern) == ("", "git diff --stat", RULES[0].pattern)
    assert verdict.goal is not None
    assert verdict.goal.option == 0


@pytest.mark.parametrize("agent", ["codex", "gemini", "opencode"])
@pytest.mark.parametrize("allowed", [True, False])
def test_the_dialogs_of_the_other_clis(agent: str, allowed: bool) -> None:
    screen = screen_of((SCREENS / agent / "NEEDS_CONFIRMATION" / "permission-100x30-1.txt").read_text())
    rule = AutoConfirm(agent, "permission", "make (install|check) PREFIX=opt" if allowed else "make install")
    verdict = judge(load_pack(agent), screen, agent, (rule,), reported("permission", "make install PREFIX=opt"))
    assert verdict.asked == "make install PREFIX=opt"
    assert (verdict.goal is not None) is allowed


@pytest.mark.parametrize(
    "command",
    [
        *("git status; rm -rf /", "git status && rm -rf /", "git status & rm x", "git status | sh", "git diff $(rm x)"),
        *("git diff `rm x`", "git diff > ~/.bashrc", "git diff $HOME", "git diff <(rm x)"),
        *("sudo git status", "xgit status"),
    ],
)
def test_a_command_that_does_something_else_as_well_is_not(command: str) -> None:
    verdict = judged(dialog(command), f"Bash: {command}")
    assert verdict.goal is None
    assert verdict.refusal == "no rule covers the whole of what it asks for"


@pytest.mark.parametrize(
    ("pattern", "asked", "covered"),
    [
        (r"make check \| tee log", "make check | tee log", True),
        (r"make check \| tee .*", "make check | tee log", False),
        (r"(?i)make check \| tee log", "make check | tee log", False),
        ("a\nb", "a\nb", True),
        (r"a\sb", "a\nb", False),
        ("git status|ls", "ls", True),
        ("git status|ls", "ls -l", False),
        ("^git status$", "git status", True),
    ],
)
def test_what_a_pattern_covers(pattern: str, asked: str, covered: bool) -> None:
    assert covers(pattern, "permission", asked) is covered


@pytest.mark.parametrize(
    "text",
    [
        dialog("git status", "rm -rf /"),
        dialog("git status", "", "rm -rf /"),
        dialog("rm -rf /", above=(dialog("git status"),)),
        dialog("rm -rf /", above=(" Bash command", "", "   git status", "", " Do you want to proceed?")),
        dialog("git status", why=""),
        dialog("git status and so …"),
        dialog("git status\u200b"),
        dialog("git status " + "x" * LONGEST),
        dialog("git status").replace(" Bash command", " Edit file"),
        dialog("git status").replace(" Do you want to proceed?", " Do you want to?"),
        dialog("git status").replace("Esc to cancel", "Enter to go on"),
        dialog("git status", above=("✻ Thinking…",)),
        "● I would run git status.\n\n" + RULE + "\n❯ \n" + RULE,
    ],
    ids=lambda text: None,
)
def test_what_is_not_fully_recognised_is_not(text: str) -> None:
    for told in ("Bash: git status", "Bash: git status rm -rf /", "Bash: rm -rf /"):
        verdict = judged(text, told)
        assert verdict.goal is None
        assert verdict.refusal


def test_where_the_screen_does_not_tell_a_remark_from_the_command_the_report_must() -> None:
    assert judged(dialog("git status"), None).refusal == "the pack cannot tell for sure what the dialog asks for"
    assert judged(dialog("git status", why="rm -rf /"), "Bash: git status").goal is not None
    assert judged(dialog("git status", why="rm -rf /"), "Bash: git status\nrm -rf /").goal is None


def test_the_quotes_of_a_transcript_do_not_count() -> None:
    quoted = ("● Bash(git status)", "  ⎿  Waiting…", "   git status")
    assert judged(dialog("rm -rf /", above=quoted), "Bash: rm -rf /").goal is None


@pytest.mark.parametrize("told", ["Bash: git status\nrm -rf /", "Bash: git status rm -rf /", "rm: rm -rf /", ""])
def test_the_agents_own_report_must_say_the_same(told: str) -> None:
    verdict = judged(dialog("git status"), told)
    assert verdict.refusal == "the agent itself reports something else than its screen shows"


def test_a_report_of_another_kind_says_something_else() -> None:
    assert judged(dialog("git status"), "Bash: git status", kind="question").goal is None


@pytest.mark.parametrize("rule", [replace(RULES[0], agent="codex"), replace(RULES[0], kind="question")])
def test_a_rule_is_for_one_agent_and_one_kind(rule: AutoConfirm) -> None:
    verdict = judged(dialog("git status"), "Bash: git status", rules=(rule,))
    assert verdict.refusal == "no rule is for the dialog permission of claude"


def test_without_rules_nothing_is_confirmed() -> None:
    assert judged(dialog("git status"), "Bash: git status", rules=()).goal is None


@pytest.mark.parametrize("kind", ["permission", "question"])
def test_questions_need_a_rule_of_their_own(kind: str) -> None:
    screen = screen_of((SCREENS / "claude" / "NEEDS_CONFIRMATION" / "question-100x30-1.txt").read_text())
    rules = (AutoConfirm("claude", kind, r"Which approach should we use\?"),)
    told = reported("question", "AskUserQuestion: Which approach should we use?")
    assert (judge(load_pack("claude"), screen, "claude", rules, told).goal is not None) is (kind == "question")
