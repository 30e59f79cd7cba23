"""The commands that could lose something, the world in which each is tried, and what must have come of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from llmc.git.backup import list_backups
from llmc.git.repository import branch_tip
from llmc.model import Work
from testing.world import SOME, World

MANY = {f"many/{number:02d}.txt": f"number {number}\n" * 40 for number in range(12)}
WORK = {"a.txt": "a\n", "README": SOME["README"] + "more\n", "src/app.py": None, **MANY}
HALF = "half.txt"
MINE = {"mine.txt": "mine\n", "notes.txt": "my notes\n", "build.log": "ignored, and mine\n"}
STATUS = " M notes.txt\n?? mine.txt"
Complaints = Iterator[str]


@dataclass(frozen=True, slots=True)
class Case:
    words: tuple[str, ...]
    arrange: Callable[[World], object]
    is_done: Callable[[World], bool]
    """Whether there is nothing left to do for who types the command again."""
    judge: Callable[[World, str], Complaints]
    """At the end, with the commit that the worker had."""
    has_half: bool = False
    """Whether there are files that are not committed, too."""

    @property
    def name(self) -> str:
        return self.words[0]


def begin(world: World) -> None:
    """Work for review, a branch that moved on, a check, and something of the user's own."""
    world.config("repo.validate", '["test -f a.txt"]')
    world.work(WORK, "Add a")
    world.to_review()
    world.upstream({"hand.txt": "h\n"})
    world.local(MINE)


def begin_with_half(world: World) -> None:
    begin(world)
    (world.worktree / HALF).write_text("half\n")


def begin_after_reset(world: World) -> None:
    begin_with_half(world)
    world.story.llmc("reset", "adam", "--yes")


# --- what must hold at every moment -----------------------------------------------------------------


def lost(world: World, head: str, *, half: bool) -> Complaints:
    git, root = world.story.site.git, world.story.root.path
    backups = list_backups(git, root, "adam")
    tips = [*(backup.head_sha for backup in backups), branch_tip(git, root, "llmc/adam")]
    tips += [world.in_source("rev-parse", "main")]
    if not any(tip and git.run(root, "cat-file", "-e", f"{tip}:many/11.txt", check=False).ok for tip in tips):
        yield "the work is in no branch and in no backup"
    if git.run(root, "cat-file", "-e", head, check=False).code != 0:
        yield "the worker's commit is gone"
    if half and not any(HALF in backup.dirty for backup in backups):
        file = world.worktree / HALF
        if not file.exists() or file.read_text() != "half\n":
            yield f"{HALF} is neither in the worktree nor in a backup"
    yield from _not_mine(world)


def _not_mine(world: World) -> Complaints:
    for name, content in MINE.items():
        file = world.source / name
        if not file.exists() or file.read_text() != content:
            yield f"the user's {name} is gone or changed"
    if world.in_source("symbolic-ref", "HEAD") != "refs/heads/main":
        yield "the user's checkout is on another branch"
    subjects = world.story.subjects()
    if subjects[:3] != ["first", "Some files", "By hand"] or subjects[3:] not in ([], ["Add a"]):
        yield f"the branch has {subjects}"


# --- what must hold in the end ----------------------------------------------------------------------


def unsound(world: World) -> Complaints:
    """The user's checkout is untouched or fast-forwarded; no git is locked out; nothing is half done."""
    status = world.in_source("status", "--porcelain")
    if status != STATUS:
        yield f"the user's checkout has other changes than the user's own: {status!r}"
    yield from (f"{lock} is left" for lock in world.locks())
    for place in (world.source, world.worktree):
        if place.exists() and (said := world.story.git("fsck", "--no-dangling", "--no-progress", cwd=str(place))):
            yield f"git finds damage in {place.name}: {said}"


def _is_idle(world: World) -> bool:
    worker = world.story.worker("adam")
    return worker.work is Work.IDLE and not worker.pending


def _is_accepted(world: World) -> bool:
    return _is_idle(world) and world.story.subjects()[-1] == "Add a"


def judge_accepted(world: World, head: str) -> Complaints:
    if world.story.subjects()[-2:] != ["By hand", "Add a"]:
        yield f"the branch ends with {world.story.subjects()[-2:]}"
        return
    for name, content in WORK.items():
        file = world.source / name
        if (file.read_text() if file.exists() else None) != content:
            yield f"{name} is not in the user's checkout as it was accepted"
    yield from _not_clean_at(world, world.in_source("rev-parse", "main"))
    yield from _next_is_refused(world)


def _not_clean_at(world: World, sha: str) -> Complaints:
    if world.in_worktree("rev-parse", "HEAD") != sha or world.in_worktree("status", "--porcelain") != "":
        yield "the worktree is not clean at the tip of the branch"
    if world.in_worktree("symbolic-ref", "HEAD") != "refs/heads/llmc/adam":
        yield "the worktree is on another branch"


def _next_is_refused(world: World) -> Complaints:
    world.work({"next.txt": "next\n"}, "Add next")
    world.to_review()
    world.config("repo.validate", "[]")
    said = world.story.try_llmc("accept", "adam")
    if said.code != 0 or world.story.subjects()[-1] != "Add next":
        yield f"the next accept ends with {said.code}: {said.err}"
    elif not (world.source / "next.txt").exists():
        yield "the next accept did not bring its file into the user's checkout"


def _is_rebased(world: World) -> bool:
    base = world.in_source("rev-parse", "main")
    worker = world.story.worker("adam")
    return not worker.pending and worker.base_sha == base and worker.work is Work.NEEDS_REVIEW


def judge_rebased(world: World, head: str) -> Complaints:
    if world.in_worktree("log", "--format=%s", "origin/main..HEAD").splitlines() != ["Add a"]:
        yield f"the branch has {world.in_worktree('log', '--format=%s').splitlines()}"
        return
    if not _is_rebased(world):
        worker = world.story.worker("adam")
        yield f"the worker is {worker.work}, {worker.pending or 'with nothing pending'}, on {worker.base_sha}"
    said = world.story.try_llmc("accept", "adam")
    if said.code != 0:
        yield f"the accept ends with {said.code}: {said.err}"
        return
    yield from judge_accepted(world, head)


def judge_reset(world: World, head: str) -> Complaints:
    yield from _not_clean_at(world, world.in_source("rev-parse", "main"))
    if not _is_idle(world):
        yield f"the worker is {world.story.worker('adam').work}"
    if said := _brought_back(world, head):
        yield said
        return
    yield from _next_lands_too(world)


def _brought_back(world: World, head: str) -> str:
    """By some backup of the list: after a command that was cut short there may be newer ones with less in them."""
    wrong = ""
    for backup in list_backups(world.story.site.git, world.story.root.path, "adam"):
        said = world.story.try_llmc("undo", "adam", "--backup", backup.ref, "--yes")
        if said.code != 0:
            return f"undo ends with {said.code}: {said.err}"
        wrong = _not_back(world, head)
        if not wrong:
            return ""
    return wrong or "there is no backup"


def _not_back(world: World, head: str) -> str:
    if world.in_worktree("rev-parse", "HEAD") != head:
        return "undo does not bring the commit back"
    if not (world.worktree / HALF).exists() or (world.worktree / HALF).read_text() != "half\n":
        return f"undo does not bring {HALF} back"
    return ""


def _next_lands_too(world: World) -> Complaints:
    """What was brought back, committed and accepted."""
    world.work({"a.txt": "a\n"}, "Finish")
    world.to_review()
    said = world.story.try_llmc("accept", "adam", "--message", "Add a")
    if said.code != 0 or world.story.subjects()[-2:] != ["By hand", "Add a"]:
        yield f"the next accept ends with {said.code}: {said.err}"
    elif not (world.source / HALF).exists():
        yield "the next accept did not bring its file into the user's checkout"


def _is_gone(world: World) -> bool:
    return "adam" not in world.story.site.ledger.load().workers


def judge_nuked(world: World, head: str) -> Complaints:
    if not _is_gone(world):
        yield "the worker is still there"
        return
    if world.worktree.exists():
        yield "its worktree is still there"
    if left := world.in_clone("for-each-ref", "refs/heads/llmc/adam", "refs/llmc/accept"):
        yield f"refs of it are left: {left}"
    added = world.story.try_llmc("add", "adam", "--agent", "demo")
    if added.code != 0:
        yield f"it cannot be added again: {added.err}"
    elif said := _brought_back(world, head):
        yield said
    else:
        yield from _next_lands_too(world)


def _is_undone(world: World) -> bool:
    """Files, index and branch."""
    back = world.in_worktree("log", "-1", "--format=%s") == "Add a"
    return back and world.in_worktree("status", "--porcelain") == f"?? {HALF}"


def judge_undone(world: World, head: str) -> Complaints:
    if not _is_undone(world) and (said := _brought_back(world, head)):
        yield said
        return
    yield from _next_lands_too(world)


CASES = {
    case.name: case
    for case in (
        Case(("accept", "adam"), begin, _is_accepted, judge_accepted),
        Case(("rebase", "adam"), begin, _is_rebased, judge_rebased),
        Case(("reset", "adam", "--yes"), begin_with_half, _is_idle, judge_reset, has_half=True),
        Case(("nuke", "adam", "--yes"), begin_with_half, _is_gone, judge_nuked, has_half=True),
        Case(("undo", "adam", "--yes"), begin_after_reset, _is_undone, judge_undone, has_half=True),
    )
}
