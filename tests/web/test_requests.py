"""What a request may and may not: the API, and everybody who comes from elsewhere."""

from __future__ import annotations

import json
import os
import socket
import stat
import urllib.parse
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from llmc.web.calls import CALLS
from testing.roots import add_worker, make_repository, make_root, own_environment
from testing.served import Served, serving
from testing.waiting import wait_until


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A root with a worker whose agent does not run, and its server."""
    place = tmp_path_factory.mktemp("served")
    with own_environment(place / "home"):
        root = make_root(place / "llmc", make_repository(place / "repository"))
        add_worker(root, "adam")
        with serving(root) as served:
            yield served


def paths() -> list[tuple[str, str]]:
    return [(call.method, "/api/v1" + call.path.format(worker="adam", task="t1")) for call in CALLS]


# --- who may come in ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "path"), [*paths(), ("GET", "/"), ("GET", "/tasks"), ("POST", "/logout")])
def test_nothing_is_answered_without_a_login(served: Served, method: str, path: str) -> None:
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Cookie": f"llmc_{served.port}=a.1.b"}):
        reply = served.ask(method, path, None, headers)
        assert reply.status == 401, (headers, reply)
        assert served.root.path.encode() not in reply.body


def test_the_login_page_is_there_for_everybody(served: Served) -> None:
    reply = served.ask("GET", "/login", None, {})
    assert (reply.status, reply.headers["content-type"].partition(";")[0]) == (200, "text/html")


@pytest.mark.lesson(55, "nothing is reached without a login, nor under another name")
@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "localhost:1", "evil.example:{port}", "", "a b", "[::1"])
def test_another_name_is_refused(served: Served, host: str) -> None:
    """A page of somebody else whose name was made to lead here (DNS rebinding)."""
    named = {**served.bearer, "Host": host.format(port=served.port)}
    for path in ("/api/v1/status", "/", "/login"):
        assert served.ask("GET", path, None, named).status in (400, 403), path
    assert served.ask("POST", "/login", {"token": served.token}, {"Host": named["Host"]}).status in (400, 403)


@pytest.mark.parametrize("host", ["localhost:{port}", "LOCALHOST:{port}", "127.0.0.1:{port}", "[::1]:{port}"])
def test_its_own_names_are_answered(served: Served, host: str) -> None:
    assert served.ask("GET", "/api/v1/status", Host=host.format(port=served.port)).status == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:1", "file://", "", "http://localhost"]
)
def test_a_page_of_another_server_is_refused(served: Served, origin: str) -> None:
    page = served.log_in()
    for headers in ({**served.bearer, "Origin": origin}, {**page, "Origin": origin}):
        assert served.ask("GET", "/api/v1/status", None, headers).status == 403
        assert served.ask("POST", "/api/v1/tasks", {"text": "x"}, headers).status == 403
    assert served.get("/tasks")["tasks"] == []


def test_a_cookie_alone_only_looks(served: Served) -> None:
    """Cookies ignore ports: a program of an agent on another port is sent ours, too."""
    page = served.log_in()
    looks = {"Cookie": page["Cookie"]}
    assert served.ask("GET", "/api/v1/status", None, looks).status == 200
    assert served.ask("GET", "/", None, looks).status == 200
    other = {**looks, "Origin": page["Origin"], "X-LLMC-Secret": served.log_in()["X-LLMC-Secret"]}
    for headers in (looks, {**looks, "Origin": page["Origin"]}, other, {**looks, "X-LLMC-Secret": ""}):
        assert served.ask("POST", "/api/v1/tasks", {"text": "x"}, headers).status == 403
    assert served.get("/tasks")["tasks"] == []
    for path in ("/api/v1/secret", "/secret"):
        assert served.ask("GET", path, None, looks).status == 404


def test_a_cookie_alone_shows_no_terminal(served: Served) -> None:
    page = served.log_in()
    for looks in ({"Cookie": page["Cookie"]}, {"Cookie": page["Cookie"], "X-LLMC-Secret": "wrong"}):
        for path in ("/screen", "/screen/", "/%73creen"):
            reply = served.ask("GET", f"/api/v1/workers/adam{path}", None, looks)
            assert reply.status in (307, 403), reply
        assert served.ask("HEAD", "/api/v1/workers/adam/screen", None, looks).status == 403
    for allowed in (page, served.bearer):
        assert served.ask("GET", "/api/v1/workers/adam/screen", None, allowed).status not in (401, 403)


def test_the_cookie_is_for_this_server_alone(served: Served) -> None:
    words = served.ask("POST", "/login", {"token": served.token}, {}).headers["set-cookie"].lower()
    assert words.startswith(f"llmc_{served.port}=")
    assert "httponly" in words
    assert "samesite=strict" in words
    assert "path=/" in words
    assert "domain" not in words


def test_a_cookie_that_another_server_has_added_changes_nothing(served: Served) -> None:
    page = served.log_in()
    both = {**page, "Cookie": f"llmc_{served.port}=planted; {page['Cookie']}"}
    assert served.ask("GET", "/api/v1/status", None, both).status == 200


def test_who_guesses_has_to_wait(served: Served) -> None:
    with serving_again(served) as own:
        answers = [own.ask("POST", "/login", {"token": f"guess {n}"}, {}).status for n in range(12)]
        assert answers[:10] == [401] * 10
        assert answers[10:] == [429] * 2
        reply = own.ask("POST", "/login", {"token": own.token}, {})
        assert reply.status == 429
        assert int(reply.headers["retry-after"]) > 0
        assert own.get("/status")["schema"] == 1


def serving_again(served: Served) -> AbstractContextManager[Served]:
    """Another server, for what would be in the way of other tests."""
    place = Path(served.root.path).parent
    root = make_root(place / f"llmc{len(list(place.iterdir()))}", place / "repository")
    return serving(root)


def test_the_token_is_for_its_owner_alone(served: Served) -> None:
    for name in ("web.json", "web-key.json"):
        path = Path(served.root.path, "run", name)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert json.loads(Path(served.root.path, "run", "web.json").read_text()) == {
        "url": served.url,
        "token": served.token,
        "pid": served.process.pid,
    }
    assert len(served.token) >= 43


# --- what is answered -----------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/", "/login", "/api/v1/status", "/api/v1/nothing", "/static/nothing.js"])
def test_every_answer_is_protected(served: Served, path: str) -> None:
    headers = served.ask("GET", path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert "access-control-allow-origin" not in headers


def test_the_documents_are_those_of_the_commands(served: Served) -> None:
    assert served.get("/status")["workers"][0]["name"] == "adam"
    assert served.get("/workers/adam")["branch"] == "llmc/adam"
    assert served.get("/tasks") == {"schema": 1, "tasks": []}
    assert served.get("/train")["paused"] is False
    assert served.get("/usage")["total"]["usd"] is None
    assert served.get("/workers/adam/explain")["worker"] == "adam"
    assert served.get("/board")["cards"]["worker/adam"]["worker"] == "adam"
    assert served.get("/doctor")["schema"] == 1
    events = served.get("/events")
    assert served.get(f"/events?since={events[-1]['id']}") == []


def test_the_description_has_every_request(served: Served) -> None:
    described = served.get("/openapi.json")
    listed = {(method.upper(), path) for path, methods in described["paths"].items() for method in methods}
    assert {(call.method, f"/api/v1{call.path}") for call in CALLS} <= listed
    for path, methods in described["paths"].items():
        if path.endswith("/stream"):  # it never ends
            continue
        method = next(iter(methods))
        reply = served.ask(method.upper(), path.format(worker="nobody", task="x"), {} if method == "post" else None)
        assert reply.status not in (405, 500, 401), (path, reply)


def test_a_task_is_queued_changed_and_cancelled(served: Served) -> None:
    task = served.post("/tasks", text="- begins\nwith a dash", title="--hold", priority=3, hold=True)
    assert task["id"] == "t1"
    assert served.get("/tasks/t1")["title"] == "--hold"
    served.post("/tasks/t1/edit", text="another text", priority=-2)
    assert (served.get("/tasks/t1")["text"], served.get("/tasks/t1")["priority"]) == ("another text", -2)
    after = served.post("/tasks", text="second", after=["t1"], touches=["src/*.py", "tests/*"])
    assert served.get("/graph")["edges"]
    served.post(f"/tasks/{after['id']}/hold")
    served.post(f"/tasks/{after['id']}/release")
    for task in ("t1", after["id"]):
        served.post(f"/tasks/{task}/cancel")
    assert {each["state"] for each in served.get("/tasks")["tasks"]} == {"cancelled"}


def test_a_refusal_says_what_to_do(served: Served) -> None:
    for path, fields in (
        ("/workers/adam/message", {"text": "hello"}),
        ("/workers/adam/answer", {"choice": "--yes", "dialog": "x"}),
        ("/workers/adam/accept", {"tree": "0" * 40}),
        ("/workers/adam/reviewed", {"tree": "0" * 40}),
        ("/train/drop", {"worker": "adam"}),
    ):
        refusal = served.post(path, 409, **fields)
        assert refusal["error"], path
        assert refusal["hint"], path


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/tasks", b"{"),
        ("/tasks", b"[]"),
        ("/tasks", b'"text"'),
        ("/tasks", b"[" * 100_000),
        ("/tasks", b"{}"),
        ("/tasks", b'{"text": 3}'),
        ("/tasks", b'{"text": "x", "nothing": 1}'),
        ("/tasks", b'{"text": "x", "priority": 1e400}'),
        ("/tasks", b'{"text": "x", "after": "t1"}'),
        ("/tasks", b'{"text": "x", "title": "\\u0000"}'),
        ("/tasks", b'{"text": "\\ud800"}'),
        ("/tasks", b'{"text": "\xff"}'),
        ("/tasks", b'{"text": "x", "worker": "--root"}'),
        ("/workers/adam/accept", b'{"tree": "--all"}'),
        ("/workers/adam/comment", b'{"path": "README", "line": true, "text": "x"}'),
        ("/workers/adam/interrupt", b'{"within": -1}'),
        ("/train/drop", b'{"worker": "--watch"}'),
    ],
)
def test_a_body_that_makes_no_sense_is_refused(served: Served, path: str, body: bytes) -> None:
    before = served.get("/tasks")
    reply = served.ask("POST", f"/api/v1{path}", body)
    assert reply.status in (400, 409), reply
    assert set(reply.data) >= {"error", "hint"}
    assert served.get("/tasks") == before


def test_only_json_is_read(served: Served) -> None:
    """What a form of another page can send needs no permission of the browser."""
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
        headers = {**served.bearer, "Content-Type": kind}
        assert served.ask("POST", "/api/v1/tasks", b'{"text": "x"}', headers).status == 415


@pytest.mark.parametrize("words", ["--follow", "--help", "--root=nowhere", "-h"])
def test_no_name_is_taken_for_an_option(served: Served, words: str) -> None:
    """One that follows the log would never end, and a few of them would keep everybody else waiting."""
    named = urllib.parse.quote(words, safe="")
    reply = served.ask("GET", f"/api/v1/events?worker={named}")
    assert (reply.status, reply.data) == (200, []) or words in reply.data["error"], reply
    assert "worker named" in served.post("/train/drop", 409, worker=words)["error"]
    for path in (f"/workers/{named}/explained", f"/tasks/{named}"):
        body = served.ask("GET", path).body.decode()
        assert "there is no" in body or "it must be the id of a task" in body, body
        assert "no LLMC root" not in body


def test_a_body_with_two_lengths_is_refused(served: Served) -> None:
    """Whoever stands in between may take the other one for right."""
    before = served.get("/tasks")
    body = b'12\r\n{"text":"smuggled"}\r\n0\r\n\r\n'
    answer = flood(served, "Content-Length: 4\r\nTransfer-Encoding: chunked", body, 1)
    assert b" 400 " in answer, answer
    assert served.get("/tasks") == before


@pytest.mark.parametrize("name", ["nobody", "..", "%2e%2e%2fbaker", "adam%00", "--all", "adam/../adam", "%ff"])
def test_an_unknown_worker_is_not_there(served: Served, name: str) -> None:
    for path in ("", "/review", "/explain", "/screen"):
        assert served.ask("GET", f"/api/v1/workers/{name}{path}").status == 404, path
    assert served.ask("POST", f"/api/v1/workers/{name}/message", {"text": "x"}).status in (404, 405)


def test_no_value_becomes_an_option(served: Served) -> None:
    """`--follow` and `--watch` would never end."""
    assert served.ask("GET", "/api/v1/events?worker=--follow").status == 409
    assert served.ask("GET", "/api/v1/events?lines=x").status == 400


@pytest.mark.parametrize(
    "path",
    [
        "/static/../command.py",
        "/static/..%2fcommand.py",
        "/static/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
        "/static//etc/passwd",
        "/static/\\..\\..\\etc\\passwd",
        "/../../../../etc/passwd",
        "//etc/passwd",
        "/static/%00",
    ],
)
def test_no_path_leads_out(served: Served, path: str) -> None:
    for headers in (served.bearer, {}):
        reply = served.ask("GET", path, None, headers)
        assert reply.status in (400, 401, 404, 405), reply
        assert b"root:" not in reply.body
        assert b"import" not in reply.body


# --- floods ---------------------------------------------------------------------------------------------


def rss_mb(served: Served) -> int:
    return int(Path(f"/proc/{served.process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20


def flood(served: Served, head: str, part: bytes, parts: int) -> bytes:
    """Sends until the server has had enough. What it answered."""
    with socket.create_connection(("127.0.0.1", served.port), timeout=120) as connection:
        lines = [f"Host: 127.0.0.1:{served.port}", f"Authorization: Bearer {served.token}"]
        lines += ["Content-Type: application/json", head]
        connection.sendall(("POST /api/v1/tasks HTTP/1.1\r\n" + "\r\n".join(lines) + "\r\n\r\n").encode())
        try:
            for _ in range(parts):
                connection.sendall(part)
        except OSError:
            pass
        try:
            return connection.recv(1000)
        except OSError:
            return b""


def test_a_body_of_100_mb_is_not_read(served: Served) -> None:
    before = rss_mb(served)
    answer = flood(served, f"Content-Length: {100 << 20}", bytes(1 << 20), 100)
    assert b" 413 " in answer or not answer
    assert served.ask("POST", "/api/v1/tasks", None, served.bearer | {"Content-Length": str(100 << 20)}).status == 413
    chunk = b"100000\r\n" + bytes(1 << 20) + b"\r\n"
    answer = flood(served, "Transfer-Encoding: chunked", chunk, 100)
    assert b" 413 " in answer or not answer
    assert rss_mb(served) < before + 40
    assert served.get("/status")["schema"] == 1


def logged(served: Served) -> str:
    return Path(served.root.path, "logs", "web.log").read_text()


def test_what_was_done_is_logged_with_who(served: Served) -> None:
    page = served.log_in()
    served.ask("POST", "/api/v1/workers/adam/message", {"text": "a secret text"}, page)
    log = wait_until(lambda: log if "message" in (log := logged(served)).splitlines()[-1] else "")
    entry = json.loads(log.splitlines()[-1])
    assert (entry["action"], entry["path"], entry["status"]) == ("POST", "/api/v1/workers/adam/message", 409)
    assert entry["address"] == "127.0.0.1"
    assert page["Cookie"].partition("=")[2].startswith(entry["session"])
    assert "a secret text" not in log
    assert served.token not in log
    assert page["X-LLMC-Secret"] not in log
