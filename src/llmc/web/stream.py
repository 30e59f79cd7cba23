"""The board as server-sent events: whole first, then what changes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import suppress
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from llmc.core.board.shapes import Board, Change
from llmc.errors import LlmcError
from llmc.web.drawing import event_words
from llmc.web.state import WebState

BEAT_SECS = 15.0
"""So that whoever is in between does not take the connection for a dead one, and we notice one that is."""
AGAIN_SECS = 1.0
RETRY_MS = 1000


async def stream(request: Request) -> Response:
    state: WebState = request.app.state.web
    last = request.headers.get("last-event-id") or request.query_params.get("last", "")
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    return StreamingResponse(_lines(state, last), media_type="text/event-stream", headers=headers)


async def _lines(state: WebState, last: str) -> AsyncIterator[bytes]:
    yield f"retry: {RETRY_MS}\n: llmc\n\n".encode()
    async for told in _until_the_end(state, last):
        yield told
    yield b": the server ends\n\n"


async def _until_the_end(state: WebState, last: str) -> AsyncIterator[bytes]:
    """What is told, and a beat where nothing is."""
    news = _news(state, last)
    closing = asyncio.create_task(state.closing.wait())
    upcoming: asyncio.Task[bytes] | None = None
    try:
        while not state.closing.is_set():
            upcoming = upcoming or asyncio.create_task(_next_of(news))
            waited: tuple[asyncio.Task[Any], ...] = (upcoming, closing)
            done, _ = await asyncio.wait(waited, timeout=BEAT_SECS, return_when=asyncio.FIRST_COMPLETED)
            if upcoming in done:
                yield upcoming.result()
                upcoming = None
            elif not done:
                yield b": beat\n\n"
    finally:
        for task in (upcoming, closing):
            if task is not None:
                task.cancel()
                with suppress(asyncio.CancelledError, StopAsyncIteration):
                    await task
        await news.aclose()


async def _next_of(news: AsyncGenerator[bytes, None]) -> bytes:
    return await anext(news)


async def _news(state: WebState, last: str) -> AsyncGenerator[bytes, None]:
    while state.live.feed.board is None:
        problem = state.live.problem or LlmcError("the board was not read yet", "it comes in a moment")
        yield _event("problem", "", {"error": problem.what, "hint": problem.hint})
        await asyncio.sleep(AGAIN_SECS)
    async for news in state.live.changes(last):
        yield _told(state, news)


def _told(state: WebState, news: Board | Change) -> bytes:
    """A change is made into text once for all who follow."""
    if isinstance(news["cards"], dict):
        return _event("board", state.live.feed.last_id, news)
    if state.last_told is None or state.last_told[0] is not news:
        events = [{**event, "words": event_words(event)} for event in news["events"]]
        state.last_told = (news, _event("change", news["id"], {**news, "events": events}))
    return state.last_told[1]


def _event(name: str, number: str, data: object) -> bytes:
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    numbered = f"id: {number}\n" if number else ""
    return f"event: {name}\n{numbered}data: {text}\n\n".encode("utf-8", "backslashreplace")
