"""What gets out of a fence whose settings name a few addresses: these, and nothing of this machine by another name."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest

from llmc.core.fence.addresses import is_allowed
from llmc.host.fence_proxy import _connected, _place
from llmc.perform.fence import fenced_command
from testing.story import Story, told_in

ASKS = """
import json, os, socket, sys

def connect(*address):
    try:
        return socket.create_connection(address, timeout=10)
    except OSError:
        return None

def asked(target, first="CONNECT"):
    with connect("127.0.0.1", 3128) as proxy:
        proxy.sendall(f"{first} {target} HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n".encode())
        answer = b""
        while more := proxy.recv(65536):
            answer += more
            if first == "CONNECT":
                break
        return answer.decode().split(" ")[1] if first == "CONNECT" else answer.decode()

port, other = sys.argv[1:]
told = {target: asked(target) for target in (
    f"127.0.0.1:{port}", f"127.0.0.1:{other}", f"localhost:{port}", f"2130706433:{port}", f"127.1:{port}",
    f"[::ffff:127.0.0.1]:{port}", f"0.0.0.0:{port}", "169.254.169.254:80", f"127.0.0.1:{port}@example.org:443", "x",
)}
told["plain"] = asked(f"http://127.0.0.1:{port}/a?b", "GET")
told["direct"] = connect("127.0.0.1", int(port)) is not None
print(json.dumps(told))
"""


@pytest.fixture
def server() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            while True:
                try:
                    client, _ = listening.accept()
                except OSError:
                    return
                with client:
                    asked = client.recv(65536).split(b"\r\n")[0]
                    client.sendall(b"HTTP/1.1 200 OK\r\n\r\n" + asked)

        Thread(target=serve, daemon=True).start()
        yield listening.getsockname()[1]


@pytest.fixture
def story(tmp_path: Path) -> Iterator[Story]:
    with told_in(tmp_path) as story:
        yield story.begin("adam", sandbox__mode="bwrap")


def inside(story: Story, *words: str) -> str:
    done = story.site.host.run(fenced_command(story.site, "adam", words, {}), env=story.site.host.environ())
    assert done.ok, done.complaint
    return done.text


def test_only_what_is_named_gets_out(story: Story, server: int) -> None:
    with socket.create_server(("127.0.0.1", 0)) as unnamed:
        other = unnamed.getsockname()[1]
        story.llmc("config", "set", "sandbox.network", json.dumps([f"127.0.0.1:{server}", "*.example.org:443"]))
        told = json.loads(inside(story, sys.executable, "-c", ASKS, str(server), str(other)))
        assert told.pop(f"127.0.0.1:{server}") == "200"
        assert told.pop("plain").endswith("GET /a?b HTTP/1.1")
        assert told.pop("direct") is False
        assert set(told.values()) == {"400", "403"}
        assert told[f"127.0.0.1:{other}"] == told[f"localhost:{server}"] == told["169.254.169.254:80"] == "403"
        proxies = inside(story, "sh", "-c", "echo $HTTPS_PROXY $NO_PROXY").split()
        assert proxies == ["http://127.0.0.1:3128", "localhost,::1"]
        story.llmc("config", "set", "sandbox.network", "false")
        direct = f"import socket; print(socket.socket().connect_ex(('127.0.0.1', {server})))"
        assert int(inside(story, sys.executable, "-c", direct)) != 0


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "::1", "::ffff:127.0.0.1", "0.0.0.0", "169.254.169.254"])
def test_a_name_of_elsewhere_does_not_lead_to_this_machine(name: str, server: int) -> None:
    with pytest.raises(OSError, match="it leads to this machine"):
        _connected(name, server, literal=False)


@pytest.mark.parametrize(
    ("entry", "host", "port", "allowed"),
    [
        ("api.example.org:443", "API.example.org.", 443, True),
        ("api.example.org:443", "api.example.org", 80, False),
        ("*.example.org:443", "a.b.example.org", 443, True),
        ("*.example.org:443", "example.org", 443, False),
        ("*.example.org:443", "notexample.org", 443, False),
        ("[::1]:80", "::1", 80, True),
    ],
)
def test_names_are_compared_whole(entry: str, host: str, port: int, allowed: bool) -> None:
    assert is_allowed([entry], host, port) is allowed


@pytest.mark.parametrize("target", ["", "a", "a:0", "a:99999", "a:1:2", "a@b:443", "http://", "ftp://a/"])
def test_what_is_no_address_is_refused(target: str) -> None:
    assert _place(b"CONNECT", target) is None
