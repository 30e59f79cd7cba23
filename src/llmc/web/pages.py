"""The pages: drawn by the server, from the board that is there and from what the commands answer."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from llmc.errors import LlmcError
from llmc.web.calls import CALLS
from llmc.web.diff_rows import file_views, talk_of
from llmc.web.drawing import STATIC, drawn
from llmc.web.openapi import openapi
from llmc.web.state import WebState
from llmc.web.task_graph import graph_of

EVENTS_SHOWN = 200
TIMELINE_SHOWN = 60
Page = Callable[[Request], Awaitable[Response]]


def page_routes() -> list[BaseRoute]:
    pages: dict[str, Page] = {
        "/": board,
        "/board/columns": board_columns,
        "/board/cards": board_cards,
        "/login": login,
        "/workers/{name}": worker,
        "/workers/{name}/explained": explained,
        "/workers/{name}/review": review,
        "/tasks": tasks,
        "/tasks/{id}": task,
        "/train": train,
        "/usage": usage,
        "/events": events,
        "/doctor": doctor,
        "/api": api,
        "/manifest.webmanifest": manifest,
    }
    routes: list[BaseRoute] = [Route(path, page, methods=["GET"]) for path, page in pages.items()]
    return [*routes, Mount("/static", StaticFiles(directory=STATIC, check_dir=False))]


def _web(request: Request) -> WebState:
    web: WebState = request.app.state.web
    return web


def _page(request: Request, template: str, status: int = 200, **facts: Any) -> HTMLResponse:  # noqa: ANN401 - of a page
    """What every page has, and what this one shows."""
    web = _web(request)
    head = web.live.feed.board["head"] if web.live.feed.board else None
    common = {"head": head, "read_only": web.read_only, "path": request.url.path, "root": web.root.path}
    return HTMLResponse(drawn(template, **common, **facts), status)


# --- the board --------------------------------------------------------------------------------------


async def board(request: Request) -> Response:
    web = _web(request)
    try:
        return _page(request, "board.html", board=web.live.board, id=web.live.feed.last_id)
    except LlmcError as problem:
        return _page(request, "board.html", board=None, id="", problem=problem)


async def board_columns(request: Request) -> Response:
    return _page(request, "columns.html", board=_web(request).live.board)


async def board_cards(request: Request) -> Response:
    """Those that have changed; whoever follows the board names them."""
    known = _web(request).live.board["cards"]
    asked = [known[key] for key in request.query_params.getlist("key") if key in known]
    return _page(request, "cards.html", cards=asked, whole="whole" in request.query_params)


async def login(request: Request) -> Response:
    return HTMLResponse(drawn("login.html"))


# --- a worker ---------------------------------------------------------------------------------------


async def worker(request: Request) -> Response:
    name = request.path_params["name"]
    card = _web(request).live.board["cards"].get(f"worker/{name}")
    if card is None:
        return _nobody(request, name)
    found, problem = await _asked(request, "events", name, "--lines", str(TIMELINE_SHOWN))
    return _page(request, "worker.html", card=card, events=list(reversed(found or [])), problem=problem)


async def explained(request: Request) -> Response:
    found, problem = await _asked(request, "explain", "--", request.path_params["name"])
    return _page(request, "explained.html", explained=found, problem=problem)


async def review(request: Request) -> Response:
    name, since = request.path_params["name"], "since" in request.query_params
    card = _web(request).live.board["cards"].get(f"worker/{name}")
    if card is None:
        return _nobody(request, name)
    words = ("review", name, "--peek", *(("--since-last",) if since else ()))
    work, problem = await _asked(request, *words)
    if work is None and since:
        work, _ = await _asked(request, "review", name, "--peek")
    split = request.query_params.get("view") == "split"
    files = file_views(work, split=split) if work else []
    talk = talk_of(work) if work else None
    return _page(
        request, "review.html", card=card, work=work, files=files, talk=talk, split=split, since=since, problem=problem
    )


def _nobody(request: Request, name: str) -> Response:
    missing = LlmcError(f"there is no worker {name}", "the board shows who is there")
    return _page(request, "missing.html", 404, title="Not found", problem=missing)


async def _asked(request: Request, *words: str) -> tuple[Any, LlmcError | None]:
    """What the command answers, or why it does not: a page shows either."""
    try:
        return await _web(request).document(*words), None
    except LlmcError as problem:
        return None, problem


# --- everything else --------------------------------------------------------------------------------


async def tasks(request: Request) -> Response:
    found, problem = await _asked(request, "task", "list", "--all")
    listed = found["tasks"] if found else []
    open_ones = [each for each in listed if each["state"] not in ("landed", "cancelled")]
    ended = [each for each in reversed(listed) if each["state"] in ("landed", "cancelled")]
    board = _web(request).live.feed.board
    workers = sorted(card["worker"] for card in board["cards"].values() if card["worker"]) if board else []
    graph = graph_of(listed)
    return _page(request, "tasks.html", open=open_ones, ended=ended, graph=graph, workers=workers, problem=problem)


async def task(request: Request) -> Response:
    found, problem = await _asked(request, "task", "show", "--", request.path_params["id"])
    return _page(request, "task.html", 200 if found else 404, task=found, problem=problem)


async def train(request: Request) -> Response:
    found, problem = await _asked(request, "train")
    return _page(request, "train.html", train=found, problem=problem)


async def usage(request: Request) -> Response:
    found, problem = await _asked(request, "usage")
    return _page(request, "usage.html", usage=found, problem=problem)


async def events(request: Request) -> Response:
    found, problem = await _asked(request, "events", "--lines", str(EVENTS_SHOWN))
    return _page(request, "events.html", events=list(reversed(found or [])), problem=problem)


async def doctor(request: Request) -> Response:
    found, problem = await _asked(request, "doctor")
    return _page(request, "doctor.html", found=found, problem=problem)


async def api(request: Request) -> Response:
    return _page(request, "api.html", api=openapi(CALLS))


async def manifest(request: Request) -> Response:
    icons = [
        {"src": "/static/icon.svg", "sizes": "any", "type": "image/svg+xml"},
        {"src": "/static/icon-192.png", "sizes": "192x192", "type": "image/png"},
        {"src": "/static/icon-512.png", "sizes": "512x512", "type": "image/png", "purpose": "any maskable"},
    ]
    described = {
        "name": "LLMC",
        "short_name": "LLMC",
        "description": "Who of your coding agents needs you, and why",
        "id": "/",
        "start_url": "/",
        "display": "standalone",
        "background_color": "#f5f5f3",
        "theme_color": "#f5f5f3",
        "icons": icons,
    }
    return Response(json.dumps(described), media_type="application/manifest+json")
