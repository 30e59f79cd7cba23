"""Clients that break the protocol, ask for too much at once, or go away: nothing changes, and the server lives on."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from llmc.app import open_site
from llmc.commands.shared.delegating import delegate
from llmc.mcp.desk import MOST_COMMANDS
from llmc.root import Root
from testing.mcp_client import ALL, raw_call, raw_session, server_words
from testing.roots import add_worker, make_repository, make_root, own_environment
from testing.served import Served, serving
from testing.waiting import wait_until

PATIENCE_SECS = 60.0


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Root]:
    """A root with a worker whose agent does not run."""
    place = tmp_path_factory.mktemp("bad")
    with own_environment(place / "home"):
        root = make_root(place / "llmc", make_repository(place / "repository"))
        add_worker(root, "adam")
        yield root


@contextmanager
def server(root: Root) -> Iterator[subprocess.Popen[bytes]]:
    """It has to have ended by itself, or by what the test does to it."""
    argv = server_words(root.path, "--allow", ALL)
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            yield process
            assert process.wait(PATIENCE_SECS) is not None
        finally:
            process.kill()


def test_what_is_no_message_is_answered_with_its_id(root: Root) -> None:
    lines = [
        b'{"jsonrpc": "2.0", "id": 2, "method": 17}\n',
        b'{"id": "three", "method": "ping"}\n',
        b'{"jsonrpc": "2.0", "id": 4, \n',
        b"\xff\xfe\0\n",
        b"[" * 100_000 + b"\n",
        b'[{"jsonrpc": "2.0", "id": 90, "method": "ping"}, {"jsonrpc": "2.0", "id": 91, "method": "ping"}]\n',
        b'{"jsonrpc": "2.0", "id": {"no": 1}, "method": "ping"}\n',
        b'{"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "\\ud800"}}\n',
        b'{"jsonrpc": "2.0", "id": 77, "result": {}}\n',
        b'{"jsonrpc": "2.0", "id": 10, "method": "' + b"x" * (33 << 20) + b'"}\n',
        raw_call(5, "no/such/method", {}),
        raw_call(6, "tools/call", {"arguments": {}}),
        raw_call(7, "tools/call", {"name": "board", "arguments": [1]}),
        raw_call(8, "tools/call", {"name": "board"}),
    ]
    done = subprocess.run(
        server_words(root.path), input=raw_session(*lines), capture_output=True, timeout=PATIENCE_SECS
    )
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert {each["id"] for each in answers if "result" in each} == {1, 8}
    refused = [str(each["id"]) for each in answers if "error" in each]
    assert sorted(refused) == ["2", "3", "5", "6", "7", *["None"] * 6, "three"]
    assert b"Traceback" not in done.stderr


def test_a_thousand_requests_at_once_are_all_answered(root: Root) -> None:
    """With no more processes and watches at once than a few: what one client asks for must not starve the machine."""
    task = delegated(root)
    calls = [
        *[("wait", {"id": task, "secs": 4, "known": "queued"})] * 400,
        *[("board", {})] * 200,
        *[("bogus", {})] * 385,
        *[("message", {"worker": "adam", "text": "x"})] * 15,
    ]
    lines = [
        raw_call(number, "tools/call", {"name": name, "arguments": arguments})
        for number, (name, arguments) in enumerate(calls, 2)
    ]
    with server(root) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(raw_session(*lines))
        process.stdin.flush()
        seen, answers = [0], []
        for line in process.stdout:
            answers.append(json.loads(line))
            if len(answers) % 50 == 0 or len(answers) < 50:
                seen.append(len(children_of(process.pid)))
            assert watches_of(process.pid) <= 1
            if len(answers) == len(calls) + 1:
                break
        process.stdin.close()
    assert {each["id"] for each in answers} == set(range(1, len(calls) + 2))
    assert max(seen) <= MOST_COMMANDS
    errors = sum(bool(each["result"].get("isError")) for each in answers)
    assert errors == 385 + 15, "adam does not run"


def test_a_client_that_goes_away_while_it_waits_leaves_nothing_behind(root: Root) -> None:
    waiting = raw_call(
        2, "tools/call", {"name": "wait", "arguments": {"id": delegated(root), "secs": 3000, "known": "queued"}}
    )
    with server(root) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(raw_session(waiting))
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == 1
        wait_until(lambda: watches_of(process.pid) == 1, PATIENCE_SECS)
        process.stdout.close()
        process.stdin.close()


def test_a_client_of_the_web_that_goes_away_while_it_waits(root: Root) -> None:
    arguments = {"id": delegated(root), "secs": 3000, "known": "queued"}
    body = json.loads(raw_call(1, "tools/call", {"name": "wait", "arguments": arguments}))
    with serving(root) as served:
        answered(served)  # the tools are loaded by the first that asks
        pid = served.process.pid
        before = watches_of(pid)
        connections = [begun(served, body) for _ in range(3)]
        wait_until(lambda: watches_of(pid) == before + 1, PATIENCE_SECS)
        for connection in connections:
            connection.close()
        wait_until(lambda: watches_of(pid) == before, PATIENCE_SECS)
        answered(served)


def answered(served: Served) -> None:
    call = json.loads(raw_call(1, "tools/list", {}))
    assert served.ask("POST", "/mcp", call, Accept="application/json, text/event-stream").status == 200


def begun(served: Served, body: object) -> http.client.HTTPConnection:
    """Asked, and the answer not waited for."""
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=PATIENCE_SECS)
    accept = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    connection.request("POST", "/mcp", json.dumps(body), {**served.bearer, **accept})
    return connection


def delegated(root: Root) -> str:
    return delegate(open_site(root), "", "later", {"worker": "adam"}, "later").id


def children_of(pid: int) -> Sequence[Any]:
    found: list[str] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(OSError):
            found += (task / "children").read_text().split()
    return found


def watches_of(pid: int) -> int:
    """Those of the system that the process has."""
    count = 0
    with os.scandir(f"/proc/{pid}/fd") as entries:
        for entry in entries:
            with suppress(OSError):
                count += os.readlink(entry.path) == "anon_inode:inotify"
    return count
