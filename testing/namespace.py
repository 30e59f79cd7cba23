"""A machine of its own inside this one: only loopback for a network, its own processes, the same files.

Real agent CLIs run in it: they cannot reach anything, and nothing of them is left when it ends. Linux only; as root, or
where the kernel lets users make user namespaces.
"""

from __future__ import annotations

import os
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fcntl import ioctl
from pathlib import Path
from shutil import which

from llmc.host.base import Completed
from llmc.host.local import LocalHost

PROJECT = Path(__file__).resolve().parent.parent
SPACES = {"net": "net", "mount": "mnt", "pid": "pid_for_children"}
SET_INTERFACE_FLAGS, INTERFACE_UP = 0x8914, 1
READY, LISTEN = b"r", b"l"


class NamespaceError(RuntimeError):
    """This machine does not let us have one."""


class Namespace:
    """Ends with `stop`, and in any case with the process that started it."""

    @classmethod
    def start(cls) -> Namespace:
        if which("unshare") is None or which("nsenter") is None:
            raise NamespaceError("there is no `unshare` and `nsenter` here: it takes Linux with util-linux")
        complaint = ""
        for as_user in (False, True) if os.geteuid() == 0 else (True,):
            namespace = cls(as_user=as_user)
            if namespace._control.recv(1) == READY:
                return namespace
            complaint = namespace._complaint()
        raise NamespaceError(f"the kernel does not allow it: {complaint}")

    def __init__(self, *, as_user: bool) -> None:
        self._as_user = as_user
        self._control, inside = socket.socketpair()
        options = ["--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
        program = [sys.executable, "-m", "testing.namespace", str(inside.fileno())]
        with inside:
            self._process = subprocess.Popen(
                ["unshare", *(["--map-root-user"] if as_user else []), *options, "--", *program],
                cwd=PROJECT,
                env={"PATH": os.environ["PATH"]},
                pass_fds=[inside.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )

    def _complaint(self) -> str:
        self._control.close()
        return self._process.communicate()[1].decode("utf-8", "replace").strip()

    def entering(self) -> list[str]:
        """The words to put before a command so that it runs inside."""
        spaces = [f"--{name}=/proc/{self._process.pid}/ns/{file}" for name, file in SPACES.items()]
        user = [f"--user=/proc/{self._process.pid}/ns/user", "--preserve-credentials"] if self._as_user else []
        return ["nsenter", *user, *spaces, "--"]

    def run(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: str = "/",
        stdin: bytes = b"",
        timeout: float = 60.0,
    ) -> Completed:
        """Runs a program inside to its end."""
        # The directory is that of another mount namespace: only a program inside can go there.
        inside = [*self.entering(), "env", f"--chdir={cwd}", *argv]
        return LocalHost().run(inside, env=env, stdin=stdin, timeout=timeout)

    def listen(self) -> socket.socket:
        """A socket of this process that listens on the loopback address inside."""
        self._control.sendall(LISTEN)
        _, (descriptor,), _, _ = socket.recv_fds(self._control, 1, 1)
        return socket.socket(fileno=descriptor)

    def stop(self) -> None:
        """Ends every process inside."""
        self._control.close()
        self._process.communicate()


@dataclass(frozen=True, slots=True)
class InsideHost(LocalHost):
    """The machine inside, as LLMC's own rooms want it: same files, other processes."""

    namespace: Namespace
    env: Mapping[str, str]

    def run(
        self,
        argv: Sequence[str],
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
        timeout: float = 120.0,
    ) -> Completed:
        environment = self.env if env is None else env
        return self.namespace.run(argv, env=environment, cwd=cwd or "/", stdin=stdin, timeout=timeout)

    def which(self, program: str) -> str | None:
        return which(program, path=self.env["PATH"])

    def environ(self) -> dict[str, str]:
        return dict(self.env)


def be_first_process(control: socket.socket) -> None:
    """Serves the side that stays outside; the kernel ends everything inside when this process ends."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # orphans are ours now, and nobody wants to know how they end
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        ioctl(any_socket, SET_INTERFACE_FLAGS, struct.pack("16sh22x", b"lo", INTERFACE_UP))
    control.sendall(READY)
    while control.recv(1) == LISTEN:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            socket.send_fds(control, [LISTEN], [listener.fileno()])


if __name__ == "__main__":
    be_first_process(socket.socket(fileno=int(sys.argv[1])))
