"""What is where: the addresses, accounts and files of the machines."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from testing.namespace import PROJECT

NETWORK = "10.77.0"
HUB = f"{NETWORK}.1"
NOBODY_THERE = f"{NETWORK}.99"
RUN = "/run/machine"
"""In a machine: what it shares with whoever tests it."""
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
STRANGER, LOCKED = "stranger", "locked"
"""Another user of each machine, and one who must type a password."""

SSHD = """\
Port 22
HostKey /etc/ssh/machine_key
AuthorizedKeysFile /etc/ssh/authorized/%u
UsePAM no
StrictModes no
PasswordAuthentication yes
PermitRootLogin prohibit-password
MaxSessions 64
MaxStartups 200
AcceptEnv *
PidFile /run/sshd.pid
PrintMotd no
PrintLastLog no
Banner none
SetEnv LANG=C.UTF-8
"""
GIT = "[user]\n    name = Tess Ter\n    email = tess@example.com\n[init]\n    defaultBranch = main\n"


@dataclass(frozen=True, slots=True)
class Plot:
    """Where one machine is, seen from its keeper."""

    name: str
    number: int
    place: str
    """The directory of all of them."""
    boots: int = 0

    @property
    def address(self) -> str:
        return f"{NETWORK}.{10 + self.number}"

    @property
    def mac(self) -> str:
        return f"02:00:00:00:00:{self.number:02x}"

    @property
    def home(self) -> str:
        return f"/home/{self.name}"

    @property
    def disk(self) -> str:
        """What is left when the machine is off."""
        return f"{self.place}/disks/{self.name}"

    @property
    def run(self) -> str:
        return f"{self.place}/run/{self.name}"

    @property
    def shared(self) -> str:
        """At the same path on all machines, and on the hub."""
        return f"{self.place}/shared"


def programs() -> set[str]:
    """Directories with programs that may be on a disk of their own."""
    return {str(PROJECT), sys.prefix, sys.base_prefix}


def accounts(plot: Plot) -> list[tuple[str, str]]:
    key = Path(plot.place, "key.pub").read_text()
    people = {"root": (0, plot.home), STRANGER: (1500, f"/home/{STRANGER}"), LOCKED: (1501, f"/home/{LOCKED}")}
    lines = [f"{name}:x:{uid}:{uid}::{home}:/bin/bash\n" for name, (uid, home) in people.items()]
    return [
        ("/etc/passwd", _merged("/etc/passwd", people, lines)),
        ("/etc/shadow", _merged("/etc/shadow", people, [f"{name}:*:19000:0:99999:7:::\n" for name in people])),
        ("/etc/hostname", f"{plot.name}\n"),
        ("/etc/hosts", f"127.0.0.1 localhost {plot.name}\n"),
        ("/etc/ssh/machine_key", Path(plot.place, "host_key").read_text()),
        ("/etc/ssh/machine_config", SSHD),
        *((f"/etc/ssh/authorized/{name}", key) for name in ("root", STRANGER)),
        ("/usr/local/bin/llmc", Path(plot.place, "llmc").read_text()),
    ]


def _merged(file: str, names: dict[str, tuple[int, str]], lines: list[str]) -> str:
    kept = [line for line in Path(file).read_text().splitlines(keepends=True) if line.partition(":")[0] not in names]
    return "".join([*lines, *kept])


def client_settings(place: str, names: list[str]) -> str:
    """What the user of the hub has in `~/.ssh/config`."""
    known = f"  User root\n  IdentityFile {place}/key\n  UserKnownHostsFile {place}/known\n  HostKeyAlias machine\n"
    hosts = [f"Host {name}\n  HostName {Plot(name, n, place).address}\n" for n, name in enumerate(names, 1)]
    return "".join([*hosts, f"Host gone\n  HostName {NOBODY_THERE}\n", f"Host *\n{known}"])
