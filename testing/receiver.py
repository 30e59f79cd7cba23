"""A program that keeps every byte that its terminal gives it, as a full-screen agent would get them.

`python testing/receiver.py FILE [plain]` puts the terminal into raw mode, asks for bracketed paste
(unless `plain`), says `ready` and appends what arrives to FILE until the terminal is closed.
"""

from __future__ import annotations

import os
import sys
import tty

CHUNK = 65_536
ASK_FOR_BRACKETS = b"\x1b[?2004h"
PASTE_BEGINS, PASTE_ENDS = b"\x1b[200~", b"\x1b[201~"


def receive(path: str, *, brackets: bool) -> None:
    tty.setraw(0)
    with open(path, "ab", buffering=0) as received:
        os.write(1, (ASK_FOR_BRACKETS if brackets else b"") + b"ready\r\n")
        while chunk := os.read(0, CHUNK):
            received.write(chunk)


if __name__ == "__main__":
    receive(sys.argv[1], brackets="plain" not in sys.argv[2:])
