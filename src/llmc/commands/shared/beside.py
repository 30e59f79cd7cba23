"""What takes its time, beside an event loop: for faces that run on asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from threading import Thread
from typing import TypeVar

T = TypeVar("T")


async def beside(action: Callable[[], T]) -> T:
    """The action in a thread of its own, which ends with the process: a server that is told to end does so at once."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[T] = loop.create_future()

    def tell(result: T | None, failure: BaseException | None) -> None:
        if answer.cancelled():
            return
        if failure is not None:
            answer.set_exception(failure)
        else:
            answer.set_result(result)  # type: ignore[arg-type]

    def run() -> None:
        result, failure = None, None
        try:
            result = action()
        except BaseException as raised:
            failure = raised
        if not loop.is_closed():
            loop.call_soon_threadsafe(tell, result, failure)

    Thread(target=run, daemon=True).start()
    return await answer
