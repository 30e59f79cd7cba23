"""A reach that can be cut: `cut_reach.py MARK COMMAND...` carries the command's input and output while MARK is absent.

It stays between both, as ssh does: killed, it takes the connection along, and what runs at the other end goes on.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading

REFUSED = 255


def carry(source: int, target: int) -> None:
    try:
        while data := os.read(source, 1 << 16):
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(target, rest) :]
    except OSError:
        pass
    finally:
        os.close(target)


def main() -> int:
    mark, command = sys.argv[1], sys.argv[2:]
    if os.path.exists(mark):
        sys.stderr.write("the machine is cut off\n")
        return REFUSED
    inner = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
    assert inner.stdin is not None
    assert inner.stdout is not None
    there, back = os.dup(inner.stdin.fileno()), os.dup(inner.stdout.fileno())
    inner.stdin.close()
    inner.stdout.close()
    threading.Thread(target=carry, args=(0, there), daemon=True).start()
    carry(back, os.dup(1))
    return inner.wait()


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)
