"""The tools of `llmc mcp` with the SDK's own client: a session with agents, what is refused, and what is broken."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from llmc.app import open_site
from llmc.mcp.desk import Desk
from llmc.mcp.server import client_of, make_server
from llmc.model import Session
from llmc.root import Root
from testing.mcp_client import ALL, Tools, raw_call, raw_session, server_words, tools_of
from testing.roots import add_worker, make_repository, make_root, own_environment
from testing.story import LLMC, Story, script

TOOLS = {
    "read": ["board", "worker", "read_terminal", "wait", "result", "events"],
    "delegate": ["delegate", "cancel"],
    "message": ["message", "interrupt"],
    "answer": ["answer"],
    "review": ["review", "comment", "reject"],
    "accept": ["accept"],
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Root]:
    """A root with a worker whose agent does not run."""
    place = tmp_path_factory.mktemp("mcp")
    with own_environment(place / "home"):
        root = make_root(place / "llmc", make_repository(place / "repository"))
        add_worker(root, "adam")
        yield root


@pytest.mark.lesson(59, "a delegation answers its id at once, is waited for with a bound, and its result is kept")
def test_a_client_sees_a_task_through(story: Story) -> None:
    story.begin("adam").up()
    story.wait("adam", session=Session.UP)

    async def session() -> None:
        async with tools_of(story.root.path) as tools:
            text = script("write colleague.txt hello", "commit Add a colleague", "say It is there.")
            task = (await tools.call("delegate", text=text, title="A colleague", request_id="one"))["id"]
            assert (await tools.call("delegate", text=text, request_id="one"))["id"] == task
            came = await tools.call("wait", id=task, secs=40)
            assert (came["state"], came["worker"], came["over"]) == ("review", "adam", True)
            assert any(words.startswith(f"{task} is ") for words in tools.told)
            assert "data" in came["note"]

            result = await tools.call("result", id=task)
            assert "+hello" in result["diff"]
            assert result["files"][0]["path"] == "colleague.txt"
            assert result["commit"] == story.worker("adam").commit_sha
            assert (await tools.call("worker", worker="adam"))["task"] == task
            assert (await tools.call("board"))["columns"][1]["keys"] == ["worker/adam"]
            assert (await tools.call("read_terminal", worker="adam", lines=3))["worker"] == "adam"

            work = await tools.call("review", worker="adam")
            assert story.worker("adam").reviewed is None, "an agent's look is no person's review"
            said = await tools.call("comment", worker="adam", path="colleague.txt", line=1, text="more words")
            assert (said["quoted"], said["open"]) == (["hello"], 1)
            back = await tools.call(
                "reject", worker="adam", text=script("write colleague.txt more", "commit More", "say It was more.")
            )
            assert back["outcome"] == "delivered"
            assert (await tools.call("wait", id=task, secs=40))["state"] == "review"

            assert "tree" in await tools.refused("accept", worker="adam", tree=work["tree"])
            tree = (await tools.call("review", worker="adam"))["tree"]
            landed = await tools.call("accept", worker="adam", tree=tree)
            assert (await tools.call("wait", id=task, secs=40, known="review"))["state"] == "landed"
            result = await tools.call("result", id=task)
            assert (result["landed_sha"], "+more" in result["diff"]) == (landed["commit"], True)
            assert result["last_words"] == "It was more."

            log = await tools.call("events", since=0)
            asked = [each["detail"] for each in log["events"] if each["kind"] == "mcp"]
            assert [words.split(" asks: ")[1].split()[0] for words in asked] == [
                *("delegate", "delegate", "comment", "reject", "accept", "accept")
            ]
            last = log["events"][-1]["id"]
            assert (await tools.call("events", since=last))["events"] == []
            diff = await tools.client.read_resource(f"llmc://tasks/{task}/diff")
            assert "+more" in diff.contents[0].text  # type: ignore[union-attr]
            assert [each.uri for each in (await tools.client.list_resources()).resources] == ["llmc://events"]

    asyncio.run(session())
    assert story.subjects()[-1] == "Add a colleague"


def test_only_what_is_allowed_is_there(root: Root) -> None:
    async def listed(allow: str) -> list[str]:
        async with Client(make_server(Desk(root, tuple(allow.split(","))), client_of)) as client:
            tools = Tools(client)
            if "accept" not in allow:
                assert "not allowed" in await tools.refused("accept", worker="adam")
            if "read" not in allow:
                with pytest.raises(MCPError):
                    await tools.client.read_resource("llmc://events")
            return await tools.names()

    for kind, names in TOOLS.items():
        assert asyncio.run(listed(kind)) == names
    assert asyncio.run(listed(ALL)) == [name for names in TOOLS.values() for name in names]
    done = subprocess.run(server_words(root.path, "--allow", "read,everything"), capture_output=True, timeout=60)
    assert (done.returncode, b"everything" in done.stderr) == (2, True)


TEN_MEGABYTES = "x" * 10_000_000
BAD: list[tuple[str, dict[str, Any]]] = [
    ("bogus", {}),
    ("delegat", {"text": "x"}),
    ("delegate", {}),
    ("delegate", {"text": 7}),
    ("delegate", {"text": ""}),
    ("delegate", {"text": "x\0y"}),
    ("delegate", {"text": "x", "after": "t1"}),
    ("delegate", {"text": "x", "after": ["t999"]}),
    ("delegate", {"text": "x", "worker": "nobody"}),
    ("delegate", {"text": "x", "worker": "--root=/tmp"}),
    ("delegate", {"text": "x", "agent": "nothing"}),
    ("delegate", {"text": "x", "priority": 10**8}),
    ("delegate", {"text": "x", "auto_accept": True}),
    ("delegate", {"text": "x", "request_id": "r" * 1000}),
    ("delegate", {"text": TEN_MEGABYTES}),
    ("delegate", {"text": "x", "title": TEN_MEGABYTES}),
    ("delegate", {"text": "x", "worker": TEN_MEGABYTES}),
    ("delegate", {"text": "x", "agent": TEN_MEGABYTES}),
    ("delegate", {"text": "x", "after": ["t1"] * 100_000}),
    ("delegate", {"text": "x", "after": [TEN_MEGABYTES]}),
    ("delegate", {"text": "\x1b[31mred"}),
    ("delegate", {"text": None}),
    ("delegate", {"text": {"deep": [[[]]]}}),
    ("delegate", {"text": "x", "priority": 1.5}),
    ("delegate", {"text": "x", "priority": True}),
    ("message", {"worker": "adam", "text": TEN_MEGABYTES}),
    ("message", {"worker": "nobody", "text": "x"}),
    ("message", {"worker": ["adam"], "text": "x"}),
    ("comment", {"worker": "adam", "path": "../../../etc/passwd", "line": 1, "text": "x"}),
    ("comment", {"worker": "adam", "path": "/etc/passwd", "line": 1, "text": "x"}),
    ("comment", {"worker": "adam", "path": "README", "line": "one", "text": "x"}),
    ("comment", {"worker": "adam", "path": TEN_MEGABYTES, "line": 1, "text": "x"}),
    ("comment", {"worker": "adam", "path": "--list", "line": 1, "text": "x"}),
    ("comment", {"worker": "adam", "path": "README", "line": -1, "text": "x"}),
    ("reject", {"worker": "adam"}),
    ("accept", {"worker": "adam"}),
    ("accept", {"worker": "adam", "tree": "--changed"}),
    ("answer", {"worker": "adam", "choice": "yes", "dialog": "none"}),
    ("answer", {"worker": "adam", "choice": TEN_MEGABYTES, "dialog": "none"}),
    ("answer", {"worker": "adam", "choice": "yes", "dialog": ""}),
    ("cancel", {"id": "t999"}),
    ("cancel", {"id": "--all"}),
    ("wait", {"id": "t999", "secs": 1}),
    ("wait", {"id": "t1", "secs": -1}),
    ("wait", {"id": "t1", "secs": 1e8}),
    ("wait", {"id": "t1", "known": "nowhere"}),
    ("result", {"id": "t1; rm"}),
    ("result", {"id": TEN_MEGABYTES}),
    ("result", {"id": "--all"}),
    ("read_terminal", {"worker": "adam", "lines": 0}),
    ("read_terminal", {"worker": "adam", "lines": -1}),
    ("events", {"since": "yesterday"}),
    ("events", {"since": -1}),
]


def test_bad_input_is_answered_and_changes_nothing(root: Root) -> None:
    before = all_there_is(root)

    async def session() -> None:
        async with tools_of(root.path) as tools:
            for name, arguments in BAD:
                said = await tools.refused(name, **arguments)
                assert len(said) < 2500, name
                assert "bug" not in said, said
            for address in ("llmc://nothing", "llmc://workers/nobody/diff", "file:///etc/passwd"):
                with pytest.raises(MCPError):
                    await tools.client.read_resource(address)
            assert await tools.call("board")

    asyncio.run(session())
    assert all_there_is(root) == before
    assert max(len(each.detail) for each in open_site(root).ledger.events.recent()) < 2500


def all_there_is(root: Root) -> tuple[object, ...]:
    site = open_site(root)
    return site.ledger.tasks.all(), site.ledger.load(), site.git.text(site.config.repo.source, "show-ref")


def test_nothing_is_delegated_twice_by_a_server_that_is_killed(root: Root) -> None:
    """At any moment: before the task is written, right after, and before the answer is out."""
    before = len(open_site(root).ledger.tasks.all())
    for number in range(4):
        arguments = {"text": "noted", "worker": "adam", "request_id": f"killed-{number}"}
        call = raw_call(2, "tools/call", {"name": "delegate", "arguments": arguments})
        with subprocess.Popen(
            server_words(root.path), stdin=subprocess.PIPE, stdout=subprocess.PIPE, process_group=0
        ) as server:
            assert server.stdin is not None
            assert server.stdout is not None
            server.stdin.write(raw_session())
            server.stdin.flush()
            server.stdout.readline()
            server.stdin.write(call)
            server.stdin.flush()
            if number % 2:
                server.stdout.readline()
            os.killpg(server.pid, signal.SIGKILL)

        async def again(arguments: dict[str, Any] = arguments) -> None:
            async with tools_of(root.path) as tools:
                task = await tools.call("delegate", **arguments)
                assert await tools.call("delegate", **arguments) == task

        asyncio.run(again())
    assert len(open_site(root).ledger.tasks.all()) == before + 4


@pytest.mark.lesson(59, "a delegation answers its id at once, is waited for with a bound, and its result is kept")
def test_a_wait_goes_on_after_the_clients_time_out(root: Root) -> None:
    async def session() -> None:
        async with tools_of(root.path) as tools:
            task = (await tools.call("delegate", text="later", worker="adam"))["id"]
            await asyncio.to_thread(llmc, root, "task", "hold", task)
            with pytest.raises(MCPError, match=r"[Tt]imed out"):
                await tools.client.call_tool(
                    "wait", {"id": task, "secs": 600, "known": "held"}, read_timeout_seconds=0.5
                )
            waiting = asyncio.create_task(tools.call("wait", id=task, secs=40, known="held"))
            await asyncio.sleep(0)
            await asyncio.to_thread(llmc, root, "task", "cancel", task)
            assert (await waiting)["state"] == "cancelled"
            assert (await tools.call("wait", id=task, secs=0, known="cancelled"))["over"] is False

    asyncio.run(session())


def llmc(root: Root, *words: str) -> None:
    subprocess.run([*LLMC, "--root", root.path, *words], check=True, capture_output=True, timeout=60)


def test_a_directory_that_is_no_root_is_told_at_once(tmp_path: Path) -> None:
    done = subprocess.run(server_words(str(tmp_path)), capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (1, "")
    assert "hint: " in done.stderr
