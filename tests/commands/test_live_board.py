"""The board as it changes, of a real root with a real daemon: nothing is missed, and nobody polls."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable
from typing import Any

from llmc.commands.shared.live_board import LiveBoard
from llmc.commands.shared.own_process import ask_llmc, complaint_in
from llmc.host.local import LocalHost
from llmc.model import Work
from testing.story import Story, script

PATIENCE_SECS = 150.0


def follow(story: Story, act: Callable[[], object], enough: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """What a follower has made of the board by its changes alone, when it is enough."""

    async def run() -> dict[str, Any]:
        live = LiveBoard(story.root)
        task = asyncio.create_task(live.run())
        try:
            while live.feed.board is None:
                await asyncio.sleep(0.01)
            acting: asyncio.Future[object] | None = None
            known: dict[str, Any] = {}
            async for news in live.changes():
                merge(known, news)
                acting = acting or asyncio.ensure_future(asyncio.to_thread(act))
                if enough(known):
                    await acting
                    return known
            raise AssertionError
        finally:
            task.cancel()

    return asyncio.run(asyncio.wait_for(run(), PATIENCE_SECS))


def merge(known: dict[str, Any], news: Any) -> None:
    if isinstance(news["cards"], dict):
        known |= {"head": news["head"], "cards": dict(news["cards"]), "events": []}
        return
    known["head"] = news["head"] or known["head"]
    known["cards"] |= {card["key"]: card for card in news["cards"]}
    for key in news["gone"]:
        del known["cards"][key]
    known["events"] += news["events"]


def column_of(known: dict[str, Any], key: str) -> str:
    return str(known["cards"].get(key, {}).get("column", ""))


def test_a_task_is_followed_from_the_queue_to_the_review(story: Story) -> None:
    story.begin("adam").up()
    text = "Say hello\n" + script("write hello.txt hello", "commit Say hello")
    known = follow(
        story, lambda: story.llmc("task", "add", text), lambda known: column_of(known, "worker/adam") == "review"
    )
    assert known["cards"]["worker/adam"]["title"].startswith("Say hello")
    assert known["head"]["waiting"] == 1
    assert "TaskGiven" in [event["kind"] for event in known["events"]]


def test_a_daemon_that_is_killed_is_seen_to_be_gone(story: Story) -> None:
    pid = story.begin("adam").up()
    known = follow(story, lambda: os.kill(pid, signal.SIGKILL), lambda known: not known["head"]["daemon"])
    assert column_of(known, "worker/adam") == "idle"


def test_a_worker_that_was_added_and_one_that_was_removed(story: Story) -> None:
    story.begin("adam")

    def act() -> None:
        story.llmc("add", "baker", "--agent", "demo")
        story.llmc("nuke", "adam", "--yes")

    known = follow(story, act, lambda known: set(known["cards"]) == {"worker/baker"})
    assert known["cards"]["worker/baker"]["column"] == "idle"


def test_a_command_of_its_own_answers_with_its_document_or_with_its_error(story: Story) -> None:
    story.begin("adam")
    host = LocalHost()
    listed = ask_llmc(host, story.root, ["task", "add", "-", "--json"], stdin="-- a text\nof two lines")
    assert (listed.ok, listed.data["id"]) == (True, "t1")
    refused = ask_llmc(host, story.root, ["review", "nobody", "--json"])
    assert (refused.code, refused.data) == (1, None)
    assert "nobody" in refused.error
    assert refused.hint
    assert not refused.error.startswith("error")


def test_error_and_hint_are_told_apart() -> None:
    assert complaint_in("note: x\nerror: it\nfailed\nhint: do this\n") == ("it\nfailed", "do this")
    assert complaint_in("nothing was changed\n") == ("nothing was changed", "")


def test_a_look_counts_for_nothing_and_what_was_seen_is_said_by_its_tree(story: Story) -> None:
    story.begin("adam").up()
    story.work("adam", "write hello.txt hello", "commit Say hello")
    before = story.worker("adam").commit_sha
    story.commit_upstream("hand.txt", "h\n", "By hand")
    looked = story.json("review", "adam", "--peek")
    after = story.worker("adam")
    assert looked["files"][0]["path"] == "hello.txt"
    assert (after.reviewed, looked["reviewed_sha"]) == (None, after.commit_sha)
    refused = story.llmc("review", "adam", "--seen", "0" * 40, code=1)
    assert "not what was shown" in refused.err
    now = story.json("review", "adam", "--peek")
    seen = story.json("review", "adam", "--seen", now["tree"])
    worker = story.worker("adam")
    assert worker.reviewed is not None
    assert (worker.reviewed.tree, seen["tree"]) == (now["tree"], now["tree"])
    assert worker.work is Work.NEEDS_REVIEW
    assert before


def test_at_rest_nothing_is_read(story: Story) -> None:
    """Not even because of the reading itself: as root, SQLite touches its files whenever it opens them."""
    story.begin("adam")

    async def run() -> None:
        live = LiveBoard(story.root)
        reads: list[float] = []
        look = live._read
        live._read = lambda: reads.append(time.monotonic()) or look()  # type: ignore[method-assign,func-returns-value]
        task = asyncio.create_task(live.run())
        try:
            while not reads or time.monotonic() - reads[-1] < 2.0:
                await asyncio.sleep(0.05)
        finally:
            task.cancel()

    asyncio.run(asyncio.wait_for(run(), PATIENCE_SECS))
