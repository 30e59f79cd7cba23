"""Calling the person, by every way that the settings name. None of them can hold anything up."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from html import escape

from llmc.config.sections import NotifySettings
from llmc.core.notice import Notice, as_posted
from llmc.errors import LlmcError
from llmc.host.background import Errands
from llmc.host.base import Host
from llmc.host.web import post
from llmc.tmux.server import Tmux
from llmc.tmux.windows import client_terminals, show_message
from llmc.values import Value

COMMAND_SECS = 10.0
DESKTOP_SECS = 5.0
WEBHOOK_SECS = 5.0
SCRIPT = ("on run argv", "display notification (item 2 of argv) with title (item 1 of argv)", "end run")


class Caller(Value):
    host: Host
    settings: NotifySettings
    errands: Errands

    def call(self, notice: Notice, servers: Sequence[Tmux], tty: str = "") -> None:
        """`servers` are those whose clients get a line and a bell, `tty` the one terminal whose bell rings instead."""
        for name, way in self._ways(notice, servers, tty):
            self.errands.run(name, way)

    def _ways(self, notice: Notice, servers: Sequence[Tmux], tty: str) -> list[tuple[str, Callable[[], None]]]:
        wanted: list[tuple[object, str, Callable[[], None]]] = [
            (self.settings.bell, "the bell", lambda: _ring(servers, tty)),
            (self.settings.tmux_message, "the message in tmux", lambda: _show(servers, notice)),
            (self.settings.desktop, "the desktop notification", lambda: self._show_on_desktop(notice)),
            (self.settings.command, "the notify command", lambda: self._run_command(notice)),
            (self.settings.webhook, "the webhook", lambda: self._post(notice)),
        ]
        return [(name, way) for switched_on, name, way in wanted if switched_on]

    def _show_on_desktop(self, notice: Notice) -> None:
        title = f"LLMC: {notice.who}"
        if self.host.which("notify-send"):
            argv = ["notify-send", "--app-name=LLMC", "--", title, _for_notify_send(notice.text)]
        elif self.host.which("osascript"):
            argv = ["osascript", *(word for line in SCRIPT for word in ("-e", line)), title, notice.text]
        else:
            raise LlmcError("there is neither notify-send nor osascript", "install one, or set notify.desktop to false")
        self._require(argv, DESKTOP_SECS)

    def _run_command(self, notice: Notice) -> None:
        """The words go by the environment: nothing that an agent says becomes a part of the command."""
        told = {"WHO": notice.who, "KIND": notice.kind, "WHY": notice.why, "ASKED": notice.asked, "TEXT": notice.text}
        variables = {f"LLMC_NOTICE_{name}": value for name, value in told.items()}
        self._require(["sh", "-c", self.settings.command], COMMAND_SECS, {**self.host.environ(), **variables})

    def _require(self, argv: Sequence[str], timeout: float, env: dict[str, str] | None = None) -> None:
        done = self.host.run(argv, timeout=timeout, env=env)
        if not done.ok:
            raise LlmcError(f"it ended with {done.code}: {done.complaint[:200]}")

    def _post(self, notice: Notice) -> None:
        body, headers = as_posted(notice, self.settings.format, time.time())
        response = post(self.settings.webhook, body, headers, WEBHOOK_SECS)
        if not response.ok:
            raise LlmcError(f"it answered {response.status}")


def _ring(servers: Sequence[Tmux], tty: str) -> None:
    """In one terminal alone, where tmux marks its window; else in ours and in all from which somebody looks on."""
    if tty:
        _ring_in(tty)
        return
    if sys.stderr.isatty():
        sys.stderr.write("\a")
        sys.stderr.flush()
    for server in servers:
        for looking_on in client_terminals(server):
            _ring_in(looking_on)


def _ring_in(tty: str) -> None:
    with suppress(OSError):
        number = os.open(tty, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
        try:
            os.write(number, b"\a")
        finally:
            os.close(number)


def _for_notify_send(text: str) -> str:
    """It takes backslashes for escapes, and desktops take what is in angle brackets for links and pictures."""
    return escape(text.replace("\\", "\\\\"), quote=False)


def _show(servers: Sequence[Tmux], notice: Notice) -> None:
    for server in servers:
        show_message(server, notice.text)
