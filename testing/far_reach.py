"""A reach from far away: `far_reach.py MS ssh HOST sh -c COMMAND`; every byte takes so long, in each direction."""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import threading
import time


def carry(source: int, target: int, delay: float) -> None:
    """What is read now is written so much later, and in order; what comes meanwhile does not wait for it."""
    waiting: queue.Queue[tuple[float, bytes]] = queue.Queue()

    def write() -> None:
        while True:
            due, data = waiting.get()
            time.sleep(max(0.0, due - time.monotonic()))
            if not data:
                os.close(target)
                return
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(target, rest) :]

    writing = threading.Thread(target=write, daemon=True)
    writing.start()
    while data := os.read(source, 1 << 16):
        waiting.put((time.monotonic() + delay, data))
    waiting.put((time.monotonic() + delay, b""))
    writing.join()


def main() -> int:
    delay, (*ssh, _, _, command) = float(sys.argv[1]) / 1000, sys.argv[2:]
    inner = subprocess.Popen([*ssh, command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
    assert inner.stdin is not None
    assert inner.stdout is not None
    there, back = os.dup(inner.stdin.fileno()), os.dup(inner.stdout.fileno())
    inner.stdin.close()
    inner.stdout.close()
    threading.Thread(target=carry, args=(0, there, delay), daemon=True).start()
    carry(back, os.dup(1), delay)
    return inner.wait()


if __name__ == "__main__":
    code = main()
    os._exit(code)
