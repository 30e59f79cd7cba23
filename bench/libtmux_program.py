"""Run by the Python of libtmux's own environment, never by the project's.

`watch SOCKET` does what a program on libtmux does to know what its terminals show: list them and capture each, once a
second. `send SOCKET PANE` types every line of its input, a JSON string, and submits it.
"""

from __future__ import annotations

import json
import sys
import time
from itertools import chain, repeat

import libtmux

PERIOD_SECS = 1.0


def watch(server: libtmux.Server) -> None:
    for first in chain([True], repeat(False)):
        began = time.monotonic()
        for pane in server.panes:
            pane.capture_pane()
        if first:
            print("looked", flush=True)
        time.sleep(max(0.0, PERIOD_SECS - (time.monotonic() - began)))


def send(server: libtmux.Server, pane_id: str) -> None:
    pane = next(pane for pane in server.panes if pane.pane_id == pane_id)
    print("ready", flush=True)
    for line in sys.stdin:
        try:
            pane.send_keys(json.loads(line), enter=True, literal=True)
        except OSError:
            print("refused", flush=True)
        else:
            print("sent", flush=True)


if __name__ == "__main__":
    what, socket_name, *words = sys.argv[1:]
    at = libtmux.Server(socket_name=socket_name)
    if what == "watch":
        watch(at)
    else:
        send(at, *words)
