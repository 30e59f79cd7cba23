"""What the daemon of a hub does for machines: one connection to each, what they tell is kept, and what was cut is made
up for. Nothing here decides about a worker: that is for its own machine."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from llmc.errors import LlmcError
from llmc.fleet.attendant import Attendant
from llmc.fleet.reach import UnreachableError
from llmc.fleet.registry import read_fleet
from llmc.fleet.switchboard_socket import short_path
from llmc.fleet.wire import decode_line, encode_line
from llmc.host.files import make_own_directory
from llmc.site import Site

FIRST_WAIT_SECS = 20.0
"""For a machine that nobody could have reached yet."""


class Switchboard:
    """`complain` and `settled` are told of each machine, by its name."""

    def __init__(self, site: Callable[[], Site], complain: Callable[[str, str], object]) -> None:
        self._site = site
        self._complain = complain
        self._attendants: dict[str, Attendant] = {}
        self._listening: socket.socket | None = None

    def follow(self) -> None:
        """Those machines that there are now."""
        try:
            members = read_fleet(self._site().root).members
        except LlmcError as broken:
            self._complain("machines", broken.what)
            return
        if self._listening is None:
            self._listen()
        for name in [name for name in self._attendants if name not in members]:
            self._attendants.pop(name).leave()
        for name, member in members.items():
            known = self._attendants.get(name)
            if known is not None and known.id == member.id:
                if member != known.member:
                    known.member = member
                    known.stir()
                continue
            if known is not None:
                known.leave()
            self._attendants[name] = Attendant(self._site, member, self._complain)
            self._attendants[name].start()

    def branch_has_moved(self) -> None:
        for each in self._attendants.values():
            each.stir(branch=True)

    def close(self) -> None:
        for each in self._attendants.values():
            each.leave()
        for each in self._attendants.values():
            each.join_for_a_while()
        if self._listening is not None:
            with suppress(OSError):
                self._listening.shutdown(socket.SHUT_RDWR)
            self._listening.close()
            with suppress(OSError):
                os.unlink(self._site().root.switchboard)

    # --- for commands -----------------------------------------------------------------------------------

    def _listen(self) -> None:
        root = self._site().root
        make_own_directory(root.known_machines)
        with suppress(FileNotFoundError):
            os.unlink(root.switchboard)
        listening = socket.socket(socket.AF_UNIX)
        with short_path(root) as path:
            before = os.umask(0o177)
            try:
                listening.bind(path)
            finally:
                os.umask(before)
        listening.listen()
        self._listening = listening
        threading.Thread(target=self._accept, args=(listening,), name="switchboard", daemon=True).start()

    def _accept(self, listening: socket.socket) -> None:
        with suppress(OSError):  # closed
            while True:
                client, _ = listening.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, client.makefile("rb") as orders, suppress(OSError):
            asked = decode_line(orders.readline())
            client.sendall(encode_line(self._answer(asked)))

    def _answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        attendant = self._attendants.get(str(asked.get("machine")))
        if attendant is None:
            return {"unattended": True}  # it has joined just now
        try:
            link = attendant.link_within(FIRST_WAIT_SECS)
            return link.ask(float(asked["within"]), **asked["order"])
        except UnreachableError as silent:
            return {"unreachable": silent.what, "hint": silent.hint, "sent": silent.was_sent}
        except LlmcError as wrong:
            return {"unreachable": wrong.what, "hint": wrong.hint, "sent": False}
