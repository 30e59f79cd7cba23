"""Three machines and a hub beside them, for tests: `with three_machines() as bed`, then `bed["m1"].cut()` and so on."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from pwd import getpwuid

from testing.commands import NO_CHANGES, PATIENCE_SECS, Changes, CommandFailedError, Llmc, Said, said_by
from testing.machines import shim
from testing.machines.errands import Errand, begin, run_there
from testing.machines.keeper import READY
from testing.machines.plan import PATH, RUN, Plot, client_settings
from testing.moved_clock import CLOCK
from testing.namespace import PROJECT
from testing.roots import make_repository
from testing.waiting import wait_until

NAMES = ("m1", "m2", "m3")
NEEDED = ("unshare", "ip", "nft", "sshd", "ssh", "ssh-keygen", "pivot_root", "nsenter")
DROP_INCOMING = 'chain incoming { type filter hook input priority 0; iifname "eth0" drop; }'
DROP_OUTGOING = 'chain outgoing { type filter hook output priority 0; oifname "eth0" drop; }'
SPACES = ("--net", "--mount", "--pid", "--uts", "--ipc", "--fork", "--kill-child", "--mount-proc")
SYSTEM_PATH = f"{os.environ['PATH']}:/usr/sbin:/sbin"


class NoMachinesError(RuntimeError):
    """This machine cannot have others inside."""


def why_not() -> str | None:
    """What keeps us from having machines here."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "machines inside this one need Linux and root"
    missing = [name for name in NEEDED if shutil.which(name, path=SYSTEM_PATH) is None]
    return f"not installed: {', '.join(missing)}; `make bootstrap-dev` does it" if missing else None


@dataclass(slots=True)
class Machine:
    bed: Machines
    plot: Plot
    _life: Errand | None = None

    @property
    def name(self) -> str:
        return self.plot.name

    @property
    def home(self) -> str:
        return self.plot.home

    # --- on and off ---------------------------------------------------------------------------------

    @property
    def is_on(self) -> bool:
        return self._life is not None

    def boot(self) -> None:
        """With the disk as it was left."""
        assert self._life is None, f"{self.name} runs"
        Path(self.plot.run).mkdir(parents=True, exist_ok=True)
        self.plot = replace(self.plot, boots=self.plot.boots + 1)
        self._life = self.bed.begin({"boot": asdict(self.plot)}, log=f"{self.name}.log")

    def kill(self) -> None:
        """As by a power cut: every process ends at once."""
        assert self._life is not None, f"{self.name} does not run"
        life, self._life = self._life, None
        self.bed.run("kill", "-KILL", str(life.pid))
        life.ended(PATIENCE_SECS)

    def forget(self) -> None:
        """It has ended with its keeper."""
        if self._life is not None:
            self._life.connection.close()

    def tidy(self) -> None:
        """As after the first boot, whatever has been done to it."""
        if self._life is None:
            self.boot()
        self.move_clock(None)
        errand = begin(self.socket, {"tidy": True}, self.bed.nowhere, PATIENCE_SECS)
        assert errand.ended(PATIENCE_SECS) == 0, f"{self.name} could not be tidied: {self.bed.log(self.name)}"

    # --- its network --------------------------------------------------------------------------------

    def cut(self, *, incoming: bool = True, outgoing: bool = True) -> None:
        """Packets are dropped without a word; `incoming` are those that come to the machine."""
        rules = [*([DROP_INCOMING] if incoming else []), *([DROP_OUTGOING] if outgoing else [])]
        self.run("nft", "-f", "-", stdin="\n".join(["flush ruleset", "table inet cut {", *rules, "}"]).encode())

    def heal(self) -> None:
        self.run("nft", "flush", "ruleset")

    # --- what is done there -------------------------------------------------------------------------

    def run(self, *argv: str, check: bool = True, stdin: bytes = b"", env: Changes = NO_CHANGES) -> Said:
        """A program there, not by way of its network."""
        order = {"argv": list(argv), "env": self._environment(env), "cwd": self.home}
        return self._said(order, argv, check, stdin)

    def llmc(self, *words: str, check: bool = True, env: Changes = NO_CHANGES) -> Said:
        """What somebody types who is there."""
        order = {"llmc": list(words), "env": self._environment(env), "cwd": self.home}
        return self._said(order, ("llmc", *words), check, b"")

    def llmc_of_root(self, *words: str, check: bool = True) -> Said:
        """What somebody types there about the one root that is there."""
        (root,) = self.seen("").glob("llmc-*/root")
        return self.llmc("--root", f"{self.home}/{root.relative_to(self.seen(''))}", *words, check=check)

    def seen(self, path: str) -> Path:
        """A file in the home there, as this process sees it; also while the machine is off."""
        return self.bed.inside(f"{self.plot.disk}/home/{Path(self.home, path).relative_to(self.home)}")

    def pids(self, comm: str) -> list[int]:
        """Of the programs there that are named so, in the machine's own count."""
        return [int(word) for word in self.run("pgrep", "-x", comm, check=False).out.split()]

    def greet(self, text: str) -> None:
        """Its login shell prints this, whoever comes."""
        self.seen(f"{self.home}/.bashrc").write_text(f"echo {text!r}\n")

    def move_clock(self, seconds: float | None) -> None:
        """By which Python there tells the time, of every `llmc` that is started from now on."""
        clock = Path(self.plot.run, "clock")
        if seconds is None:
            clock.unlink(missing_ok=True)
        else:
            clock.write_text(str(seconds))

    def _said(self, order: Mapping[str, object], argv: Sequence[str], check: bool, stdin: bytes) -> Said:
        def kill(pid: int) -> None:
            begin(self.socket, {**order, "argv": ["kill", "-KILL", str(pid)]}, self.bed.nowhere, PATIENCE_SECS)

        done = run_there(self.socket, order, stdin=stdin, timeout=PATIENCE_SECS, kill=kill)
        return self.bed.checked(said_by(done), f"on {self.name}: {' '.join(argv)}", check)

    def _environment(self, changes: Changes) -> dict[str, str]:
        usual: dict[str, str | None] = {"PATH": PATH, "HOME": self.home, "LANG": "C.UTF-8", "TERM": "xterm-256color"}
        return {name: value for name, value in (usual | dict(changes)).items() if value is not None}

    @property
    def socket(self) -> str:
        return f"{self.plot.run}/socket"


@dataclass(slots=True)
class Machines:
    place: Path
    machines: dict[str, Machine] = field(default_factory=dict)
    nowhere: list[int] = field(default_factory=list)
    more: dict[str, str] = field(default_factory=dict)
    """Of the environment of everybody beside the machines."""
    _keeper: subprocess.Popen[bytes] | None = None

    def __getitem__(self, name: str) -> Machine:
        return self.machines[name]

    def start(self) -> None:
        for directory in ("disks", "run", "shared", "home/.ssh"):
            (self.place / directory).mkdir(parents=True)
        self._make_keys()
        program = [sys.executable, "-P", "-m", "testing.machines.keeper", str(self.place)]
        with open(self.place / "keeper.log", "wb") as log:
            self._keeper = subprocess.Popen(
                ["unshare", *SPACES, "--", *program],
                cwd=PROJECT,
                env={
                    "PATH": SYSTEM_PATH,
                    "LANG": "C.UTF-8",
                    "PYTHONPATH": f"{PROJECT}:{CLOCK}",
                    "LLMC_CHAOS_CLOCK": f"{RUN}/clock",
                },
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )
        assert self._keeper.stdout is not None
        if self._keeper.stdout.readline() != READY:
            self.stop()
            raise NoMachinesError(f"the kernel does not allow it: {self.log('keeper')}")
        self.nowhere = [os.open(os.devnull, os.O_RDWR)] * 3
        for number, name in enumerate(NAMES, 1):
            self.machines[name] = Machine(self, Plot(name, number, str(self.place)))
            self.machines[name].boot()

    def stop(self) -> None:
        """The keeper ends, and with it everything inside."""
        if self._keeper is not None:
            self._keeper.communicate()
        for machine in self.machines.values():
            machine.forget()
        for descriptor in self.nowhere[:1]:
            os.close(descriptor)

    def _make_keys(self) -> None:
        for name in ("key", "host_key"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.place / name], check=True)
        (self.place / "known").write_text(f"machine {(self.place / 'host_key.pub').read_text()}")
        settings = self.place / "home" / ".ssh" / "config"
        settings.write_text(client_settings(str(self.place), list(NAMES)))
        settings.chmod(0o600)
        # ssh looks for its settings where the account's home is, whatever HOME says.
        user = getpwuid(os.geteuid())
        accounts = Path("/etc/passwd").read_text().splitlines(keepends=True)
        own = f"{user.pw_name}:x:{user.pw_uid}:{user.pw_gid}::{self.place / 'home'}:/bin/bash\n"
        others = [line for line in accounts if line.split(":")[2] != str(user.pw_uid)]
        (self.place / "passwd").write_text("".join([own, *others]))
        program = Path(sys.prefix, "bin", "llmc")
        source = (
            Path(shim.__file__).read_text().replace('"PROGRAM"', f'"{program}"').replace("CLOCK_DIRECTORY", str(CLOCK))
        )
        (self.place / "llmc").write_text(f"#!{sys.executable} -IS\n{source}")

    # --- beside the machines, where the hub is ------------------------------------------------------

    def begin(self, order: Mapping[str, object], log: str) -> Errand:
        with open(os.devnull) as nothing, open(self.place / log, "ab") as written:
            streams = [nothing.fileno(), written.fileno(), written.fileno()]
            return begin(self.socket, order, streams, PATIENCE_SECS)

    def run(
        self,
        *argv: str,
        check: bool = True,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        timeout: float = PATIENCE_SECS,
    ) -> Said:
        """A program that reaches the machines by their names."""
        order = {"argv": list(argv), "env": dict(env or self.environment), "cwd": str(self.place)}
        done = run_there(self.socket, order, stdin=stdin, timeout=timeout, kill=self.kill)
        return self.checked(said_by(done), " ".join(argv), check)

    def kill(self, pid: int) -> None:
        """A process beside the machines, as it is counted there."""
        self.run("kill", "-KILL", str(pid), check=False)

    @property
    def environment(self) -> dict[str, str]:
        return {"PATH": SYSTEM_PATH, "HOME": str(self.place / "home"), "LANG": "C.UTF-8", **self.more}

    @property
    def socket(self) -> str:
        return str(self.place / "socket")

    def inside(self, path: str) -> Path:
        """A file of the machines or of the hub, as this process sees it."""
        assert self._keeper is not None
        children = Path(f"/proc/{self._keeper.pid}/task/{self._keeper.pid}/children").read_text().split()
        return Path(f"/proc/{children[0]}/root{path}")

    def log(self, name: str) -> str:
        return (self.place / f"{name}.log").read_text(errors="replace")

    @staticmethod
    def checked(said: Said, what: str, check: bool) -> Said:
        if check and said.code != 0:
            raise CommandFailedError(f"{what} ended with {said.code}:\n{said.words}")
        return said

    def entering(self) -> list[str]:
        """The words before a command that make it run beside the machines, at our terminal."""
        assert self._keeper is not None
        first = self.inside("/").parts[2]
        return ["nsenter", f"--target={first}", "--net", "--mount", "--pid", "--uts", "--ipc", "--"]

    def tidy(self) -> None:
        for machine in self.machines.values():
            machine.tidy()
        for entry in (self.place / "shared").iterdir():
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()


@dataclass(slots=True)
class Hub(Llmc):
    """A user who sits beside the machines, with one root."""

    bed: Machines = field(kw_only=True)

    def run(
        self,
        *words: str,
        check: bool = True,
        stdin: bytes | None = None,
        cwd: Path | None = None,
        timeout: float = PATIENCE_SECS,
        env: Changes = NO_CHANGES,
    ) -> Said:
        order = {"llmc": list(words), "env": self.environment(env), "cwd": str(cwd or self.home)}
        done = run_there(self.bed.socket, order, stdin=stdin or b"", timeout=timeout, kill=self.bed.kill)
        return self.bed.checked(said_by(done), f"llmc {' '.join(words)}", check)

    def environment(self, changes: Changes = NO_CHANGES) -> dict[str, str]:
        own = {"PATH": SYSTEM_PATH, "XDG_RUNTIME_DIR": str(self.sockets), **self.bed.more}
        return Llmc.environment(self, {**own, **changes})

    def git(self, *words: str) -> str:
        """In the user's repository."""
        return self.bed.run("git", "-C", str(self.repository), *words, env=self.environment()).out.strip()

    @property
    def repository(self) -> Path:
        return self.home / "repository"

    def begin(self) -> None:
        """A repository, and the root for it."""
        make_repository(self.repository)
        self.run("init", "--source", str(self.repository), "--target", str(self.root))


@contextmanager
def three_machines() -> Iterator[Machines]:
    """In memory, where there is some; nothing of it is left."""
    why = why_not()
    if why:
        raise NoMachinesError(why)
    place = Path(tempfile.mkdtemp(prefix="llmc-m-"))
    bed = Machines(place)
    try:
        bed.start()
        yield bed
    finally:
        bed.stop()
        with suppress(OSError):
            wait_until(lambda: not os.path.ismount(place / "disks"))
        shutil.rmtree(place)
