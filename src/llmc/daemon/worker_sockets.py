"""The sockets by which the agents of supervisors reach the tools of LLMC. Each belongs to one worker.

Threads that wait for the system, and a process for each connection: the daemon has nothing to do with what is asked.
"""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable, Collection
from threading import Semaphore, Thread

from llmc.host.files import make_own_directory
from llmc.host.own_socket import listen_at, serve_connection, stop_listening
from llmc.root import Root

MOST_CONNECTIONS = 8
"""Of one worker at once: a CLI opens one, and one for each of its own helpers."""


class WorkerSockets:
    def __init__(self, root: Root, complain: Callable[[str, str], object]) -> None:
        self._root = root
        self._complain = complain
        self._listening: dict[str, socket.socket] = {}

    def follow(self, names: Collection[str]) -> None:
        """These have one, and no others."""
        for name in self._listening.keys() - names:
            self._stop(name)
        for name in names - self._listening.keys():
            try:
                self._listen(name)
            except OSError as refused:
                self._complain(name, f"its agent has no tools of LLMC: {refused}")

    def close(self) -> None:
        """Connections that are open go on until their agents end."""
        self.follow(())

    def _listen(self, name: str) -> None:
        make_own_directory(self._root.settings_dir(name))
        listening = self._listening[name] = listen_at(self._root.tools_socket(name))
        Thread(target=self._accept, args=(name, listening), name=f"tools of {name}", daemon=True).start()

    def _stop(self, name: str) -> None:
        stop_listening(self._listening.pop(name), self._root.tools_socket(name))

    def _accept(self, name: str, listening: socket.socket) -> None:
        free = Semaphore(MOST_CONNECTIONS)
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return  # it is over
            if free.acquire(blocking=False):
                Thread(target=self._serve, args=(name, connection, free), daemon=True).start()
            else:
                connection.close()

    def _serve(self, name: str, connection: socket.socket, free: Semaphore) -> None:
        argv = [sys.executable, "-P", "-m", "llmc.cli.main", "--root", self._root.path, "mcp", f"--worker={name}"]
        try:
            serve_connection(argv, connection, self._root.inside("logs", "mcp-output.log"))
        except OSError as refused:
            self._complain(name, f"its agent got no tools of LLMC: {refused}")
        finally:
            free.release()
