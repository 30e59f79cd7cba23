"""A round of review on the real Claude Code: five comments, one prompt, and a rebase before the next review."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from testing.models.steps import Run, Step, Text
from testing.real_agents import AgentMachine, AgentRoot, agents, make_agent_root
from testing.real_agents import agent_machine as agent_machine
from testing.real_agents import real_agent as real_agent
from testing.waiting import wait_until

PATIENCE_SECS = 150.0
STEPS = [f"step_{number}()" for number in range(1, 9)]
NOTES = ["# Notes: first", "", '\tuse `it`; "so" — or $not', "last"]
REWORKED = ["step_1()", "renamed()", "step_3()", "step_4()", "step_7()", "step_8()", "step_9()"]
COMMENTS = {
    "app.py:2": "Name it after what it does; `step_2` says nothing.",
    "app.py:5-6": "Both of these can go.",
    "app.py:8": "Is one more needed?",
    "my notes: draft.md:3": "Say it\nin two lines.",
    "README:1": "Nothing to do here, just so that you know.",
}
QUOTED = {"app.py:2": STEPS[1], "app.py:5-6": f"{STEPS[4]}\n{STEPS[5]}", "app.py:8": STEPS[7], "README:1": "one"}


def author(prompt: str) -> Sequence[Step]:
    if "is sent back" in prompt:
        return [Run(f"{_write('app.py', REWORKED)} && git commit --quiet --all --amend --no-edit"), Text("Reworked.")]
    files = f"{_write('app.py', STEPS)} && {_write('my notes: draft.md', NOTES)}"
    return [Run(f"{files} && git add --all && git commit --quiet -m 'Add app and notes'"), Text("Done.")]


def _write(path: str, lines: list[str]) -> str:
    return f"printf '%s\\n' {shlex.join(lines)} > {shlex.quote(path)}"


@pytest.mark.lesson(52, "comments go as one batch with the quoted lines, numbered by round, and none is lost")
@pytest.mark.timeout(400)
@agents("claude")
def test_five_comments_are_one_round(agent_machine: AgentMachine, tmp_path: Path) -> None:
    root = make_agent_root(agent_machine, tmp_path, accepted=True)
    root.models.answer_with(author)
    root.done("start", "--worker", "w", "--prompt", "Write the app.")
    _wait_for_review(root)
    root.done("review", "w", "--interface", "stat")
    for place, text in COMMENTS.items():
        root.done("comment", "w", place, text)
    first = root.status()["commit_sha"]
    receipt = json.loads(root.done("reject", "w", "--json"))
    assert (receipt["outcome"], receipt["proof"], receipt["round"]) == ("delivered", "hook", 1)
    wait_until(lambda: root.status()["commit_sha"] != first, PATIENCE_SECS)
    _wait_for_review(root)
    _has_heard_all_of_it_once(root)
    _the_branch_moves_on(root)
    _what_became_of_it(json.loads(root.done("review", "w", "--since-last", "--json")))
    root.done("accept", "w")


def _has_heard_all_of_it_once(root: AgentRoot) -> None:
    _task, feedback = root.models.prompts()
    assert "sent back: round 1 of review" in feedback
    for number, (place, text) in enumerate(COMMENTS.items(), 1):
        assert f"Comment {number}, on {place}:\n" in feedback
        assert text in feedback
    for place, lines in QUOTED.items():
        assert f"on {place}:\n```\n{lines}\n```\n" in feedback
    assert NOTES[2].strip() in feedback
    assert "\n+step_1()\n+step_2()\n" in feedback, "the diff"


def _the_branch_moves_on(root: AgentRoot) -> None:
    (root.source / "README").write_text("zero\none\ntwo\nthree\n")
    (root.source / "hand.txt").write_text("by hand\n")
    for words in (("add", "--all"), ("commit", "--quiet", "-m", "By hand")):
        subprocess.run(["git", "-C", str(root.source), *words], check=True)


def _what_became_of_it(answer: dict[str, Any]) -> None:
    assert answer["since"] == "round 1"
    assert [each["path"] for each in answer["files"]] == ["app.py"], "not what the branch has changed"
    now = [(each["now"]["became"], each["now"]["line"], each["now"]["lines"]) for each in answer["comments"]]
    assert now[0] == ("changed", 2, ["renamed()"])
    assert now[1] == ("gone", None, [])
    assert now[2] == ("untouched", 6, ["step_8()"])
    assert (now[3][0], now[3][1]) == ("untouched", 3)
    assert now[4] == ("untouched", 2, ["one"])


def _wait_for_review(root: AgentRoot) -> None:
    try:
        wait_until(lambda: root.status()["status"] == "needs_review", PATIENCE_SECS)
    except AssertionError as late:
        raise AssertionError(f"{late}\n{root.done('events', 'w')}\n{root.done('peek', 'w')}") from None
