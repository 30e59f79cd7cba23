"""Git ends in the middle of a landing: by force, or because the disk is full. The user's checkout is never harmed."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from llmc.host.faults import VARIABLE, Moment
from llmc.model import Work
from testing.disks import need_mounts
from testing.landing import BIG, merges_that_are_stopped
from testing.story import LLMC
from testing.waiting import wait_until
from testing.world import SOME, World, seen

WORK = {"README": SOME["README"] + "more\n", "a.txt": "a\n", "big.txt": BIG, "notes.txt": "more notes\n"}


@pytest.fixture
def begun(world: World) -> World:
    world.work(WORK, "Add a")
    world.to_review()
    world.local({"mine.txt": "mine\n", "src/app.py": "print('mine')\n"})
    return world


@pytest.fixture
def half(begun: World) -> World:
    cut_short(begun)
    return begun


def cut_short(world: World) -> None:
    """Git is ended in the middle of a file, and the command that runs it, too."""
    with merges_that_are_stopped(world):
        os.environ[VARIABLE] = Moment.TAKEBACK_UNLOCKED
        try:
            world.story.spawn("accept", "adam").wait()
        finally:
            del os.environ[VARIABLE]
    assert "README" in world.in_source("status", "--porcelain")
    assert BIG.startswith((world.source / "big.txt").read_text())


def is_settled(world: World) -> bool:
    return not Path(world.story.root.landings).exists()


def assert_landed(world: World) -> None:
    assert world.story.subjects().count("Add a") == 1
    assert world.in_source("status", "--porcelain") == " M src/app.py\n?? mine.txt"
    assert (world.source / "big.txt").read_text() == BIG
    assert world.story.worker("adam").work is Work.IDLE
    assert is_settled(world)
    assert world.locks() == []


@pytest.mark.lesson(50, "a landing that is cut short is finished or taken back by whoever comes next")
def test_git_that_is_ended_leaves_everything_as_it_was(begun: World) -> None:
    before = seen(begun.story, begun.source)
    with merges_that_are_stopped(begun):
        said = begun.story.llmc("accept", "adam", code=1)
    assert "ended by signal 25" in said.err
    assert seen(begun.story, begun.source) == before
    assert begun.story.worker("adam").work is Work.NEEDS_REVIEW
    assert is_settled(begun)
    assert begun.locks() == []
    begun.story.llmc("accept", "adam")
    assert_landed(begun)


@pytest.mark.lesson(50, "a landing that is cut short is finished or taken back by whoever comes next")
def test_the_next_accept_takes_it_back_and_lands(half: World) -> None:
    half.story.llmc("accept", "adam")
    assert_landed(half)


def test_status_and_doctor_tell_of_it_and_change_nothing(half: World) -> None:
    before = half.picture()
    said = half.story.llmc("status").out
    assert "landing the work of adam onto main was cut short" in said
    (landing,) = half.story.json("status")["landings"]
    assert (landing["branch"], landing["workers"], landing["title"]) == ("main", ["adam"], "Add a")
    half.story.llmc("accept", "adam", "--dry-run", code=1)
    codes = {found["code"]: found for found in half.story.json("doctor", code=1)["findings"]}
    assert "landing the work of adam (Add a) onto main of" in codes["landing-cut-short"]["what"]
    assert codes["landing-cut-short"]["repairable"]
    assert half.picture() == before


def test_doctor_repairs_it(half: World) -> None:
    half.story.llmc("doctor", "--repair", "--yes")
    assert is_settled(half)
    assert half.story.json("status")["landings"] == []
    assert half.locks() == []
    assert half.in_source("status", "--porcelain") == " M src/app.py\n?? mine.txt"


def test_another_command_takes_it_back(half: World) -> None:
    (half.source / "a.txt").write_text("edited since\n")
    half.story.llmc("reset", "baker", "--yes")
    assert is_settled(half)
    assert half.in_source("status", "--porcelain") == " M src/app.py\n?? a.txt\n?? mine.txt"
    assert (half.source / "a.txt").read_text() == "edited since\n"
    assert "was taken back; your own changes were left: a.txt" in half.story.llmc("explain", "adam").out
    said = half.story.llmc("accept", "adam", code=1)
    assert "a.txt" in said.err


def test_the_daemon_takes_it_back_and_goes_on(half: World) -> None:
    half.story.up()
    try:
        half.story.until(lambda: half.story.worker("adam").work is Work.IDLE and is_settled(half))
        assert_landed(half)
    finally:
        half.story.llmc("down")


def test_a_git_that_outlives_the_command_is_waited_for(begun: World, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (begun.source / ".git/info/attributes").write_text("big.txt filter=slow\n")
    begun.in_source("config", "filter.slow.smudge", f"read line < {pipe}; cat")
    first = begun.story.spawn("accept", "adam")
    wait_until(lambda: (begun.source / "a.txt").exists())
    first.kill()
    first.wait()
    again = begun.story.spawn("accept", "adam")
    with open(pipe, "w", encoding="utf-8") as slow:
        slow.write("go on\n")
    assert again.wait() == 0
    assert_landed(begun)


def test_ctrl_c_in_the_middle_takes_it_back(begun: World, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    before = seen(begun.story, begun.source)
    (begun.source / ".git/info/attributes").write_text("big.txt filter=slow\n")
    begun.in_source(
        "config", "filter.slow.smudge", f"test -e {tmp_path}/once || {{ touch {tmp_path}/once; read x < {pipe}; }}; cat"
    )
    accepting = begun.story.spawn("accept", "adam")
    wait_until(lambda: (tmp_path / "once").exists())
    accepting.send_signal(2)
    assert accepting.wait() == 130
    assert seen(begun.story, begun.source) == before
    assert is_settled(begun)
    assert begun.locks() == []
    assert begun.story.worker("adam").work is Work.NEEDS_REVIEW


ON_A_SMALL_DISK = """
    mkdir "$3"; mount -t tmpfs -o size=4m x "$3"; cp -a "$1/." "$3"; mount --move "$3" "$1"
    root=$2 left=$4; cd "$1"; shift 4
    dd if=/dev/zero of=.git/junk bs=1k 2>/dev/null || true
    truncate -s "-$left" .git/junk
    "$@" --root "$root" accept adam >"$root/first" 2>&1 && exit 9
    GIT_OPTIONAL_LOCKS=0 git status --porcelain >"$root/between"; git rev-parse main >"$root/main"
    "$@" --root "$root" status >"$root/status"
    rm .git/junk
    "$@" --root "$root" accept adam
    git status --porcelain >"$root/after"; git log --format=%s -1 >"$root/subject"; cat README >"$root/README"
"""


def accept_twice_on_a_small_disk(world: World, tmp_path: Path, left: str) -> dict[str, str]:
    """What was to be seen after each of the two; between them the disk is freed again."""
    need_mounts()
    root = world.story.root.path
    places = (str(world.source), root, str(tmp_path / "disk"), left)
    argv = ["unshare", "-rm", "sh", "-ec", ON_A_SMALL_DISK, "sh", *places, *LLMC]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done
    names = ("first", "between", "main", "status", "after", "subject", "README")
    return {name: Path(root, name).read_text() for name in names}


@pytest.mark.lesson(50, "a landing that is cut short is finished or taken back by whoever comes next")
def test_a_full_disk_leaves_everything_as_it_was(begun: World, tmp_path: Path) -> None:
    begun.work({f"large{n}.txt": os.urandom(40_000).hex() for n in range(4)}, "Add more")
    begun.to_review()
    before = begun.in_source("rev-parse", "main")
    told = accept_twice_on_a_small_disk(begun, tmp_path, "300k")
    assert "unable to write file" in told["first"], told
    assert told["between"] == " M src/app.py\n?? mine.txt\n", told
    assert told["main"].strip() == before
    assert "cut short" not in told["status"]
    assert (told["after"], told["subject"]) == (told["between"], "Add a\n")
    assert is_settled(begun)


def test_what_cannot_be_taken_back_for_want_of_room_is_told_and_done_later(world: World, tmp_path: Path) -> None:
    readme = os.urandom(200_000).hex()
    world.upstream({"README": readme})
    world.story.llmc("reset", "adam", "--yes")
    world.work({"README": "small\n", "big.txt": BIG}, "Add a")
    world.to_review()
    cut_short(world)
    assert (world.source / "README").read_text() == "small\n"
    told = accept_twice_on_a_small_disk(world, tmp_path, "0k")
    assert "could not be taken back yet" in told["first"], told
    assert "No space left on device" in told["first"]
    assert "was cut short" in told["status"]
    assert (told["after"], told["subject"], told["README"]) == ("", "Add a\n", "small\n")
    assert is_settled(world)
