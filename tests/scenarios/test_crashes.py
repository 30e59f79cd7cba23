"""A command that is ended between any two of its steps: nothing is lost, nothing is done twice, it can go on."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from llmc.cli.main import main
from llmc.git.backup import list_backups
from llmc.git.rebase import rebase_in_progress
from llmc.git.repository import branch_tip
from llmc.host.faults import VARIABLE, Moment
from llmc.model import Work
from llmc.perform.steps import settle
from testing.landing import BIG, merges_that_are_stopped
from testing.world import SOME, World, files_of

WORK = {"a.txt": "a\n", "README": SOME["README"] + "more\n"}
COMMANDS: dict[str, tuple[str, ...]] = {
    "accept": ("accept", "adam"),
    "rebase": ("rebase", "adam"),
    "reset": ("reset", "adam", "--yes"),
    "nuke": ("nuke", "adam", "--yes"),
    "undo": ("undo", "adam", "--yes"),
    "takeback": ("accept", "adam"),
    "train": ("accept", "adam", "baker"),
    "revert": ("undo", "--landing", "t1"),
}
CLEAN_UP = (Moment.RESET_BACKED_UP, Moment.RESET_CHECKED_OUT, Moment.RESET_CLEANED, Moment.RESET_RECORDED)
"""What an accept comes by after the merge."""
DIRTY = ("reset", "nuke")
"""Before these the worktree has files that are not committed, too."""


def of(*verbs: str) -> list[Moment]:
    return [moment for moment in Moment if moment.partition(".")[0] in verbs]


@pytest.mark.lesson(28, "whatever drops work keeps a backup first")
def test_every_command_that_could_lose_work_has_its_moments() -> None:
    assert {moment.partition(".")[0] for moment in Moment} == {*COMMANDS, "task"}  # tasks: test_task_crashes.py


@pytest.fixture
def begun(world: World) -> World:
    """Work for review, a branch that moved on, a check, and something of the user's own."""
    world.config("repo.validate", '["test -f a.txt"]')
    world.work(WORK, "Add a")
    world.to_review()
    world.upstream({"hand.txt": "h\n"})
    world.local({"mine.txt": "mine\n", "notes.txt": "my notes\n"})
    return world


def kill_at(world: World, moment: Moment, verb: str | None = None) -> None:
    """Runs the command until that moment."""
    verb = verb or moment.partition(".")[0]
    if verb in DIRTY:
        (world.worktree / "half.txt").write_text("half\n")
    if verb == "undo":
        world.story.llmc("reset", "adam", "--yes")
    os.environ[VARIABLE] = moment
    try:
        process = world.story.spawn(*COMMANDS[verb])
        assert process.wait() == -signal.SIGKILL, f"{verb} does not come by {moment}"
    finally:
        del os.environ[VARIABLE]


def assert_nothing_lost(world: World, head: str, half: bool) -> None:
    git, root = world.story.site.git, world.story.root.path
    tips = [backup.head_sha for backup in list_backups(git, root, "adam")]
    branch = branch_tip(git, root, "llmc/adam")
    tips += [branch] if branch else []
    tips += [world.in_source("rev-parse", "main")]
    assert any(_has_the_work(world, tip) for tip in tips), tips
    if half:
        kept = any("half.txt" in backup.dirty for backup in list_backups(git, root, "adam"))
        assert kept or (world.worktree / "half.txt").read_text() == "half\n"
    assert world.in_clone("cat-file", "-t", head) == "commit"


def _has_the_work(world: World, tip: str) -> bool:
    return world.story.site.git.run(world.story.root.path, "cat-file", "-e", f"{tip}:a.txt", check=False).ok


def assert_sound(world: World, mine: dict[str, str]) -> None:
    """The user's checkout is untouched or fast-forwarded; no git is locked out; nothing is half done."""
    assert world.story.subjects().count("Add a") <= 1
    assert world.in_source("status", "--porcelain") == " M notes.txt\n?? mine.txt"
    assert {name: files_of(world.source)[name] for name in mine} == mine
    assert world.locks() == []
    assert world.in_source("fsck", "--no-dangling", "--no-progress") == ""
    if world.worktree.exists():
        assert world.in_worktree("fsck", "--no-dangling", "--no-progress") == ""
        assert rebase_in_progress(world.story.site.git, str(world.worktree)) is None


def own_files(world: World) -> dict[str, str]:
    return {name: entry for name, entry in files_of(world.source).items() if name in ("mine.txt", "notes.txt")}


@pytest.mark.lesson(27, "a clean-up that fails is no merge that failed")
@pytest.mark.lesson(38, "an intention is saved before its effect, and an effect can be repeated")
@pytest.mark.parametrize("moment", of("accept"))
def test_an_accept_goes_on_where_it_ended(begun: World, moment: Moment) -> None:
    head, mine = begun.in_clone("rev-parse", "llmc/adam"), own_files(begun)
    kill_at(begun, moment)
    assert_nothing_lost(begun, head, half=False)
    if begun.story.worker("adam").work is Work.NEEDS_REVIEW:
        begun.story.llmc("accept", "adam")
    else:
        begun.story.llmc("accept", "adam", code=1)
        settle(begun.story.site, "adam")
    assert begun.story.subjects()[-2:] == ["By hand", "Add a"]
    assert_accepted(begun, head, mine)


def test_another_commit_is_not_taken_for_what_an_accept_has_landed(begun: World) -> None:
    """Between the kill and the next try an agent can move the ref that names the commit."""
    head, mine = begun.in_clone("rev-parse", "llmc/adam"), own_files(begun)
    kill_at(begun, Moment.ACCEPT_BEGUN)
    begun.in_clone("fetch", "--quiet", "origin")
    begun.in_clone("update-ref", "refs/llmc/accept/adam/commit", "origin/main")
    begun.story.llmc("accept", "adam")
    assert begun.story.subjects()[-2:] == ["By hand", "Add a"]
    assert_accepted(begun, head, mine)


@pytest.mark.parametrize("moment", [*of("accept"), *CLEAN_UP])
def test_an_accept_is_finished_by_whoever_looks(begun: World, moment: Moment) -> None:
    head, mine = begun.in_clone("rev-parse", "llmc/adam"), own_files(begun)
    kill_at(begun, moment, "accept")
    look_as_doctor(begun)
    settle(begun.story.site, "adam")
    assert_accepted(begun, head, mine)


@pytest.mark.lesson(50, "a landing that is cut short is finished or taken back by whoever comes next")
@pytest.mark.parametrize("moment", of("takeback"))
@pytest.mark.parametrize("again", [True, False], ids=["typed again", "looked at"])
def test_a_take_back_goes_on_where_it_ended(begun: World, moment: Moment, again: bool) -> None:
    begun.work({"big.txt": BIG}, "Add a big file")
    begun.to_review()
    head, mine = begun.in_clone("rev-parse", "llmc/adam"), own_files(begun)
    with merges_that_are_stopped(begun):
        kill_at(begun, Moment.TAKEBACK_UNLOCKED)
    kill_at(begun, moment)
    assert_nothing_lost(begun, head, half=False)
    look_as_doctor(begun)
    if again:
        begun.story.llmc("accept", "adam")
    else:
        settle(begun.story.site, "adam")
    assert_accepted(begun, head, mine)
    assert not Path(begun.story.root.landings).exists()


def look_as_doctor(world: World) -> None:
    """It may find something, it must not break over it, and it changes nothing."""
    before = world.picture()
    code = main(["--root", world.story.root.path, "doctor", "--json"])
    assert code in (0, 1)
    assert world.picture() == before


def assert_accepted(world: World, head: str, mine: dict[str, str]) -> None:
    worker = world.story.worker("adam")
    assert (worker.work, worker.pending) == (Work.IDLE, ())
    assert world.story.subjects().count("Add a") == 1
    assert world.in_worktree("rev-parse", "HEAD") == world.in_source("rev-parse", "main")
    assert world.in_worktree("status", "--porcelain") == ""
    assert_nothing_lost(world, head, half=False)
    assert_sound(world, mine)


@pytest.mark.parametrize("moment", of("rebase"))
def test_a_rebase_goes_on_where_it_ended(begun: World, moment: Moment) -> None:
    head, mine = begun.in_clone("rev-parse", "llmc/adam"), own_files(begun)
    kill_at(begun, moment)
    assert_nothing_lost(begun, head, half=False)
    begun.story.llmc("rebase", "adam")
    worker = begun.story.worker("adam")
    assert (worker.work, worker.pending) == (Work.NEEDS_REVIEW, ())
    assert worker.commit_sha == begun.in_worktree("rev-parse", "HEAD")
    assert begun.in_worktree("log", "--format=%s", "-2") == "Add a\nBy hand"
    assert_sound(begun, mine)


@pytest.mark.parametrize("moment", of("reset"))
def test_a_reset_goes_on_where_it_ended(begun: World, moment: Moment) -> None:
    head, mine = begun.in_clone("rev-parse", "llmc/adam"), own_files(begun)
    kill_at(begun, moment)
    assert_nothing_lost(begun, head, half=True)
    begun.story.llmc("reset", "adam", "--yes")
    assert begun.story.worker("adam").work is Work.IDLE
    assert begun.in_worktree("status", "--porcelain") == ""
    assert_nothing_lost(begun, head, half=True)
    assert_sound(begun, mine)


@pytest.mark.parametrize("moment", of("nuke"))
@pytest.mark.parametrize("again", [True, False], ids=["typed again", "looked at"])
def test_a_nuke_goes_on_where_it_ended(begun: World, moment: Moment, again: bool) -> None:
    head, mine = begun.in_clone("rev-parse", "llmc/adam"), own_files(begun)
    kill_at(begun, moment)
    assert_nothing_lost(begun, head, half=True)
    if again:
        begun.story.llmc("nuke", "adam", "--yes")
    else:
        settle(begun.story.site, "adam")
    assert "adam" not in begun.story.site.ledger.load().workers
    assert not begun.worktree.exists()
    assert begun.in_clone("for-each-ref", "refs/heads/llmc/adam", "refs/llmc/accept") == ""
    assert_nothing_lost(begun, head, half=True)
    assert_sound(begun, mine)
    begun.story.llmc("add", "adam", "--agent", "demo")
    begun.story.llmc("undo", "adam", "--yes")
    assert begun.in_worktree("rev-parse", "HEAD") == head
    assert (begun.worktree / "half.txt").read_text() == "half\n"


@pytest.mark.parametrize("moment", of("undo"))
def test_an_undo_goes_on_where_it_ended(begun: World, moment: Moment) -> None:
    head, mine = begun.in_clone("rev-parse", "llmc/adam"), own_files(begun)
    kill_at(begun, moment)
    assert_nothing_lost(begun, head, half=False)
    if moment is Moment.UNDO_BACKED_UP:
        begun.story.llmc("undo", "adam", "--yes")
    assert begun.in_worktree("rev-parse", "HEAD") == head
    assert_sound(begun, mine)
