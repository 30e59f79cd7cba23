"""A Slurm cluster on the machines: its controller beside them, where the hub is. Debian's packages, no service."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from testing.machines.plan import HUB
from testing.machines.three import SYSTEM_PATH, Machines, NoMachinesError
from testing.waiting import wait_until

NEEDED = ("munged", "slurmctld", "slurmd", "srun", "sbatch")
NODE_CPUS = 4
PATIENCE_SECS = 60.0
CONF = """\
ClusterName=test
SlurmctldHost=hub({hub})
SlurmUser=root
AuthType=auth/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
JobRequeue=0
ReturnToService=2
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
SlurmdSpoolDir=/run/slurmd
StateSaveLocation=/run/slurm-state
SlurmctldTimeout=10
SlurmdTimeout=20
InactiveLimit=0
KillWait=2
MessageTimeout=5
SchedulerParameters=batch_sched_delay=0,sched_interval=2
DebugFlags=NO_CONF_HASH
"""
CGROUP = "CgroupPlugin=cgroup/v1\nCgroupAutomount=no\nCgroupMountpoint=/sys/fs/cgroup\n"
MUNGE = """\
install -d -o munge -g munge -m 711 /run/munge
install -o munge -g munge -m 400 "$1/munge.key" /run/munge/key
exec runuser -u munge -- munged --force --key-file=/run/munge/key --socket=/run/munge/munge.socket.2 \\
    --pid-file=/run/munge/pid --log-file=/run/munge/log --seed-file=/run/munge/seed
"""
CONTROLLER = "rm -rf /run/slurm-state && mkdir /run/slurm-state && slurmctld -i -f {} -L /run/slurmctld.log"
NODE = "rm -rf /run/slurmd && mkdir /run/slurmd && slurmd -f {} -L /run/slurmd.log -N {}"
END = """\
pids=$(cat /run/slurmctld.pid /run/munge/pid)
kill $pids
for pid in $pids; do while kill -0 $pid; do sleep 0.02; done; done
"""
"""Whoever starts the next one finds its port free."""


@contextmanager
def slurm_on(machines: Machines) -> Iterator[Path]:
    """The file that `SLURM_CONF` names. The cluster ends with its machines' processes, the controller with this."""
    missing = [name for name in NEEDED if shutil.which(name, path=SYSTEM_PATH) is None]
    if missing:
        raise NoMachinesError(f"not installed: {', '.join(missing)}; `make bootstrap-dev` does it")
    conf = _write(machines)
    shared = str(conf.parent)
    machines.run("sh", "-c", MUNGE, "munge", shared)
    machines.run("sh", "-c", CONTROLLER.format(conf))
    try:
        for machine in machines.machines.values():
            machine.run("sh", "-c", MUNGE, "munge", shared)
            machine.run(
                "sh",
                "-c",
                f"rm -rf /run/slurmd && mkdir /run/slurmd && slurmd -f {conf} -L /run/slurmd.log -N {machine.name}",
            )
        wait_until(lambda: _all_idle(machines, conf), PATIENCE_SECS)
        yield conf
    finally:
        machines.run("sh", "-c", END, check=False)


def _write(machines: Machines) -> Path:
    shared = machines.place / "shared"
    nodes = [
        f"NodeName={machine.name} NodeAddr={machine.plot.address} CPUs={NODE_CPUS} RealMemory=4000 State=UNKNOWN\n"
        for machine in machines.machines.values()
    ]
    conf = shared / "slurm.conf"
    partition = "PartitionName=cpu Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n"
    conf.write_text("".join([CONF.format(hub=HUB), *nodes, partition]))
    (shared / "cgroup.conf").write_text(CGROUP)
    (shared / "munge.key").write_bytes(os.urandom(128))
    return conf


def _all_idle(machines: Machines, conf: Path) -> bool:
    env = machines.environment | {"SLURM_CONF": str(conf)}
    said = machines.run("sinfo", "-h", "-o", "%T %D", env=env, check=False)
    return said.out.split() == ["idle", str(len(machines.machines))]
