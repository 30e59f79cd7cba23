"""One trial: a command whose git is killed, what a person does then, and what is wrong in the end."""

from __future__ import annotations

import os
import random
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from testing.killed_git import KilledGit, Moment
from testing.kills.cases import Case, lost, unsound
from testing.story import Said
from testing.world import Template, World

AN_HOUR = 3600.0
REPAIR = ("doctor", "--repair", "--yes")
_OPTION = re.compile(r"-c \S+ |-C \S+ |--?\S+ ")
CHANGING = frozenset(
    (
        *("add", "branch", "checkout", "checkout-index", "clean", "commit-tree", "fetch", "merge", "merge-tree"),
        *("mktree", "read-tree", "rebase", "reset", "symbolic-ref", "update-index", "update-ref", "worktree"),
        "write-tree",
    )
)
"""The verbs of git that write something."""


CHANGES = (1, 5, 12)
"""How far git is in its middle: at its first change, and when it has written some or many files."""


@dataclass(frozen=True, slots=True)
class Kill:
    """The call of that number, from 1, or the first one with this word."""

    child: int | str
    moment: Moment
    changes: int = 1

    def __str__(self) -> str:
        after = f" --changes {self.changes}" if self.changes > 1 else ""
        return f"--child {self.child} --moment {self.moment}{after}"


@dataclass(slots=True)
class Bench:
    """Where one command is tried, again and again, each time on a fresh copy of the same world."""

    case: Case
    base: Path
    template: Template = field(init=False)
    git: KilledGit = field(init=False)

    def __post_init__(self) -> None:
        self.template = Template(self.base, self.case.arrange)
        self.git = KilledGit(self.base / "bin")
        self.git.install()

    def calls(self) -> list[str]:
        """What a good run asks of git: its verbs, in order."""
        world = self.template.world()
        self.git.forget()
        with self.git.in_use():
            world.story.llmc(*self.case.words)
        return [verb_of(call) for call in self.git.calls()]

    def complaints(self, kill: Kill) -> list[str]:
        """What is wrong after that; what was said on the way comes with it."""
        world = self.template.world()
        head = world.in_clone("rev-parse", "llmc/adam") if self.case.name != "undo" else _kept_head(world)
        said = [self._killed(world, kill)]
        wrong = [f"after the kill: {each}" for each in lost(world, head, half=self.case.has_half)]
        said += self._go_on(world)
        wrong += unsound(world)
        wrong += lost(world, head, half=self.case.has_half)
        wrong += self.case.judge(world, head) if not wrong else ()
        return [*wrong, *said] if wrong else []

    def _go_on(self, world: World) -> Iterator[str]:
        """As a person does who comes back an hour later."""
        age_locks(world)
        if _locks_of_clone(world):
            yield _told(REPAIR, world.story.try_llmc(*REPAIR))
        for words in (self.case.words, REPAIR, self.case.words):
            if not self.case.is_done(world):
                yield _told(words, world.story.try_llmc(*words))

    def _killed(self, world: World, kill: Kill) -> str:
        self.git.forget()
        self.git.kill(kill.child, kill.moment, kill.changes)
        with self.git.in_use():
            if kill.moment is Moment.CUT:
                code = world.story.spawn(*self.case.words).wait()
                said = f"{' '.join(self.case.words)}: {code}"
            else:
                said = _told(self.case.words, world.story.try_llmc(*self.case.words))
        self.git.called_off()
        return f"{self.git.outcome() or 'not called'}: git {self.git.taken()[:200]}\n{said}"


def sample(verbs: list[str], dice: random.Random) -> Iterator[Kill]:
    """One kill for each thing that the command has git change."""
    for verb in sorted(CHANGING & set(verbs)):
        child = dice.choice([number for number, each in enumerate(verbs, start=1) if each == verb])
        yield Kill(child, dice.choice(tuple(Moment)), dice.choice(CHANGES))


def age_locks(world: World) -> None:
    """A lock that was just left could be that of a git that still runs."""
    then = time.time() - AN_HOUR
    for lock in world.locks():
        os.utime(lock, (then, then))


def _locks_of_clone(world: World) -> list[str]:
    return [lock for lock in world.locks() if lock.startswith(world.story.root.path)]


def verb_of(call: str) -> str:
    return _OPTION.sub("", f"{call} ").split(" ")[0]


def _kept_head(world: World) -> str:
    return world.in_clone("rev-parse", world.in_clone("for-each-ref", "--format=%(refname)", "refs/llmc/backup") + "^1")


def _told(words: tuple[str, ...], said: Said) -> str:
    return f"{' '.join(words)}: {said.code} {said.out.strip()[-600:]} {said.err.strip()[-600:]}"
