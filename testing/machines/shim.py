"""`llmc` on a machine: asks the process that has it loaded to fork. At a terminal it is the real one."""

import json
import os
import signal
import socket
import sys

PROGRAM = "PROGRAM"  # put in by whoever installs this
CLOCK = "/run/machine/clock"
MOVED = {"PYTHONPATH": "CLOCK_DIRECTORY", "LLMC_CHAOS_CLOCK": CLOCK}


def main() -> int:
    if os.path.exists(CLOCK):
        os.environ.update(MOVED)
    if any(os.isatty(stream) for stream in range(3)) or os.environ.get("LLMC_COLD"):
        os.execv(PROGRAM, [PROGRAM, *sys.argv[1:]])
    asking = socket.socket(socket.AF_UNIX)
    asking.connect("/run/machine/socket")
    order = {"llmc": sys.argv[1:], "env": dict(os.environ), "cwd": os.getcwd()}
    text = json.dumps(order).encode()
    socket.send_fds(asking, [len(text).to_bytes(8, "big")], [0, 1, 2])
    asking.sendall(text)
    for stream in range(3):
        os.close(stream)  # so that whoever reads sees the end of the fork's
    pid = int.from_bytes(asking.recv(4), "big", signed=True)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda number, _: os.kill(pid, number))
    return int.from_bytes(asking.recv(4), "big", signed=True) % 256


if __name__ == "__main__":
    os._exit(main())
