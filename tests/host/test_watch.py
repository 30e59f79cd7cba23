"""Both ways of noticing changes, held to the same promises."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from llmc.host.watch import InotifyWatch, LookingWatch, open_watch, wait_for_change
from testing.waiting import wait_until


@pytest.fixture(params=[InotifyWatch, LookingWatch])
def watch(request):
    if request.param is InotifyWatch and sys.platform != "linux":
        pytest.skip("inotify is Linux's")
    watch = request.param()
    yield watch
    watch.close()


def notice(watch):
    """What is noticed in the end: the kernel may take a moment to tell."""
    return wait_until(watch.changed)


def test_nothing_changes_by_itself(watch, tmp_path):
    (tmp_path / "file").write_text("x")
    assert watch.add(str(tmp_path), "adam")
    assert watch.changed() == set()
    assert watch.changed() == set()


def append(file):
    with file.open("a") as opened:
        opened.write("more")


CHANGES = {
    "made": lambda d: (d / "new").write_text("x"),
    "written to": lambda d: (d / "old").write_text("longer than before"),
    "appended to": lambda d: append(d / "old"),
    "removed": lambda d: (d / "old").unlink(),
    "replaced": lambda d: ((d / "temporary").write_text("y"), (d / "temporary").replace(d / "old")),
    "moved away": lambda d: (d / "old").rename(d.parent / "elsewhere"),
    "made as a directory": lambda d: (d / "rebase-merge").mkdir(),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_an_entry_of_a_directory_is(watch, tmp_path, change):
    directory = tmp_path / "watched"
    directory.mkdir()
    (directory / "old").write_text("x")
    watch.add(str(directory), "adam")
    change(directory)
    assert notice(watch) == {"adam"}


def test_a_change_is_told_once(watch, tmp_path):
    watch.add(str(tmp_path), "adam")
    (tmp_path / "new").mkdir()
    assert notice(watch) == {"adam"}
    assert watch.changed() == set()


def test_a_watched_file(watch, tmp_path):
    file = tmp_path / "file"
    file.write_text("x")
    watch.add(str(file), "adam")
    (tmp_path / "other").write_text("x")
    assert watch.changed() == set()
    file.write_text("changed")
    assert notice(watch) == {"adam"}


def test_a_file_that_is_replaced_again_and_again_stays_watched(watch, tmp_path):
    file = tmp_path / "state.json"
    file.write_text("0")
    watch.add(str(file), "adam")
    for number in range(3):
        (tmp_path / "temporary").write_text(str(number))
        (tmp_path / "temporary").replace(file)
        assert notice(watch) == {"adam"}
        while watch.changed():
            pass


def test_only_the_entries_that_matter(watch, tmp_path):
    watch.add(str(tmp_path), "adam", frozenset({"HEAD", "rebase-merge"}))
    (tmp_path / "index").write_text("x")
    assert watch.changed() == set()
    (tmp_path / "HEAD").write_text("x")
    assert notice(watch) == {"adam"}


def test_each_path_tells_its_own_name(watch, tmp_path):
    for name in ("adam", "eve", "cain"):
        (tmp_path / name).mkdir()
        watch.add(str(tmp_path / name), name)
    (tmp_path / "adam" / "x").mkdir()
    (tmp_path / "eve" / "x").mkdir()
    assert notice(watch) == {"adam", "eve"}


def test_one_path_may_concern_several(watch, tmp_path):
    watch.add(str(tmp_path), "adam")
    watch.add(str(tmp_path), "eve", frozenset({"HEAD"}))
    (tmp_path / "x").mkdir()
    assert notice(watch) == {"adam"}
    (tmp_path / "HEAD").mkdir()
    assert notice(watch) == {"adam", "eve"}
    watch.forget("adam")
    (tmp_path / "HEAD").rmdir()
    assert notice(watch) == {"eve"}


def test_several_paths_may_concern_one(watch, tmp_path):
    for name in ("spool", "logs"):
        (tmp_path / name).mkdir()
        watch.add(str(tmp_path / name), "adam")
    (tmp_path / "logs" / "x").mkdir()
    assert notice(watch) == {"adam"}


def test_who_is_forgotten_is_not_told_about(watch, tmp_path):
    (tmp_path / "spool").mkdir()
    watch.add(str(tmp_path), "adam")
    watch.add(str(tmp_path / "spool"), "eve")
    watch.forget("adam")
    watch.forget("nobody")
    (tmp_path / "x").mkdir()
    (tmp_path / "spool" / "x").mkdir()
    assert notice(watch) == {"eve"}


def test_a_directory_that_goes_is_noticed(watch, tmp_path):
    directory = tmp_path / "spool"
    directory.mkdir()
    watch.add(str(directory), "adam", frozenset({"HEAD"}))
    directory.rmdir()
    assert notice(watch) == {"adam"}


@pytest.mark.parametrize("path", ["nothing", "file/below", "loop"])
def test_what_is_not_there_is_told_at_once(watch, tmp_path, path):
    (tmp_path / "file").write_text("x")
    (tmp_path / "loop" if path == "loop" else tmp_path / "unused").symlink_to("loop")
    watched = watch.add(str(tmp_path / path), "adam")
    # A looking watch sees the link itself, and has nothing to compare until it leads somewhere.
    assert watched is (path == "loop" and isinstance(watch, LookingWatch))
    assert watch.changed() == set()


def test_too_many_changes_at_once_lose_nobody(tmp_path):
    """The kernel's list overflows: then everybody has to be looked at."""
    if sys.platform != "linux":
        pytest.skip("inotify is Linux's")
    limit = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    if limit > 50_000:
        pytest.skip("this system keeps too long a list to fill it in a test")
    watch = InotifyWatch()
    for name in ("adam", "eve"):
        (tmp_path / name).mkdir()
        watch.add(str(tmp_path / name), name)
    flood(tmp_path / "adam", limit)
    (tmp_path / "eve" / "x").mkdir()
    assert notice(watch) == {"adam", "eve"}
    watch.close()


def flood(directory, count):
    """Different events in turn: the kernel counts equal neighbours as one."""
    for number in range(2):
        (directory / str(number)).touch()
    for number in range(count + 10):
        os.utime(directory / str(number % 2))


def test_waiting_ends_with_the_first_change(watch, tmp_path):
    watch.add(str(tmp_path), "adam")
    timer = threading.Timer(0.2, (tmp_path / "new").mkdir)
    timer.start()
    seen = wait_until(lambda: wait_for_change(watch, 60.0))
    timer.join()
    assert seen == {"adam"}


def test_waiting_ends_without_a_change(watch, tmp_path):
    watch.add(str(tmp_path), "adam")
    assert wait_for_change(watch, 0.01) == set()


def test_the_best_way_of_this_system_is_chosen():
    watch = open_watch()
    assert isinstance(watch, InotifyWatch if sys.platform == "linux" else LookingWatch)
    watch.close()


EXHAUSTED = """
import os, resource
from contextlib import suppress
from llmc.host.watch import InotifyWatch, LookingWatch, open_watch
InotifyWatch().close()
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
with suppress(OSError):
    while True:
        os.open("/dev/null", os.O_RDONLY)
print(type(open_watch()).__name__)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")
def test_a_system_with_no_watches_left_is_looked_at():
    done = subprocess.run([sys.executable, "-c", EXHAUSTED], capture_output=True, text=True, check=True)
    assert done.stdout == "LookingWatch\n"


STARTS_NOTHING = """
import sys
started = []
sys.addaudithook(lambda event, _: started.append(event) if event in ("subprocess.Popen", "os.posix_spawn") else None)
from llmc.host.watch import open_watch
open_watch().close()
print(started)
"""


def test_a_watch_is_opened_without_another_program():
    done = subprocess.run([sys.executable, "-c", STARTS_NOTHING], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
