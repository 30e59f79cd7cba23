"""An allocation of Slurm as a machine: it is reached by steps beside its own job, and nothing starts it twice."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from llmc.config.machine_settings import MachineOptions
from llmc.errors import LlmcError
from llmc.fleet.joining import over
from llmc.fleet.known import ENDED, STARTING, UNREACHABLE
from llmc.fleet.reach import shell_word
from llmc.fleet.registry import Machine, change_member
from llmc.git.runner import clean_environment
from llmc.host.base import Completed
from llmc.root import Root
from llmc.site import Site
from llmc.store.machine_file import read_membership
from llmc.values import Value

WARNS_SECS = 120
"""So long before the end of the allocation its turns are interrupted."""
INTERRUPTS_WITHIN_SECS = 20
ASKS_WITHIN_SECS = 60.0
LOOKS_EVERY_SECS = 1.0
_SHARED = (
    "nfs",
    "nfs4",
    "lustre",
    "gpfs",
    "beegfs",
    "ceph",
    "fuseblk",
    "fuse",
    "afs",
    "panfs",
    "smb2",
    "cifs",
    "wekafs",
)
RUNS = ("RUNNING", "SUSPENDED")
NEVER = (
    "BadConstraints",
    "PartitionConfig",
    "PartitionNodeLimit",
    "PartitionTimeLimit",
    "InvalidAccount",
    "InvalidQOS",
)
"""Why a job waits that no waiting helps."""
WAITS = ("PENDING", "CONFIGURING", "REQUEUED")
_GONE = (
    *(
        "nvalid job id",
        "already completing or completed",
        "Expired or invalid job",
        "has expired",
        "has been cancelled",
    ),
    "REVOKED",
)

_LOGGED_IN = (
    'PATH=${PATH:-/usr/local/bin:/usr/bin:/bin}; me=$(getent passwd "$(id -u)"); '
    "USER=${me%%:*} SHELL=${me##*:}; me=${me%:*}; HOME=${me##*:} LOGNAME=$USER; "
    "export PATH USER SHELL HOME LOGNAME; cd"
)
"""A step gets nothing of the environment here: it has that of the user over there."""

_SCRIPT = """\
#!/bin/sh
{logged_in}
for each in /etc/profile "$HOME/.profile"; do [ ! -r "$each" ] || . "$each"; done
root={home}/root program={program}
ending() {{
    over=1
    [ -e "$root/machine.json" ] || return
    "$program" --root "$root" remote-ending --within {within} </dev/null
}}
rm -f "$root/run/ending"
trap ending USR1
rest() {{ sleep "$1" & wait $!; }}
while [ -z "$over" ]; do
    if [ -z "$down" ] && [ -e "$root/machine.json" ]; then
        "$program" --root "$root" up </dev/null >/dev/null 2>"$root/run/allocation.log" & daemon=$!
        wait $daemon
        while kill -0 $daemon 2>/dev/null && [ -z "$over" ]; do wait $daemon; done
        wait $daemon && down=1
    fi
    rest 1
done
rest infinity
"""


class SlurmReach(Value):
    flags: str
    job: str
    """Empty before it has been submitted, and after its end."""

    @property
    def words(self) -> str:
        return f"slurm {self.flags} (job {self.job})" if self.job else f"slurm {self.flags}"

    @property
    def keeps_processes(self) -> bool:
        """What a step has started ends with the step: the daemon is started by the job itself."""
        return False

    def argv(self, command: str, *, terminal: bool = False) -> list[str]:
        step = ["srun", "--jobid", self.job, "--overlap", "--nodes=1", "--ntasks=1", "--export=NONE"]
        step += ["--quiet", "--chdir=/"]
        way = ["--pty"] if terminal else ["-u"]
        return [*step, *way, "/bin/sh", "-c", f'{_LOGGED_IN}; exec /bin/sh -lc "$0"', command]

    def state_after(self, complaint: str) -> str:
        if not self.job or any(words in complaint for words in _GONE):
            return ENDED
        return STARTING if "pending" in complaint else UNREACHABLE


class Allocation(Value):
    state: str
    why: str
    left: str
    """As Slurm says it, of the time that it has."""


def submit(site: Site, name: str, flags: str, home: str, program: str) -> str:
    """The id of the job, which holds the allocation and runs the machine's daemon in it."""
    names = {"home": shell_word(home), "program": shell_word(program), "within": INTERRUPTS_WITHIN_SECS}
    script = _SCRIPT.format(logged_in=_LOGGED_IN, **names)
    words = ["sbatch", "--parsable", "--no-requeue", f"--signal=B:USR1@{WARNS_SECS}", f"--job-name=llmc-{name}"]
    words += ["--nodes=1", "--output=/dev/null", "--export=NONE", "--chdir=/"]
    done = _slurm(site, [*words, *_flags(flags)], script.encode())
    if not done.ok:
        raise LlmcError(f"Slurm refused the allocation: {_complaint(done)}", "try the same flags with `sbatch`")
    return done.text.strip().split(";")[0]


def look_at(site: Site, job: str) -> Allocation:
    """What Slurm says of it. A controller that does not answer is an error: nobody knows then."""
    done = _slurm(site, ["squeue", "--noheader", "--states=all", "--jobs", job, "--format=%T|%r|%L"])
    if done.ok and "|" in done.text:
        return Allocation(*done.text.strip().splitlines()[0].split("|", 2))
    if done.ok or "nvalid job id" in done.complaint:
        return Allocation("ENDED", "", "")
    raise LlmcError(f"Slurm does not say how job {job} is: {_complaint(done)}", "try `squeue` by hand")


def wait_until_it_runs(site: Site, job: str, say: Callable[[str], None]) -> None:
    told = ""
    while True:
        now = look_at(site, job)
        if now.state == "RUNNING":
            return
        if now.why in NEVER:
            raise LlmcError(
                f"the cluster has no room for such an allocation, ever: {now.why}", "ask for less with --slurm"
            )
        if now.state not in WAITS:
            why = f"{now.state.lower()}, {now.why}" if now.why not in ("", "None") else now.state.lower()
            raise LlmcError(f"the allocation ended before it began: {why}", "`sacct` may say more")
        words = f"job {job} waits for its turn: {now.why}"
        if words != told:
            say(words)
            told = words
        time.sleep(LOOKS_EVERY_SECS)


@contextmanager
def allocation(site: Site, name: str, options: MachineOptions, place: str) -> Iterator[SlurmReach]:
    """One that runs. It ends when what is done with it fails."""
    job = submit(site, name, options.slurm, place, options.program)
    try:
        wait_until_it_runs(site, job, site.progress)
        yield SlurmReach(options.slurm, job)
    except BaseException:
        end_allocation(site, job)
        raise


def is_over(site: Site, machine: Machine) -> bool:
    job = machine.member.job
    return bool(machine.options.slurm) and (not job or look_at(site, job).state not in (*WAITS, *RUNS))


def allocated_anew(site: Site, machine: Machine) -> Machine:
    """Another allocation for a machine whose last one has ended. Its root goes on where it can be seen from there."""
    with allocation(site, machine.name, machine.options, machine.member.home) as reach:
        change_member(site.root, machine.name, lambda member: replace(member, job=reach.job))
    return replace(machine, member=replace(machine.member, job=reach.job), reach=reach)


def own_disk_warning(site: Site, machine: Machine) -> list[str]:
    """Where its root is on a disk that goes with the allocation."""
    member = machine.member
    if read_membership(Root(member.root)) is not None:
        return []  # the same file tree as here
    done = over(site, machine.reach, f"stat -f -c %T {shell_word(member.home)}")
    if done.text.strip() in _SHARED:
        return []
    return [
        f"note: {member.home} is on a disk of the node ({done.text.strip() or 'unknown'}): what has not come here when "
        "the allocation ends is lost; name a directory on shared storage with --home"
    ]


def end_allocation(site: Site, job: str) -> None:
    done = _slurm(site, ["scancel", "--quiet", job])
    if not done.ok and "nvalid job id" not in done.complaint:
        raise LlmcError(f"job {job} could not be cancelled: {_complaint(done)}", f"type `scancel {job}`")


def _flags(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as wrong:
        raise LlmcError(f"invalid flags {text!r}: {wrong}", "quote them as for a shell") from None


def _slurm(site: Site, argv: list[str], stdin: bytes = b"") -> Completed:
    """Nothing of the allocation that we ourselves may be in."""
    env = clean_environment(site.host.environ())
    kept = {name: value for name, value in env.items() if not name.startswith("SLURM_") or name == "SLURM_CONF"}
    return site.host.run(argv, env=kept, stdin=stdin, timeout=ASKS_WITHIN_SECS)


def _complaint(done: Completed) -> str:
    lines = done.complaint.splitlines()
    return lines[-1].removeprefix("sbatch: error: ") if lines else f"it ended with {done.code}"
