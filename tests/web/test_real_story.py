"""The story of the pages once on the real Claude Code: a real permission, a real diff, a real round of review."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

import pytest

from llmc.root import Root
from testing.browser import CHROMIUM, DESKTOP, a_browser, a_server, a_visitor
from testing.browser_steps import (
    accept,
    answer_from_card,
    give_task,
    look_at_what_changed,
    look_at_worker,
    send_back_with_two_comments,
)
from testing.models.steps import Run, Step, Text
from testing.real_agents import LLMC, AgentMachine, AgentRoot, agents, make_empty_root
from testing.real_agents import agent_machine as agent_machine
from testing.real_agents import real_agent as real_agent

FIRST = ["one()", "two()", "three()"]
REWORKED = ["one()", "both()", "three()"]


def author(prompt: str) -> Sequence[Step]:
    if "is sent back" in prompt:
        return [Run(f"{_write(REWORKED)} && git commit --quiet --all --amend --no-edit"), Text("Reworked.")]
    return [Run(f"{_write(FIRST)} && git add app.py && git commit --quiet -m 'Add the app'"), Text("The app is there.")]


def _write(lines: list[str]) -> str:
    return f"printf '%s\\n' {shlex.join(lines)} > app.py"


@pytest.mark.timeout(500)
@agents("claude")
def test_the_story_on_claude_code(agent_machine: AgentMachine, tmp_path: Path) -> None:
    root = _root(agent_machine, tmp_path)
    root.models.answer_with(author)
    entering = agent_machine.namespace.entering()
    env = {**agent_machine.env, "LLMC_ROOT": str(root.root)}
    server = a_server(Root(str(root.root)), [*entering, str(LLMC)], env)
    browser = a_browser(_chromium_inside(entering, tmp_path))
    with server as web, browser as chromium, a_visitor(chromium, web.address, DESKTOP) as visitor:
        page = visitor.open("/login")
        give_task(page, "Write the app.")
        answer_from_card(page, "git commit", "Yes")
        look_at_worker(page, "w", "The app is there.")
        send_back_with_two_comments(page, "app.py", "Once more, please.")
        page.goto(web.url)
        answer_from_card(page, "both()", "Yes")
        page.locator("#column-review").get_by_role("link", name="Review").click()
        page.locator(".file").wait_for()
        look_at_what_changed(page, "app.py", "both()", offered=False)
        accept(page, "w")
        visitor.check()
    landed = agent_machine.namespace.run(["git", "show", "main:app.py"], env=env, cwd=str(root.source))
    assert landed.text.split() == REWORKED


def _root(machine: AgentMachine, where: Path) -> AgentRoot:
    made = make_empty_root(machine, where)
    made.done("config", "set", "defaults.skip_permissions", "false")
    made.done("add", "w", "--agent", "claude")
    machine.accept(made.root)
    machine.accept(made.worktree)
    made.done("up", "--detach")
    return made


def _chromium_inside(entering: Sequence[str], where: Path) -> str:
    """Where the agent and the server are: nothing else is reached from there."""
    program = where / "chromium"
    program.write_text(f'#!/bin/sh\nexec {shlex.join([*entering, CHROMIUM])} "$@"\n')
    program.chmod(0o755)
    return str(program)
