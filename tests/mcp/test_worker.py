"""An agent inside a worker: its socket says who it is, and what it may do is bounded by code."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from llmc.agents.delegation_tools import BRIDGE
from llmc.model import Session, Work
from testing.mcp_client import Tools, over_stdio, server_words
from testing.story import Story, script


@asynccontextmanager
async def from_inside(story: Story, name: str) -> AsyncIterator[Tools]:
    """As the CLI of this worker starts it."""
    directory = Path(story.root.settings_dir(name))
    (directory / "tools.py").write_text(BRIDGE)
    async with over_stdio([sys.executable, "-I", "-S", str(directory / "tools.py")]) as tools:
        yield tools


def supervised(story: Story, **settings: str) -> None:
    """`boss` and `deputy` are supervisors, `ann` and `ben` are not."""
    story.begin("boss", "deputy", "ann", "ben", **settings)
    for name in ("boss", "deputy"):
        story.llmc("config", "set", f"workers.{name}.role", "supervisor")
        story.llmc("config", "set", f"workers.{name}.excluded_from_pool", "true")
    story.up()
    for name in ("boss", "deputy", "ann", "ben"):
        story.wait(name, session=Session.UP)


@pytest.mark.lesson(58, "whoever supervises waits without a model call, and the number of tasks is bounded by code")
def test_what_an_agent_delegates_is_bounded(story: Story) -> None:
    supervised(story, mcp__max_tasks="2")
    story.task("boss", "ask Shall I go on?")
    story.task("deputy", "ask Shall I go on?")
    story.llmc("task", "add", "of the person", "--hold")
    theirs = story.json("task", "list", "--all")["tasks"][-1]["id"]

    async def session() -> None:
        async with from_inside(story, "boss") as tools:
            names = await tools.names()
            assert {"delegate", "wait", "reject"} <= set(names)
            assert not {"accept", "answer"} & set(names)
            first = (await tools.call("delegate", text="ask", worker="deputy", request_id="1"))["id"]
            second = (await tools.call("delegate", text=script("ask And now?"), worker="ann"))["id"]
            assert "mcp.max_tasks" in await tools.refused("delegate", text="a third")
            assert await tools.call("delegate", text="ask", worker="deputy", request_id="1") == {"id": first}
            for name, arguments in (
                ("accept", {"worker": "ann"}),
                ("answer", {"worker": "ann", "choice": "yes", "dialog": "x"}),
                ("delegate", {"text": "x", "worker": "boss"}),
                ("delegate", {"text": "x", "auto_accept": True}),
                ("message", {"worker": "boss", "text": "x"}),
                ("reject", {"worker": "boss", "text": "x"}),
                ("interrupt", {"worker": "boss"}),
                ("cancel", {"id": theirs}),
            ):
                await tools.refused(name, **arguments)
            assert (await tools.call("cancel", id=first))["state"] == "cancelled"
            tasks = {each["id"]: each for each in story.json("task", "list", "--all")["tasks"]}
            mine = story.worker("boss").task
            assert [(tasks[each]["parent"], tasks[each]["asked_by"]) for each in (first, second)] == [
                (mine, "boss")
            ] * 2

    asyncio.run(session())
    assert {each.data["asked_by"] for each in story.events(signal_name="mcp")} == {"boss"}

    # What was delegated is not delegated further, whoever has it.
    async def deeper() -> None:
        async with over_stdio(
            server_words(story.root.path, "--worker", "deputy", "--allow", "delegate,accept")
        ) as tools:
            assert await tools.names() == ["delegate", "cancel"]
            delegated = [each["id"] for each in story.json("task", "list", "--all")["tasks"] if each["asked_by"]]
            story.rewrite("deputy", task=delegated[0])
            assert "mcp.max_depth" in await tools.refused("delegate", text="deeper")

    asyncio.run(deeper())


def test_delegated_work_does_not_land_unseen(story: Story) -> None:
    supervised(story, policy__auto_accept="true", repo__validate='["true"]')

    async def session() -> str:
        async with from_inside(story, "boss") as tools:
            text = script("write unseen.txt x", "commit Land unseen")
            task = (await tools.call("delegate", text=text, worker="ann"))["id"]
            assert (await tools.call("wait", id=task, secs=40))["state"] == "review"
            return str(task)

    task = asyncio.run(session())
    story.task("ben", "write seen.txt x", "commit Land by itself")
    story.until(lambda: "Land by itself" in story.subjects())
    assert story.worker("ann").work is Work.NEEDS_REVIEW
    assert story.json("task", "show", task)["state"] == "review"
    story.llmc("config", "set", "mcp.auto_accept", "true")
    story.until(lambda: "Land unseen" in story.subjects())


def test_whoever_is_no_supervisor_has_no_socket(story: Story) -> None:
    supervised(story)
    assert os.path.exists(story.root.tools_socket("boss"))
    assert not os.path.exists(story.root.tools_socket("ann"))
    story.llmc("config", "set", "workers.ann.role", "supervisor")
    story.until(lambda: os.path.exists(story.root.tools_socket("ann")))
    story.llmc("config", "set", "workers.boss.role", "")
    story.until(lambda: not os.path.exists(story.root.tools_socket("boss")))
    story.llmc("nuke", "ann", "--yes")
    story.until(lambda: not os.path.exists(story.root.tools_socket("ann")))
    story.llmc("down")
    assert not os.path.exists(story.root.tools_socket("deputy"))
