"""A whole story on the real CLIs: a task, a rejection, a conflict with somebody else's work, one clean commit."""

from __future__ import annotations

import itertools
import json
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from testing.models.steps import Run, Step, Text
from testing.real_agents import AGENTS, AgentMachine, AgentRoot, make_agent_root
from testing.real_agents import agent_machine as agent_machine
from testing.real_agents import real_agent as real_agent
from testing.waiting import wait_until

PATIENCE_SECS = 150.0
TASK = "Say in the README what comes second."
FEEDBACK = "Say it louder, please."
FIRST_TRY, REWORKED = "two, as the task wants", "TWO, AS THE TASK WANTS"
OTHERS, BOTH, BOTH_REWORKED = "two for everybody", "two for everybody, as the task wants", "TWO FOR EVERYBODY"
OTHERS_TASK = f"""\
Say for whom the second line is.

demo:replace README two => {OTHERS}
demo:commit Say for whom the second line is
"""
AUTHOR = "Pat Maker <pat@example.com>"
MESSAGE = "Say what comes second\n\nNobody could know.\n\n- Say it louder"
CREDITS = {
    "claude": (
        "🤖 Generated with [Claude Code](https://claude.com/claude-code)",
        "Co-Authored-By: Claude <noreply@anthropic.com>",
    ),
    "codex": ("Co-authored-by: Codex <noreply@openai.com>",),
}
"""What the CLIs are told to write under every commit."""
WHAT_BECAME_OF_IT = "working > needs_review > rejected > needs_review > rebasing > needs_review > idle"
WORTH_A_STORY = [pytest.param(agent, id=agent.name) for agent in AGENTS if agent.name in CREDITS]


class Author:
    """The model: it writes as it is asked, and goes about a conflict when it may."""

    def __init__(self, agent: str, go: Path) -> None:
        self.credits = CREDITS[agent]
        self.go = go

    def __call__(self, prompt: str) -> Sequence[Step]:
        if "is being rebased onto" in prompt:
            wait = Run(f"until test -e {shlex.quote(str(self.go))}; do sleep 0.1; done")
            return [wait, _resolve(BOTH), _resolve(BOTH_REWORKED), Text("Both are in.")]
        if "is sent back" in prompt:
            return [self._commit(REWORKED, "Say it louder"), Text("Louder now.")]
        return [self._commit(FIRST_TRY, "Say what comes second", "Nobody could know."), Text("Done.")]

    def _commit(self, line: str, *message: str) -> Run:
        paragraphs = " ".join(f"-m {shlex.quote(part)}" for part in (*message, *self.credits))
        return Run(f"{_write(line)} && git commit --quiet --all --author={shlex.quote(AUTHOR)} {paragraphs}")


def _write(line: str) -> str:
    return f"printf '%s\\n' one {shlex.quote(line)} three > README"


def _resolve(line: str) -> Run:
    return Run(f"{_write(line)} && git add README && git -c core.editor=true rebase --continue")


@pytest.mark.parametrize("real_agent", WORTH_A_STORY, indirect=True)
@pytest.mark.timeout(400)
def test_rejected_in_conflict_and_still_one_clean_commit(agent_machine: AgentMachine, tmp_path: Path) -> None:
    root, go = make_agent_root(agent_machine, tmp_path, accepted=True), tmp_path / "go"
    root.models.answer_with(Author(agent_machine.agent.name, go))
    first = _git(root.source, "rev-parse", "main")
    _does_its_task(root)
    _is_sent_back_and_does_it_again(root)
    _somebody_else_is_faster(root)
    _resolves_the_conflict(root, go)
    root.done("accept", "w")
    _landed_as_one_clean_commit_each(root, first)
    assert " > ".join(_works_of(root)) == WHAT_BECAME_OF_IT


def _does_its_task(root: AgentRoot) -> None:
    root.done("start", "--worker", "w", "--prompt", TASK)
    _wait_for_review(root, "w", FIRST_TRY)
    assert f"The task:\n\n{TASK}" in root.models.prompts()[0]


def _is_sent_back_and_does_it_again(root: AgentRoot) -> None:
    rejected = root.status()["commit_sha"]
    receipt = json.loads(root.done("reject", "w", FEEDBACK, "--json"))
    assert (receipt["outcome"], receipt["proof"]) == ("delivered", "hook")
    _wait_for_review(root, "w", REWORKED)
    assert root.status()["commit_sha"] != rejected
    _task, feedback = root.models.prompts()
    assert f"The feedback:\n\n{FEEDBACK}\n" in feedback
    assert f"\n-two\n+{FIRST_TRY}\n three\n```" in feedback
    _knows_of(root, TASK, FEEDBACK)


def _somebody_else_is_faster(root: AgentRoot) -> None:
    root.done("add", "other", "--agent", "demo")
    wait_until(lambda: root.status("other")["session"] == "up", PATIENCE_SECS)
    root.done("start", "--worker", "other", "--prompt", OTHERS_TASK)
    _wait_for_review(root, "other", OTHERS)
    root.done("accept", "other")


def _resolves_the_conflict(root: AgentRoot, go: Path) -> None:
    wait_until(lambda: len(root.models.prompts()) == 3, PATIENCE_SECS)
    worker = root.status()
    assert (worker["status"], worker["conflicted_files"]) == ("rebasing", ["README"])
    request = root.models.prompts()[2]
    assert f"The task that your work is for:\n\n> {TASK}\n" in request
    assert "- README: " in request
    for line in (OTHERS, FIRST_TRY, "Say for whom the second line is", "`git -c core.editor=true rebase --continue`"):
        assert line in request
    _knows_of(root, TASK, FEEDBACK, "is being rebased onto")
    go.touch()
    _wait_for_review(root, "w", BOTH_REWORKED)
    assert root.status()["conflicted_files"] == []
    assert len(root.models.prompts()) == 3, "nobody had to ask again"


def _landed_as_one_clean_commit_each(root: AgentRoot, first: str) -> None:
    others, made = _git(root.source, "rev-list", "--reverse", f"{first}..main").split()
    assert _git(root.source, "rev-parse", f"{made}^@", f"{others}^@").split() == [others, first]
    assert _git(root.source, "show", "--no-patch", "--format=%an <%ae>%n%B", made) == f"{AUTHOR}\n{MESSAGE}"
    assert _git(root.source, "show", "--no-patch", "--format=%B", others) == "Say for whom the second line is"
    assert (root.source / "README").read_text() == f"one\n{BOTH_REWORKED}\nthree\n"
    for place in (root.source, root.worktree):
        assert _git(place, "status", "--porcelain") == ""
    assert _git(root.worktree, "rev-parse", "HEAD") == made
    for name in ("w", "other"):
        worker = root.status(name)
        assert (worker["status"], worker["commit_sha"]) == ("idle", None)


def _wait_for_review(root: AgentRoot, name: str, line: str) -> None:
    """The worker's work waits for review, and this is what its README says."""
    worktree, branch = Path(root.status(name)["worktree_path"]), f"llmc/{name}"
    try:
        wait_until(lambda: line in _git(worktree, "show", f"{branch}:README"), PATIENCE_SECS)
        wait_until(lambda: root.status(name)["status"] == "needs_review", PATIENCE_SECS)
    except AssertionError as late:
        raise AssertionError(f"{late}\n{root.done('events', name)}\n{root.done('peek', name)}") from None
    assert (worktree / "README").read_text() == f"one\n{line}\nthree\n"
    assert _git(worktree, "symbolic-ref", "--short", "HEAD") == branch
    assert _git(worktree, "status", "--porcelain") == ""


def _knows_of(root: AgentRoot, *texts: str) -> None:
    """All of it is in the conversation that the model was last told."""
    last = [request for request in root.models.requests if not request.auxiliary][-1]
    told = "\n".join(turn.text for turn in last.turns)
    assert [text for text in texts if text not in told] == []


def _works_of(root: AgentRoot) -> list[str]:
    """What the work of `w` was, one after the other, since it was given its task."""
    events = json.loads(root.done("events", "w", "--json", "-n", "1000"))
    works = [event["work_after"] for event in events if event["work_after"]]
    return [work for work, _again in itertools.groupby(works[works.index("working") :])]


def _git(where: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", str(where), *words], check=True, capture_output=True, text=True).stdout.strip()
