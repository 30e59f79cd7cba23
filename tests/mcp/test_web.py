"""The tools at `/mcp` of `llmc web`, with the SDK's client and with the inspector's command line."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from llmc.root import Root
from testing.mcp_client import Tools, server_words
from testing.real_agents import PROGRAMS, not_here
from testing.roots import add_worker, make_repository, make_root, own_environment
from testing.served import Served, serving

LISTED = ["board", "worker", "read_terminal", "wait", "result", "events", "delegate", "cancel", "message", "interrupt"]
INSPECTOR = PROGRAMS[0] / "mcp-inspector"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Root]:
    place = tmp_path_factory.mktemp("web")
    with own_environment(place / "home"):
        root = make_root(place / "llmc", make_repository(place / "repository"))
        add_worker(root, "adam")
        yield root


@pytest.fixture(scope="module")
def served(root: Root) -> Iterator[Served]:
    with serving(root) as served:
        yield served


@asynccontextmanager
async def tools_at(served: Served) -> AsyncIterator[Tools]:
    async with (
        create_mcp_http_client(headers=served.bearer) as http,
        Client(streamable_http_client(f"{served.url}mcp", http_client=http)) as client,
    ):
        yield Tools(client)


async def names_at(served: Served) -> list[str]:
    async with tools_at(served) as tools:
        return await tools.names()


def test_the_tools_are_served_to_whoever_has_the_token(served: Served) -> None:
    async def session() -> None:
        async with tools_at(served) as tools:
            assert await tools.names() == LISTED
            task = (await tools.call("delegate", text="by the web", worker="adam", request_id="w"))["id"]
            assert await tools.call("delegate", text="by the web", worker="adam", request_id="w") == {"id": task}
            assert (await tools.call("wait", id=task, secs=0.3))["state"] == "queued"
            assert tools.told == [f"{task} is queued"]
            assert "more than" in await tools.refused("delegate", text="x" * 10_000_000)
            assert "not allowed" in await tools.refused("accept", worker="adam")
            log = await tools.call("events")
            assert "an MCP client at 127.0.0.1 asks: delegate" in log["events"][-1]["detail"]

    asyncio.run(session())


def test_nobody_else_gets_in(served: Served) -> None:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    accept = {"Accept": "application/json, text/event-stream"}
    assert served.ask("POST", "/mcp", call, {}).status == 401
    assert served.ask("GET", "/mcp", None, {}).status == 401
    assert served.ask("POST", "/mcp", call, Host="evil.example", **accept).status == 403
    assert served.ask("POST", "/mcp", call, Origin="https://evil.example", **accept).status == 403
    cookie = {name: value for name, value in served.log_in().items() if name == "Cookie"}
    assert served.ask("POST", "/mcp", call, cookie, **accept).status == 403, "a page needs its secret"
    too_long = served.bearer | {"Content-Length": str(100 << 20), "Content-Type": "application/json"}
    refused = served.ask("POST", "/mcp", None, too_long)
    assert (refused.status, refused.data["hint"]) == (413, f"send at most {16 << 20} bytes")
    batch: list[bytes] = [b"{not json", b"\xff\0", b"[" * 100_000, json.dumps([call, call]).encode()]
    assert [served.ask("POST", "/mcp", body, **accept).status for body in batch] == [400] * 4
    assert served.ask("POST", "/mcp", b"x", **accept, **{"Content-Type": "text/plain"}).status == 415
    assert served.ask("PUT", "/mcp", b"{}", **accept).status == 405
    assert served.ask("GET", "/api/v1/status").status == 200


# --- the inspector ----------------------------------------------------------------------------------


def inspected(*words: str, code: int = 0) -> Any:
    if not INSPECTOR.exists():
        not_here("the MCP inspector is not installed: run `make agents`")
    env = {**os.environ, "PATH": f"{PROGRAMS[0]}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run([INSPECTOR, "--cli", *words], env=env, capture_output=True, text=True, timeout=100)
    assert done.returncode == code, done.stdout + done.stderr
    return json.loads(done.stdout)


def test_the_inspector_lists_and_calls(root: Root, served: Served) -> None:
    """Over both ways, and what was asked for by one is known by the other."""
    server = server_words(root.path, "--allow", "read,delegate,accept")
    listed = inspected(*server, "--method", "tools/list", "--strict")
    assert [tool["name"] for tool in listed["tools"]] == [*LISTED[:8], "accept"]
    address = [f"{served.url}mcp", "--header", f"Authorization: Bearer {served.token}"]
    arguments = ["--tool-arg", "text=by the inspector", "request_id=i"]
    ids = set()
    for way in (server, address):
        called = inspected(*way, "--method", "tools/call", "--tool-name", "delegate", *arguments)
        ids.add(called["structuredContent"]["id"])
    assert len(ids) == 1
    refused = inspected(*address, "--method", "tools/call", "--tool-name", "result", "--tool-arg", "id=t999", code=5)
    assert "there is no task" in json.dumps(refused)


def test_a_server_that_only_shows_offers_what_only_reads(root: Root, served: Served) -> None:
    served.end()
    with serving(root, "--read-only") as shown:
        assert asyncio.run(names_at(shown)) == LISTED[:6]
