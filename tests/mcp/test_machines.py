"""A client of a hub: its tools reach the workers of machines, too."""

from __future__ import annotations

import asyncio

from llmc.agents.delegation_tools import bridge_to
from testing.machines_here import add_machine, wait_for, worker
from testing.mcp_client import over_stdio, tools_of
from testing.story import Story, script

WORK = script("write there.txt one", "commit Add it there", "say It is there.")


def with_a_machine(story: Story, *names: str) -> str:
    """The settings directory of the first one's agent there."""
    story.begin("here", policy__auto_accept="true", repo__validate='["true"]')
    there = add_machine(story, "box")
    story.up()
    for name in names:
        story.llmc("add", name, "--agent", "demo", "--machine", "box")
        wait_for(story, name, status="idle", machine="box")
    return there.settings_dir(names[0])


def test_a_task_is_delegated_to_a_machine_and_seen_through(story: Story) -> None:
    with_a_machine(story, "adam")

    async def session() -> None:
        async with tools_of(story.root.path, "read,delegate,message,review") as tools:
            task = (await tools.call("delegate", text=WORK, worker="adam"))["id"]
            came = await tools.call("wait", id=task, secs=120)
            while came["state"] != "landed":  # a person's client has asked, and the settings allow it
                came = await tools.call("wait", id=task, secs=120, known=came["state"])
                assert came["over"], came
            assert "+one" in (await tools.call("result", id=task))["diff"]
            assert (await tools.call("message", worker="adam", text="hello"))["outcome"] == "delivered"
            assert (await tools.call("read_terminal", worker="adam"))["lines"]

    asyncio.run(session())


def test_what_is_delegated_on_a_machine_does_not_land_unseen(story: Story) -> None:
    """Its task is one of the machine's own, of which the hub knows nothing."""
    directory = with_a_machine(story, "boss", "adam")
    there = directory.partition("/run/agents/")[0]
    story.llmc("--root", there, "config", "set", "workers.boss.role", "supervisor")

    async def session() -> None:
        async with over_stdio(bridge_to(directory)) as tools:
            task = (await tools.call("delegate", text=WORK, worker="adam"))["id"]
            assert (await tools.call("wait", id=task, secs=120))["state"] == "review"

    asyncio.run(session())
    wait_for(story, "adam", status="needs_review")
    story.task("here", "write seen.txt x", "commit Land by itself")
    story.until(lambda: "Land by itself" in story.subjects())
    story.until(lambda: any("does not land unseen" in each.detail for each in story.events("adam")))
    assert worker(story, "adam")["status"] == "needs_review"
    assert "Add it there" not in story.subjects()
