"""Inside a fence without network: takes connections on loopback, and hands them to the proxy outside as they are.

`python -I -S fence_forward.py SOCKET PORT COMMAND...`; becomes the command.
"""

from __future__ import annotations

import os
import socket
import sys


def main() -> None:
    way_out, port, command = socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2]), sys.argv[3:]
    listening = socket.create_server(("127.0.0.1", port), backlog=128)
    if os.fork() == 0:
        _hand_on(listening, way_out)
    way_out.close()
    listening.close()
    try:
        os.execvp(command[0], command)
    except OSError as refused:
        sys.exit(f"{command[0]}: {refused.strerror}")


def _hand_on(listening: socket.socket, way_out: socket.socket) -> None:
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    while True:
        client, _ = listening.accept()
        with client:
            try:
                socket.send_fds(way_out, [b"c"], [client.fileno()])
            except OSError:
                os._exit(1)


if __name__ == "__main__":
    main()
