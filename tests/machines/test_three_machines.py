"""The machines that other tests are made on: what is cut, killed and booted again is really so."""

from __future__ import annotations

import os
from pathlib import Path

from testing.machines.three import Machines, three_machines

QUICK = ("ssh", "-o", "ConnectTimeout=1")
HALF_OPEN = ("ssh", "-o", "ServerAliveInterval=1", "-o", "ServerAliveCountMax=1")


def test_machines_share_nothing_but_the_programs(machines: Machines) -> None:
    names = {
        name: machines.run("ssh", name, "hostname; touch ~/mine /tmp/mine; pgrep -c sshd").out for name in ("m1", "m2")
    }
    assert {name: out.split()[0] for name, out in names.items()} == {"m1": "m1", "m2": "m2"}
    assert not machines["m3"].seen("mine").exists()
    assert machines["m1"].seen("mine").exists()
    assert machines["m3"].run("ls", "/tmp").out == ""
    assert (
        machines.run("ssh", "m1", "llmc --version").out == machines.run("ssh", "m1", "LLMC_COLD=1 llmc --version").out
    )


def test_a_cut_is_silent_in_the_directions_that_are_named(machines: Machines) -> None:
    machine = machines["m1"]
    machine.cut(outgoing=False)
    assert machines.run(*QUICK, "m1", "true", check=False).code == 255
    machine.heal()
    assert machines.run(*HALF_OPEN, "m1", "true").code == 0
    machine.cut(incoming=False)
    assert "timed out" in machines.run(*QUICK, "m1", "true", check=False).err
    assert machines.run("ssh", "m2", "true").code == 0
    machine.heal()
    assert machines.run("ssh", "m1", "true").code == 0


def test_a_machine_that_was_killed_has_its_disk_and_none_of_its_processes(machines: Machines) -> None:
    machines.run("ssh", "m2", "echo kept > ~/file; setsid sleep 600 >/dev/null 2>&1 & echo $! > ~/pid")
    machines["m2"].kill()
    assert machines["m2"].seen("file").read_text() == "kept\n"
    assert machines.run(*QUICK, "m2", "true", check=False).code == 255
    machines["m2"].boot()
    assert machines.run("ssh", "m2", "cat ~/file; pgrep sleep", check=False).out == "kept\n"


def test_nothing_is_left_of_them() -> None:
    with three_machines() as others:
        place = others.place
        keeper = int(others.inside("/").parts[2])
        namespace = os.readlink(f"/proc/{keeper}/ns/net")
        others.run("ssh", "m1", "setsid sleep 600 >/dev/null 2>&1 &")
    assert not place.exists()
    assert str(place) not in Path("/proc/mounts").read_text()
    assert namespace not in {_network(pid) for pid in Path("/proc").glob("[0-9]*")}


def _network(process: Path) -> str:
    try:
        return os.readlink(process / "ns/net")
    except OSError:
        return ""
