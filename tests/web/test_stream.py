"""The board as it is pushed: whole, then changes; whoever was away goes on from there."""

from __future__ import annotations

import asyncio
import signal
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from llmc.app import open_site
from testing.roots import add_worker, make_repository, make_root
from testing.served import PATIENCE_SECS, Served, Stream, serving, start_serving
from testing.waiting import wait_until

VIEWERS = 50


@pytest.fixture
def root(tmp_path):
    root = make_root(tmp_path / "llmc", make_repository(tmp_path / "repository"))
    add_worker(root, "adam")
    return root


def queue(served: Served, text: str) -> None:
    served.post("/tasks", text=text)


def test_the_board_comes_first_then_changes_and_who_was_away_goes_on(root):
    async def follow(served: Served) -> None:
        async with served.stream() as stream:
            name, number, board = await stream.event()
            assert (name, board["cards"]["worker/adam"]["worker"]) == ("board", "adam")
            await asyncio.to_thread(queue, served, "first task")
            name, seen, change = await stream.until("first task")
            assert name == "change"
            assert change["id"] == seen != number
        await asyncio.to_thread(queue, served, "second task")
        async with served.stream(seen) as stream:
            name, _, change = await stream.until("second task")
            assert name == "change"
        async with served.stream("nothing.7") as stream:
            assert (await stream.event())[0] == "board"

    with serving(root) as served:
        asyncio.run(asyncio.wait_for(follow(served), PATIENCE_SECS))


def test_after_a_kill_pages_come_back_on_the_same_port_and_miss_nothing(root):
    first = start_serving(root)
    page = first.log_in()

    async def seen_last() -> str:
        async with first.stream(headers=page) as stream:
            return (await stream.event())[1]

    last = asyncio.run(seen_last())
    first.end(signal.SIGKILL)
    with serving(root) as second:
        assert second.port == first.port
        assert second.token != first.token
        assert second.ask("GET", "/api/v1/status", None, page).status == 200
        assert second.ask("POST", "/api/v1/tasks", {"text": "after it"}, page).status == 200
        assert second.ask("GET", "/api/v1/status", None, first.bearer).status == 401

        async def resumed() -> str:
            async with second.stream(last, page) as stream:
                return (await stream.event())[0]

        assert asyncio.run(resumed()) == "board"


def test_fifty_viewers_hear_of_the_same_change_and_leave_nothing(root):
    async def follow(served: Served, viewers: int, text: str) -> None:
        async with AsyncExitStack() as stack:
            streams: list[Stream] = [await stack.enter_async_context(served.stream()) for _ in range(viewers)]
            for stream in streams:
                assert (await stream.event())[0] == "board"
            await asyncio.to_thread(queue, served, text)
            numbers = {(await stream.until(text))[1] for stream in streams}
            assert len(numbers) == 1

    with serving(root) as served:
        asyncio.run(asyncio.wait_for(follow(served, 1, "for one"), PATIENCE_SECS))
        few = VIEWERS // 2
        asyncio.run(asyncio.wait_for(follow(served, VIEWERS, "for all"), PATIENCE_SECS))
        wait_until(lambda: open_files(served) < few, PATIENCE_SECS)


def open_files(served: Served) -> int:
    return len(list(Path(f"/proc/{served.process.pid}/fd").iterdir()))


def test_a_viewer_that_does_not_read_holds_up_nobody(root):
    async def follow(served: Served) -> None:
        async with served.stream() as sleeps, served.stream() as reads:
            assert (await reads.event())[0] == "board"
            for number in range(5):
                await asyncio.to_thread(queue, served, f"task number {number}")
                await reads.until(f"task number {number}")
            assert (await sleeps.event())[0] == "board"

    with serving(root) as served:
        asyncio.run(asyncio.wait_for(follow(served), PATIENCE_SECS))


def test_the_server_ends_while_somebody_follows(root):
    served = start_serving(root)

    async def follow() -> int:
        async with served.stream() as stream:
            await stream.event()
            return await asyncio.to_thread(served.end)

    assert asyncio.run(asyncio.wait_for(follow(), PATIENCE_SECS)) == 0
    assert open_site(root).ledger.load().workers
