"""The scratch worktrees in which checks run: LLMC's own, and nothing in them is anybody's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path

from llmc.core.display import counted
from llmc.doctor.answers import Answer, Found, known
from llmc.doctor.findings import Finding, Topic
from llmc.doctor.health import Health, Looking
from llmc.doctor.repairs import Repair, RepairContext, RepairStage, fix
from llmc.git.repository import require_object
from llmc.git.worktree_identity import foreign_git
from llmc.host.locks import is_held
from llmc.host.processes import marked_processes
from llmc.perform.scratch import MARK, end_abandoned, put_back, scratch_lock
from llmc.root import Root
from llmc.values import Value

TOPIC = Topic("worktrees")


class ScratchSeen(Value):
    damaged: Answer[Mapping[str, str]] = field(metadata=TOPIC.asks("the worktrees for checks"))
    """Why each of these cannot be used, by its number."""
    left_running: Answer[int] = field(metadata=TOPIC.asks("programs that checks have left"))


def look(looking: Looking, seen: Health) -> ScratchSeen:
    return ScratchSeen(looking.ask(lambda root: _look(looking, root)), looking.ask(_left_running))


def _look(looking: Looking, root: Root) -> Answer[Mapping[str, str]]:
    """Those that somebody checks in right now are theirs."""
    there = Path(root.scratch).iterdir() if Path(root.scratch).is_dir() else ()
    free = [each.name for each in there if each.name.isdecimal() and is_held(f"{root.checks}/{each.name}.lock") is None]
    found = {number: foreign_git(looking.host, root.path, number) for number in free}
    return Found({number: why for number, why in found.items() if why is not None})


def _left_running(root: Root) -> Answer[int]:
    numbers = (each.variables[MARK].removeprefix(f"{root.scratch}/") for each in marked_processes(**{MARK: ""}))
    return Found(sum(each.isdecimal() and is_held(f"{root.checks}/{each}.lock") is None for each in numbers))


@fix(RepairStage.WORKTREES, "make a worktree for checks", "make the worktree {subject}, in which checks run, again")
def _make_again(context: RepairContext, repair: Repair) -> str:
    site, number = context.open_site(), Path(repair.subject).name
    with scratch_lock(site, number):
        put_back(site, number, require_object(site.git, site.root.path, f"origin/{site.config.repo.branch}", "commit"))
    return f"made {repair.subject} again"


@fix(RepairStage.ORPHANS, "end left checks", "end the programs that checks have left behind")
def _end_left(context: RepairContext, repair: Repair) -> str:
    end_abandoned(context.open_site())
    return "they have ended"


DAMAGED = TOPIC.warning(
    "scratch-damaged",
    "a worktree in which checks run was taken apart",
    "`llmc doctor --repair` makes it again, as the next check does",
    _make_again,
)
LEFT_RUNNING = TOPIC.warning(
    "checks-left-running",
    "programs of a check still run, although nobody waits for it",
    "`llmc doctor --repair` ends them, as the next check does",
    _end_left,
)


def judge(health: Health) -> Iterator[Finding]:
    seen = health.of(ScratchSeen)
    for number, why in known(seen.damaged, {}).items():
        path = f"{health.root.scratch}/{number}"
        yield DAMAGED.finding(f"{path} cannot be used: {why}", "nothing in it is anybody's work", path=path)
    if left := known(seen.left_running, 0):
        what = f"{counted(left, 'program')} of a check still {'runs' if left == 1 else 'run'}"
        yield LEFT_RUNNING.finding(what, "whoever ran the check was killed")


def summary(health: Health) -> str:
    return ""
