"""From a fork of the keeper to a machine of its own, and its first process, which does what it is told."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from testing.machines import kernel
from testing.machines.errands import Streams, listening_at, name_process, run_ordered, serve, tell
from testing.machines.plan import GIT, LOCKED, PATH, RUN, STRANGER, Plot, accounts, programs

DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
PATIENCE_SECS = 20.0


def boot(plot: Plot) -> tuple[int, int]:
    """The machine's first process, and ours that waits for it. Both as the keeper counts them."""
    kernel.ip(
        f"link add v{plot.number}.{plot.boots} type veth peer name p{plot.number}.{plot.boots} address {plot.mac}",
        f"link set v{plot.number}.{plot.boots} master hub up",
    )
    answer, tell_pid = os.pipe()
    go, tell_go = os.pipe()
    middle = os.fork()
    if middle == 0:
        _be_between(plot, tell_pid, go)
    os.close(tell_pid)
    pid = int(os.read(answer, 20))
    kernel.ip(f"link set p{plot.number}.{plot.boots} netns {middle}")
    os.write(tell_go, b"g")
    ready = os.read(answer, 1)
    for pipe in (answer, go, tell_go):
        os.close(pipe)
    if ready != b"r":
        raise RuntimeError(f"{plot.name} did not come up")
    return pid, middle


def _be_between(plot: Plot, say: int, go: int) -> NoReturn:
    kernel.unshare(kernel.NEW_MOUNTS, kernel.NEW_NAMES, kernel.NEW_IPC, kernel.NEW_NETWORK, kernel.NEW_PIDS)
    first = os.fork()
    if first == 0:
        _be_first(plot, say, go)
    os.write(say, str(first).encode().ljust(20))
    os.close(say)
    os._exit(os.waitstatus_to_exitcode(os.waitpid(first, 0)[1]) % 256)


def _be_first(plot: Plot, say: int, go: int) -> NoReturn:
    os.read(go, 1)
    name_process(f"init {plot.name}")
    kernel.make_private()
    kernel.name_host(plot.name)
    kernel.ip(
        "link set lo up",
        f"link set p{plot.number}.{plot.boots} name eth0",
        f"addr add {plot.address}/24 dev eth0",
        "link set eth0 up",
    )
    _lay_out(plot)
    os.environ.clear()
    os.environ.update(PATH=PATH, HOME=plot.home, LANG="C.UTF-8")
    Path(RUN, "socket").unlink(missing_ok=True)
    listening = listening_at(f"{RUN}/socket")
    start_sshd()
    os.write(say, b"r")
    os.close(say)
    serve(listening, attend=lambda client, order, streams: _attend(plot, client, order, streams))
    os._exit(0)


def _lay_out(plot: Plot) -> None:
    """The files of this machine over those of the real one, and what only the kernel has."""
    root = f"{plot.disk}/root"
    for name in ("upper", "work", "root", "home"):
        Path(plot.disk, name).mkdir(parents=True, exist_ok=True)
    layers = f"lowerdir=/,upperdir={plot.disk}/upper,workdir={plot.disk}/work"
    kernel.mount("overlay", root, layers)
    for directory in sorted(programs()):
        if os.stat(directory).st_dev != os.stat("/").st_dev:
            Path(root + directory).mkdir(parents=True, exist_ok=True)
            kernel.bind(directory, root + directory)
    for directory, mode in (("/dev", "755"), ("/tmp", "1777"), ("/run", "755"), ("/home", "755"), ("/var/tmp", "1777")):
        Path(root + directory).mkdir(exist_ok=True)
        kernel.mount("tmpfs", root + directory, f"mode={mode}")
    for device in DEVICES:
        Path(f"{root}/dev/{device}").touch()
        kernel.bind(f"/dev/{device}", f"{root}/dev/{device}")
    Path(f"{root}/dev/shm").mkdir()
    kernel.mount("tmpfs", f"{root}/dev/shm", "mode=1777")
    for directory in ("/dev/pts", "/run/sshd", RUN, plot.home, plot.shared):
        Path(root + directory).mkdir(parents=True, exist_ok=True)
    kernel.mount("devpts", f"{root}/dev/pts", "newinstance,ptmxmode=0666,mode=0620,gid=5")
    os.symlink("pts/ptmx", f"{root}/dev/ptmx")
    os.symlink("/proc/self/fd", f"{root}/dev/fd")
    kernel.bind("/sys", f"{root}/sys", kernel.RECURSIVE)
    kernel.bind(plot.run, root + RUN)
    kernel.bind(f"{plot.disk}/home", root + plot.home)
    kernel.bind(plot.shared, root + plot.shared)
    kernel.write(accounts(plot), below=root)
    Path(f"{root}/etc/ssh/machine_key").chmod(0o600)
    Path(f"{root}/usr/local/bin/llmc").chmod(0o755)
    for number, name in ((1500, STRANGER), (1501, LOCKED)):
        Path(f"{root}/home/{name}").mkdir()
        os.chown(f"{root}/home/{name}", number, number)
    furnish(f"{plot.disk}/home")
    kernel.mount("proc", f"{root}/proc", source="proc")
    kernel.move_root(root)


def furnish(home: str) -> None:
    """What a user has before the first login."""
    settings = Path(home, ".gitconfig")
    if not settings.exists():
        settings.write_text(GIT)


def start_sshd() -> None:
    argv = ["/usr/sbin/sshd", "-D", "-E", "/run/sshd.log", "-f", "/etc/ssh/machine_config"]
    before = signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    subprocess.Popen(argv, stdin=subprocess.DEVNULL, start_new_session=True)
    signal.signal(signal.SIGCHLD, before)
    until = time.monotonic() + PATIENCE_SECS
    while time.monotonic() < until:
        with suppress(OSError), socket.create_connection(("127.0.0.1", 22), timeout=1):
            return
        time.sleep(0.002)
    raise RuntimeError(f"sshd did not come up: {Path('/run/sshd.log').read_text()}")


def _attend(plot: Plot, client: socket.socket, order: dict[str, Any], streams: Streams) -> NoReturn:
    if order.get("tidy"):
        tell(client, os.getpid())
        _tidy(plot)
        tell(client, 0)
        os._exit(0)
    run_ordered(client, order, streams)


def _tidy(plot: Plot) -> None:
    """As after the first boot: none of the programs runs that somebody has started, and the home is empty."""
    own = {1, os.getpid()}
    while others := {int(entry.name) for entry in Path("/proc").glob("[0-9]*")} - own:
        for pid in others:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.002)
    subprocess.run(["nft", "flush", "ruleset"], check=True)
    for place in (plot.home, "/tmp"):
        for entry in Path(place).iterdir():
            if Path(plot.place).is_relative_to(entry):
                continue  # what is shared is mounted there
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            else:
                entry.unlink()
    furnish(plot.home)
    start_sshd()
