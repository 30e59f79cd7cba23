"""`POST /login` and `POST /logout`. The page for it is one of the pages."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from llmc.commands.shared.fields import Field, read_body
from llmc.web.addresses import Addresses
from llmc.web.answers import JsonAnswer
from llmc.web.logins import LASTS_SECS
from llmc.web.state import WebState

TOKEN = (Field("token", "the one of the address", needed=True),)


def login_routes(addresses: Addresses) -> list[Route]:
    cookie = f"llmc_{addresses.port}"
    secure = addresses.scheme == "https"

    async def login(request: Request) -> Response:
        state: WebState = request.app.state.web
        address = request.scope["llmc.who"].address
        if wait := state.logins.wait_secs(address):
            refusal = {"error": "too many attempts", "hint": f"try again in {int(wait) + 1} seconds"}
            return JsonAnswer(refusal, 429, {"retry-after": str(int(wait) + 1)})
        given = read_body(await request.body(), TOKEN)
        if not state.logins.is_token(given["token"]):
            state.logins.failed(address)
            return JsonAnswer({"error": "that is not the token", "hint": "`llmc web` prints the right one"}, 401)
        opened = state.logins.open()
        answer = JsonAnswer({"secret": opened.secret, "until_unix": opened.until_unix})
        answer.set_cookie(
            cookie, opened.cookie, max_age=int(LASTS_SECS), httponly=True, samesite="strict", secure=secure
        )
        return answer

    async def logout(request: Request) -> Response:
        answer = JsonAnswer({"ended": True})
        answer.delete_cookie(cookie, httponly=True, samesite="strict", secure=secure)
        return answer

    return [Route("/login", login, methods=["POST"]), Route("/logout", logout, methods=["POST"])]
