"""`/api/v1`: the documents of the commands, and the commands themselves."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from llmc.commands.shared.beside import beside
from llmc.commands.shared.fields import Given, read_body, read_query
from llmc.commands.shared.own_process import Answered
from llmc.web.answers import JsonAnswer
from llmc.web.calls import CALLS, Call
from llmc.web.guard import NO_SECRET, has_secret
from llmc.web.openapi import openapi
from llmc.web.state import WebState
from llmc.web.stream import stream

PREFIX = "/api/v1"
DONE, REFUSED, INVALID, UNKNOWN = 0, 1, 2, 4
TASK_ID = re.compile(r"t[0-9]{1,14}")


def api_routes() -> list[Route]:
    described = Call("GET", "/openapi.json", "this description")
    calls = (*CALLS, described)
    own: dict[str, Callable[[Request], Awaitable[Response]]] = {
        "/status": _status,
        "/board": _board,
        "/stream": stream,
        "/workers/{worker}": _worker,
        described.path: _described(calls),
    }
    return [Route(PREFIX + call.path, own.get(call.path) or _ask(call), methods=[call.method]) for call in calls]


def _ask(call: Call) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        state: WebState = request.app.state.web
        if call.is_terminal and not has_secret(state, request.scope, request.headers):
            return JsonAnswer({"error": NO_SECRET.error, "hint": NO_SECRET.hint}, NO_SECRET.status)
        given = await _given(call, request)
        assert call.words is not None
        words = call.words(given)
        answered = await state.ask([words.argv[0], "--json", *words.argv[1:]], words.stdin)
        if call.method == "GET" and answered.data is not None:  # `doctor` ends with 1 when it has found something
            return JsonAnswer(call.shaped(answered.data, given))
        return _of(answered)

    return answer


async def _given(call: Call, request: Request) -> Given:
    path = request.path_params
    if "worker" in path:
        await require_worker(request.app.state.web, path["worker"])
    if "task" in path and not TASK_ID.fullmatch(path["task"]):
        raise HTTPException(404, f"there is no task {path['task']!r}")
    if call.method == "GET":
        return Given(path, read_query(request.query_params, call.fields))
    return Given(path, read_body(await request.body(), call.fields))


async def require_worker(state: WebState, name: str) -> None:
    state_now = await beside(state.site.ledger.load)
    if name not in state_now.workers:
        raise HTTPException(404, f"there is no worker named {name!r}")


def _of(answered: Answered) -> Response:
    if answered.code in (DONE, UNKNOWN):  # a receipt says itself that nobody knows
        return JsonAnswer(answered.data)
    status = {REFUSED: 409, INVALID: 400}.get(answered.code, 500)
    error = answered.error or _reason(answered.data) or "it was not done"
    refusal = {"error": error, "hint": answered.hint or "`llmc explain` says more"}
    return JsonAnswer(refusal if answered.data is None else {**refusal, "answer": answered.data}, status)


def _reason(data: Any) -> str:  # noqa: ANN401 - the command's document
    known = data if isinstance(data, dict) else {}
    return next((str(known[key]) for key in ("reason", "detail", "outcome") if known.get(key)), "")


async def _status(request: Request) -> Response:
    return JsonAnswer(await request.app.state.web.status())


async def _board(request: Request) -> Response:
    state: WebState = request.app.state.web
    return JsonAnswer({"id": state.live.feed.last_id, **state.live.board})


async def _worker(request: Request) -> Response:
    name = request.path_params["worker"]
    document = await request.app.state.web.status()
    found = next((worker for worker in document["workers"] if worker["name"] == name), None)
    if found is None:
        raise HTTPException(404, f"there is no worker named {name!r}")
    return JsonAnswer(found)


def _described(calls: tuple[Call, ...]) -> Callable[[Request], Awaitable[Response]]:
    async def described(request: Request) -> Response:
        return JsonAnswer(openapi(calls))

    return described
