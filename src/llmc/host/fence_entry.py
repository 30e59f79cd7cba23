"""Becomes bubblewrap: what the fence is made of stands in a file, and none of it on a command line.

Run by itself, without anything else of LLMC loaded: `python -I -S fence_entry.py ORDER`. The environment is made small
before bubblewrap starts: what its first process began with can be read from inside.
"""

from __future__ import annotations

import os
import stat
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FORWARDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fence_forward.py")
PROXY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fence_proxy.py")
PORT = "3128"
OF_THE_TERMINAL = ("TERM", "COLORTERM")
NAMESPACES = (
    *("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--disable-userns"),
    *("--die-with-parent", "--cap-drop", "ALL", "--hostname", "fence"),
)
KERNEL = ("sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi", "driver", "mtrr")
"""Of `/proc`: the superuser may write there even without any capability."""
PLACES = (
    *("--dev", "/dev", "--proc", "/proc", "--tmpfs", "/var/tmp", "--dir", "/run"),
    *(word for name in KERNEL for word in ("--ro-bind-try", f"/proc/{name}", f"/proc/{name}")),
)
LAST = ("--remount-ro", "/")
LANDLOCK_CREATE, LANDLOCK_RESTRICT, ABSTRACT_SOCKETS, NO_NEW_PRIVILEGES = 444, 446, 1, 38
"""As the kernel numbers them, on every machine."""


def written(order: Mapping[str, Sequence[str]]) -> bytes:
    """As `_read` reads it: to load a reader of JSON takes longer than all of the rest."""
    fields = [field for name, words in order.items() for field in (name, str(len(words)), *words)]
    return "\0".join(fields).encode("utf-8", "surrogateescape")


def _read(path: str) -> dict[str, list[str]]:
    with open(path, "rb") as file:
        fields = file.read().decode("utf-8", "surrogateescape").split("\0")
    order, at = {}, 0
    while at < len(fields):
        words = at + 2 + int(fields[at + 1])
        order[fields[at]] = fields[at + 2 : words]
        at = words
    return order


def main() -> None:
    order = _read(sys.argv[1])
    kept = {name: os.environ[name] for name in (*order["kept"], *OF_THE_TERMINAL) if name in os.environ}
    environment = {**kept, **_variables(order["variables"])}
    command = _behind_proxy(order) if order["allowed"] else order["command"]
    words = [*NAMESPACES, *order["network"], *order["base"], *PLACES, *order["mounts"], *LAST]
    words += ["--chdir", *order["directory"]]
    told = ["--args", str(_in_memory("\0".join(words).encode("utf-8", "surrogateescape") + b"\0"))]
    told += ["--seccomp", str(_in_memory(bytes.fromhex(order["filter"][0])))]
    (program,) = order["program"]
    if not order["network"] and not os.stat(program).st_mode & stat.S_ISUID:
        keep_to_own_sockets()
    os.execve(program, [program, *told, "--", *command], environment)


def keep_to_own_sockets() -> bool:
    """Sockets by a name without a file belong to the network, which is shared: among them a person's screen.

    From here on only those can be reached that were made in the fence. False before Linux 6.12, which cannot do that.
    """
    import ctypes  # takes as long to load as all of the rest

    call = ctypes.CDLL(None, use_errno=True).syscall
    scoped = b"".join(value.to_bytes(8, sys.byteorder) for value in (0, 0, ABSTRACT_SOCKETS))
    rules = call(LANDLOCK_CREATE, ctypes.c_char_p(scoped), len(scoped), 0)
    if rules < 0:
        return False
    ctypes.CDLL(None).prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    kept = bool(call(LANDLOCK_RESTRICT, rules, 0) == 0)
    os.close(rules)
    return kept


def _variables(pairs: list[str]) -> dict[str, str]:
    return dict(zip(pairs[::2], pairs[1::2], strict=True))


def _in_memory(content: bytes) -> int:
    """A file that bubblewrap inherits, and that has no name."""
    fd = os.memfd_create("llmc", 0)
    os.write(fd, content)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _behind_proxy(order: dict[str, list[str]]) -> list[str]:
    """The proxy stays outside; into the fence leads one socket, through which connections are handed to it."""
    import socket  # takes as long to load as all of the rest

    outside, inside = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if os.fork() == 0:
        os.set_inheritable(outside.fileno(), True)
        inside.close()
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        argv = [sys.executable, "-I", "-S", PROXY, str(outside.fileno()), *order["allowed"]]
        os.execve(sys.executable, argv, {**os.environ, **_variables(order["marks"])})
    outside.close()
    os.set_inheritable(inside.fileno(), True)
    return [sys.executable, "-I", "-S", FORWARDER, str(inside.detach()), PORT, *order["command"]]


if __name__ == "__main__":
    main()
