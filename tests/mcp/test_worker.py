"""An agent inside a worker: its socket says who it is, and what it may do is bounded by code."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from llmc.agents.delegation_tools import bridge_to
from llmc.daemon.worker_sockets import WorkerSockets
from llmc.model import Session, Work
from llmc.store.config_file import set_worker_table
from testing.mcp_client import Tools, over_stdio, raw_call, raw_session, server_words
from testing.roots import add_worker, make_repository, make_root, own_environment
from testing.story import Story, script


@asynccontextmanager
async def from_inside(story: Story, name: str) -> AsyncIterator[Tools]:
    """As the CLI of this worker starts it."""
    async with over_stdio(bridge_to(story.root.settings_dir(name))) as tools:
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


@pytest.mark.lesson(58, "supervision costs no tokens, and budgets are kept by code")
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
    story.until(lambda: story.worker("ann").work is Work.NEEDS_REVIEW)  # it is rebased onto what has landed
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


@pytest.mark.lesson(58, "supervision costs no tokens, and budgets are kept by code")
def test_a_connection_outlives_the_role_but_not_what_it_allowed(story: Story) -> None:
    story.begin("boss", "ann")
    story.llmc("config", "set", "workers.boss.role", "supervisor")
    story.up()
    story.until(lambda: os.path.exists(story.root.tools_socket("boss")))

    async def session() -> None:
        async with from_inside(story, "boss") as tools:
            assert await tools.call("board")
            await asyncio.to_thread(story.llmc, "config", "set", "workers.boss.role", "")
            for name, arguments in (
                ("delegate", {"text": "x"}),
                ("message", {"worker": "ann", "text": "x"}),
                ("board", {}),
            ):
                assert "boss is no supervisor any more" in await tools.refused(name, **arguments)
            with pytest.raises(MCPError, match="no supervisor"):
                await tools.client.read_resource("llmc://events")

    asyncio.run(session())
    assert story.json("task", "list", "--all")["tasks"] == []


def test_a_deep_root_has_its_sockets_too(tmp_path: Path) -> None:
    """The system takes 107 bytes of a path: the server binds in the directory, and the client connects there."""
    place = tmp_path
    for number in range(4):
        place = place / (f"{number}" * 60)
    complaints: list[tuple[str, str]] = []
    with own_environment(tmp_path / "home"):
        root = make_root(place / "llmc", make_repository(tmp_path / "repository"))
        add_worker(root, "boss")
        set_worker_table(root.config_file, "boss", agent="demo", role="supervisor")
        assert len(root.tools_socket("boss")) > 300
        sockets = WorkerSockets(root, lambda name, text: complaints.append((name, text)))
        try:
            sockets.follow({"boss"})

            async def session() -> None:
                async with over_stdio(bridge_to(root.settings_dir("boss"))) as tools:
                    assert (await tools.call("board"))["head"]["root"] == root.path

            asyncio.run(session())
        finally:
            sockets.close()
        assert not os.path.lexists(root.tools_socket("boss"))
    assert complaints == []


FROM_FENCE = """
import json, os, socket, subprocess, sys
own, other, *bridge = sys.argv[1:]
found = {}
for name, path in (("own", own), ("other", other)):
    try:
        os.chdir(os.path.dirname(path))
        with socket.socket(socket.AF_UNIX) as tools:
            tools.connect(os.path.basename(path))
        found[name] = "reached"
    except OSError as refused:
        found[name] = type(refused).__name__
lines = sys.stdin.buffer.read()
said = subprocess.run(bridge, input=lines, capture_output=True).stdout
found["said"] = [json.loads(line) for line in said.splitlines()]
print(json.dumps(found))
"""


def test_behind_the_fence_there_is_the_own_socket_and_no_other(story: Story) -> None:
    story.begin(sandbox__mode="bwrap")
    for name in ("boss", "deputy"):
        story.llmc("add", name, "--agent", "shell")
        story.llmc("config", "set", f"workers.{name}.role", "supervisor")
        story.llmc("config", "set", f"workers.{name}.excluded_from_pool", "true")
    story.up()
    story.wait("boss", session=Session.UP)
    root, worktree = story.root, Path(story.worker("boss").worktree_path)
    story.until(lambda: all(os.path.exists(root.tools_socket(name)) for name in ("boss", "deputy")))
    worktree.joinpath("try.py").write_text(FROM_FENCE)
    calls = [
        ("delegate", {"text": "by the fenced", "worker": "deputy", "request_id": "f"}),
        ("accept", {"worker": "deputy"}),
    ]
    lines = [raw_call(n, "tools/call", {"name": name, "arguments": given}) for n, (name, given) in enumerate(calls, 2)]
    worktree.joinpath("lines").write_bytes(raw_session(*lines))
    words = [
        sys.executable,
        "try.py",
        root.tools_socket("boss"),
        root.tools_socket("deputy"),
        *bridge_to(root.settings_dir("boss")),
    ]
    story.llmc("message", "boss", f"{shlex.join(words)} <lines >said && mv said results")
    story.until((worktree / "results").exists)
    found = json.loads((worktree / "results").read_text())
    assert (found["own"], found["other"]) == ("reached", "FileNotFoundError")
    answers = {each["id"]: each["result"] for each in found["said"]}
    task = story.json("task", "show", answers[2]["structuredContent"]["id"])
    assert (task["asked_by"], task["text"]) == ("boss", "by the fenced")
    assert answers[3]["isError"]


def test_a_server_that_is_killed_is_followed_by_another(story: Story) -> None:
    """Under a client that goes on: what had no answer is told so, and nothing is done twice."""
    supervised(story)

    async def session() -> None:
        async with from_inside(story, "boss") as tools:
            task = await tools.call("delegate", text="x", worker="ann", request_id="r")
            came = await tools.call("wait", **task, secs=120)
            tools.told.clear()
            waiting = asyncio.create_task(tools.call("wait", **task, secs=600, known=came["state"]))
            while not tools.told:  # the server has it
                await asyncio.sleep(0.02)
            for _ in range(2):
                for pid in await asyncio.to_thread(servers_of, story, "boss"):
                    os.kill(pid, signal.SIGKILL)
                assert await in_the_end(tools, text="x", worker="ann", request_id="r") == task
            with pytest.raises(MCPError, match="nobody knows whether it was done"):
                await waiting

    asyncio.run(session())
    assert len(story.json("task", "list", "--all")["tasks"]) == 1


def test_a_late_greeting_is_not_repeated_to_a_new_server(story: Story) -> None:
    """Claude Code 2.1 begins without one, and greets when the first answer is late. The server refuses that."""
    supervised(story)
    envelope = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    with subprocess.Popen(
        bridge_to(story.root.settings_dir("boss")), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as bridge:
        assert bridge.stdin is not None
        assert bridge.stdout is not None

        def asked(number: int) -> dict[str, Any]:
            assert bridge.stdin is not None
            assert bridge.stdout is not None
            bridge.stdin.write(raw_call(number, "tools/list", {"_meta": envelope}))
            bridge.stdin.flush()
            found: dict[str, Any] = json.loads(bridge.stdout.readline())
            assert found["id"] == number
            return found

        assert "result" in asked(1)
        bridge.stdin.write(raw_call(2, "initialize", {}))
        bridge.stdin.flush()
        assert "error" in json.loads(bridge.stdout.readline())
        for pid in servers_of(story, "boss"):
            os.kill(pid, signal.SIGKILL)
        numbers = iter(range(3, 100))
        story.until(lambda: "result" in asked(next(numbers)))
        bridge.stdin.close()
        assert bridge.wait(60) == 0


async def in_the_end(tools: Tools, **arguments: object) -> object:
    """What was on its way to the server that died is asked for again."""
    while True:
        try:
            return await tools.call("delegate", **arguments)
        except MCPError as lost:
            if "nobody knows" not in str(lost):
                raise


def servers_of(story: Story, name: str) -> list[int]:
    words = ["--root", story.root.path, "mcp", f"--worker={name}"]
    argv = {each: Path(f"/proc/{each}/cmdline") for each in map(int, filter(str.isdecimal, os.listdir("/proc")))}
    found = []
    for pid, path in argv.items():
        with suppress(OSError):
            if path.read_text().split("\0")[-5:-1] == words:
                found.append(pid)
    assert found, "nobody serves it"
    return found
