"""Terminals over a socket: what viewers see, who types, and what is left when they are gone."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket as sockets
import struct
from contextlib import suppress
from pathlib import Path

import pytest
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed, InvalidStatus

from testing.served import PATIENCE_SECS, Served, serving
from testing.story import Story
from testing.waiting import wait_until

SHELL = """
[agents.prints]
command = ["{script}"]
"""
HOSTILE = r"""#!/bin/sh
printf '\033]0;a title\007\033]52;c;ZXZpbA==\007\033[?1003h\033P+q544e\033\\<script>alert(1)</script>\033]8;;http://evil.example\033\\link\033]8;;\033\\\n'
printf '\033[31mred\nstill red\033[0m\n\033(0lqk\033(B\n'
while read -r line; do
  case $line in
    flood) seq 1 1000000; echo flood over ;;
    end) exit 3 ;;
    *) echo "heard: $line" ;;
  esac
done
"""


@pytest.fixture
def story(story: Story) -> Story:
    script = story.place / "prints"
    script.write_text(HOSTILE)
    script.chmod(0o755)
    story.begin("adam", agent="prints", agents=SHELL.format(script=script))
    site = story.site
    site.tmux.start(tmux_configuration(story))
    site.tmux.new_session("llmc-adam", str(story.place), [str(script)], {}, (80, 24))
    return story


def tmux_configuration(story: Story) -> str:
    from llmc.tmux.configuration import configuration

    path = story.place / "tmux.conf"
    path.write_text(configuration(80, 24))
    return str(path)


@pytest.fixture
def served(story: Story):
    with serving(story.root) as served:
        yield served
    story.site.tmux.stop()


class Looker:
    """Reads what comes and keeps it."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.drawn = ""
        self.facts: dict[str, object] = {}
        self.all_facts: list[dict[str, object]] = []

    async def until(self, wanted) -> None:
        async with asyncio.timeout(PATIENCE_SECS):
            while not wanted(self):
                message = await self.socket.recv()
                if isinstance(message, bytes):
                    self.drawn += message.decode()
                else:
                    self.all_facts.append(json.loads(message))
                    self.facts |= self.all_facts[-1]

    async def sees(self, words: str) -> None:
        await self.until(lambda self: words in self.drawn)

    async def say(self, **wish: object) -> None:
        await self.socket.send(json.dumps(wish))


def size_of(story: Story) -> tuple[int, int]:
    pane = story.site.tmux.pane_of("llmc-adam")
    assert pane is not None
    return pane.width, pane.height


def clients(story: Story) -> str:
    return story.site.tmux.run("list-clients").text


def play(act) -> None:
    asyncio.run(asyncio.wait_for(act(), 2 * PATIENCE_SECS))


@pytest.mark.lesson(51, "a viewer never resizes the pane unless it takes control")
def test_a_viewer_sees_colours_and_no_sequence_of_the_program(story: Story, served: Served) -> None:
    async def act() -> None:
        async with served.terminal("adam") as socket:
            looker = Looker(socket)
            await looker.sees("┌─┐")
            assert looker.facts["size"] == [80, 24]
            assert (looker.facts["control"], looker.facts["mine"], looker.facts["dead"]) == (None, False, False)
            assert "<script>alert(1)</script>link" in looker.drawn
            assert "\x1b[31mstill red" in looker.drawn
            for evil in ("\x1b]", "\x1bP", "1003", "evil.example", "\x07"):
                assert evil not in looker.drawn
            await looker.say(size=[30, 10])
            await socket.send(b"not mine\r")
            await looker.until(lambda self: "error" in self.facts)
        assert size_of(story) == (80, 24)
        assert "not mine" not in story.site.tmux.capture("=llmc-adam:")

    play(act)
    assert clients(story) == ""


@pytest.mark.lesson(51, "a viewer never resizes the pane unless it takes control")
def test_control_types_pastes_and_resizes_and_gives_the_size_back(story: Story, served: Served) -> None:
    async def act() -> None:
        async with served.terminal("adam", control=True) as socket:
            looker = Looker(socket)
            await looker.until(lambda self: self.facts.get("mine") is True and self.drawn)
            await looker.say(size=[100, 30])
            await looker.until(lambda self: self.facts["size"] == [100, 30])
            await socket.send("grüße; ok".encode())
            await looker.say(key="Enter")
            await looker.sees("heard: grüße; ok")
            await looker.say(paste="first line\nsecond\x1b[201~ line\n")
            await looker.sees("heard: second[201~ line")
            assert "heard: first line" in looker.drawn
            await socket.send("{plain\r")
            await looker.sees("heard: {plain")
            for key in "x;'#\\~":
                await looker.say(key=key)
            await looker.say(paste="\x1b\x00")  # nothing is left of it
            await looker.say(key="Enter")
            await looker.sees("heard: x;'#\\~")
            assert "error" not in looker.facts
            await looker.say(key="kill-server")
            await looker.until(lambda self: "key" in str(self.facts.get("error")))
            await looker.say(control=False)
            await looker.until(lambda self: self.facts["control"] is None and self.facts["size"] == [80, 24])
        assert size_of(story) == (80, 24)

    play(act)
    assert clients(story) == ""


def test_taking_over_is_told_to_all_and_ends_with_the_socket(story: Story, served: Served) -> None:
    async def act() -> None:
        async with served.terminal("adam") as third:
            onlooker = Looker(third)
            async with served.terminal("adam", control=True) as one:
                first = Looker(one)
                await first.until(lambda self: self.facts.get("mine") is True and self.drawn)
                async with served.terminal("adam", control=True) as two:
                    second = Looker(two)
                    await second.until(lambda self: self.facts.get("mine") is True and self.drawn)
                    await first.until(lambda self: self.facts.get("mine") is False)
                    await onlooker.until(lambda self: self.facts.get("control") == "127.0.0.1")
                    await one.send(b"too late\r")
                    await first.until(lambda self: "error" in self.facts)
                    await second.say(size=[60, 20])
                    await onlooker.until(lambda self: self.facts.get("size") == [60, 20])
                await onlooker.until(lambda self: self.facts["control"] is None and self.facts["size"] == [80, 24])
        assert "too late" not in story.site.tmux.capture("=llmc-adam:")

    play(act)


def test_sockets_that_die_leave_no_control_no_size_and_nothing_open(story: Story, served: Served) -> None:
    """One is cut off, the other says nothing any more and does not answer."""
    served.get("/status")  # it is wholly there from then on
    before = open_sockets(served)
    for is_cut in (True, False):
        connection = raw_socket(served, control=True)
        wait_until(lambda: size_of(story) == (66, 22), PATIENCE_SECS)
        if is_cut:
            connection.setsockopt(sockets.SOL_SOCKET, sockets.SO_LINGER, struct.pack("ii", 1, 0))
            connection.close()
        wait_until(lambda: size_of(story) == (80, 24), PATIENCE_SECS)
        connection.close()
    wait_until(lambda: open_sockets(served) <= before, PATIENCE_SECS)
    assert clients(story) == ""


def raw_socket(served: Served, *, control: bool) -> sockets.socket:
    """A terminal that was resized to 66 x 22, by hand: nothing is read or answered."""
    connection = sockets.create_connection(("127.0.0.1", served.port))
    lines = [
        f"GET /api/v1/workers/adam/terminal?control={int(control)} HTTP/1.1",
        f"Host: 127.0.0.1:{served.port}",
        f"Authorization: Bearer {served.token}",
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ]
    connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
    assert b" 101 " in connection.recv(4096)
    connection.recv(4096)  # the terminal was found
    wait_until(lambda: connection.recv(65536))
    wish = b'{"size": [66, 22]}'
    connection.sendall(bytes((0x81, 0x80 | len(wish))) + bytes(4) + wish)
    return connection


def open_sockets(served: Served) -> int:
    open_files = Path(f"/proc/{served.process.pid}/fd").iterdir()
    return sum(os.path.realpath(file).rpartition("/")[2].startswith("socket:") for file in open_files)


def test_a_million_lines_reach_a_viewer_as_what_is_left_of_them(story: Story, served: Served) -> None:
    async def act() -> None:
        async with served.terminal("adam", control=True) as socket, served.terminal("adam") as slow:
            looker = Looker(socket)
            await looker.until(lambda self: self.facts.get("mine") is True and self.drawn)
            await socket.send(b"flood\r")
            await looker.sees("flood over")
            assert len(looker.drawn) < 20_000_000
            late = Looker(slow)
            await late.sees("flood over")
            # What a viewer can scroll back to is whole again.
            await looker.until(lambda self: whole_of(self.drawn, range(999_700, 1_000_000)))

    play(act)
    assert (
        int(Path(f"/proc/{served.process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") < 120 << 20
    )


def whole_of(drawn: str, numbers: range) -> bool:
    last = drawn.rpartition("\x1bc")[2]
    return all(f"{number}" in last for number in numbers)


def test_nothing_is_typed_to_a_dead_terminal_and_its_successor_is_shown(story: Story, served: Served) -> None:
    async def act() -> None:
        async with served.terminal("adam", control=True) as socket:
            looker = Looker(socket)
            await looker.until(lambda self: self.facts.get("mine") is True and self.drawn)
            await socket.send(b"end\r")
            await looker.until(lambda self: self.facts.get("dead") is True)
            await looker.say(paste="kills a server of tmux 3.3a")
            await socket.send(b"x")
            await looker.until(lambda self: "error" in self.facts)
            tmux = story.site.tmux
            tmux.kill_session("llmc-adam")
            tmux.new_session("llmc-adam", str(story.place), ["sh", "-c", "echo the next one; cat"], {}, (80, 24))
            await looker.sees("the next one")
            assert looker.facts["dead"] is False

    play(act)


def test_a_cookie_needs_the_secret_in_its_first_frame(story: Story, served: Served) -> None:
    page = served.log_in()
    cookie = {"Cookie": page["Cookie"]}

    async def opened(headers: dict[str, str], first: object) -> str:
        async with served.terminal("adam", control=True, headers=headers) as socket:
            await socket.send(json.dumps(first))
            with suppress(ConnectionClosed):
                return str(await asyncio.wait_for(socket.recv(), PATIENCE_SECS))
            return f"closed {socket.close_code}"

    async def refused(worker: str = "adam", **sent: object) -> int:
        with pytest.raises(InvalidStatus) as status:
            async with served.terminal(worker, **sent):  # type: ignore[arg-type]
                pass
        return status.value.response.status_code

    async def act() -> None:
        own = {**cookie, "Origin": page["Origin"]}
        assert "control" in await opened(own, {"secret": page["X-LLMC-Secret"]})
        assert await opened(own, {"secret": "wrong"}) == "closed 4401"
        assert await opened(own, {"control": True}) == "closed 4401"
        assert await refused(headers={}) == 401
        assert await refused(headers={"Cookie": "llmc=x"}) == 401
        assert await refused(headers=cookie) == 403
        assert await refused(headers=cookie, origin="http://evil.example") == 403
        assert await refused(origin="http://evil.example") == 403
        assert await refused(headers={**served.bearer, "Host": "evil.example"}) in (400, 403)
        async with served.terminal("nobody") as socket:
            with pytest.raises(ConnectionClosed):
                await socket.recv()
            assert socket.close_code == 4404

    play(act)


def test_read_only_lets_nobody_type(story: Story) -> None:
    async def act(served: Served) -> None:
        with pytest.raises(InvalidStatus) as status:
            async with served.terminal("adam", control=True):
                pass
        assert status.value.response.status_code == 403
        async with served.terminal("adam") as socket:
            looker = Looker(socket)
            await looker.sees("still red")
            await looker.say(control=True)
            await looker.until(lambda self: "error" in self.facts)
            await socket.send(b"hello\r")
            assert looker.facts["control"] is None

    with serving(story.root, "--read-only") as served:
        asyncio.run(asyncio.wait_for(act(served), PATIENCE_SECS))
    assert "hello" not in story.site.tmux.capture("=llmc-adam:")
    story.site.tmux.stop()


def test_a_server_that_is_killed_with_control_gives_the_size_back_when_it_is_started(story: Story) -> None:
    with serving(story.root) as served, raw_socket(served, control=True):
        wait_until(lambda: size_of(story) == (66, 22), PATIENCE_SECS)
        served.end(signal.SIGKILL)
    assert size_of(story) == (66, 22)
    with serving(story.root):
        wait_until(lambda: size_of(story) == (80, 24), PATIENCE_SECS)
    story.site.tmux.stop()
