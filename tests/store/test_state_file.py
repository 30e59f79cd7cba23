from __future__ import annotations

import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from llmc.host.locks import LockTimeoutError
from llmc.model import Clock, Session, State, Work, Worker
from llmc.store.codec import StateError, StateInvalidError, StateNewerError
from llmc.store.state_file import REBUILD, StateBrokenError, StateExistsError, StateFile, StateMissingError

NOW = 1_800_000_000.0
FILES = {"state.json", "state.json.bak", "state.lock"}

COUNT_UP = """
import sys
from dataclasses import replace
from llmc.model import State
from llmc.store.state_file import StateFile
root, name, times = sys.argv[1], sys.argv[2], int(sys.argv[3])
def count(state):
    worker = state.workers[name]
    return replace(state, workers={**state.workers, name: replace(worker, step_count=worker.step_count + 1)})
file = StateFile(root, lock_timeout=100)
print("ready", flush=True)
sys.stdin.readline()
for _ in range(times):
    file.transact(count)
"""
READ_ALL_THE_TIME = """
import sys
from llmc.store.snapshot import read_state
from llmc.store.state_file import StateFile
file, last, reads = StateFile(sys.argv[1]), 0, 0
print("ready", flush=True)
while last < int(sys.argv[2]):
    now = sum(worker.step_count for worker in file.load().workers.values())
    raw = sum(worker["step_count"] for worker in read_state(sys.argv[1])["workers"].values())
    assert last <= now <= raw, (last, now, raw)
    last, reads = raw, reads + 1
print(reads)
"""


def worker(name: str = "adam", **fields) -> Worker:
    return replace(Worker(name, f"/srv/{name}", f"llmc/{name}", f"llmc-{name}", "claude", 0.0, 0.0), **fields)


def counted(state: State, by: int = 1) -> State:
    adam = state.workers["adam"]
    return replace(state, workers={**state.workers, "adam": replace(adam, step_count=adam.step_count + by)})


def unchanged(state: State) -> State:
    return state


@pytest.fixture
def file(tmp_path: Path) -> StateFile:
    file = StateFile(tmp_path / "root", lock_timeout=0.05)
    file.create(State({"adam": worker(current_prompt="p" * 2000)}))
    return file


def start(script: str, *args: object) -> subprocess.Popen[str]:
    argv = [sys.executable, "-c", script, *map(str, args)]
    process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


# Making and changing


def test_what_is_created_can_be_loaded(tmp_path: Path) -> None:
    file = StateFile(tmp_path / "deep" / "root")
    assert not file.exists
    file.create()
    assert file.exists
    assert file.load() == State()
    assert file.root.stat().st_mode & 0o777 == 0o700
    assert file.path.stat().st_mode & 0o777 == 0o600


def test_creating_never_overwrites(file: StateFile) -> None:
    with pytest.raises(StateExistsError, match="already"):
        file.create()
    assert "adam" in file.load().workers


def test_creating_does_not_bury_a_backup(file: StateFile) -> None:
    file.transact(counted)
    file.path.unlink()
    with pytest.raises(StateExistsError, match="backup is there") as caught:
        file.create()
    assert "doctor --repair" in caught.value.hint


def test_overwriting_sets_aside_what_was_there(file: StateFile) -> None:
    file.transact(counted)
    file.path.write_text("broken")
    kept_backup = file.backup_path.read_bytes()
    file.create(State({"baker": worker("baker")}), overwrite=True)
    assert list(file.load().workers) == ["baker"]
    aside = {path.read_bytes() for path in file.root.glob("*.aside-*")}
    assert aside == {b"broken", kept_backup}


def test_a_change_is_saved_and_the_state_before_it_is_the_backup(file: StateFile) -> None:
    before = file.load()
    after = file.transact(counted)
    assert after == file.load() == counted(before)
    assert file.load_backup() == before
    assert {path.name for path in file.root.iterdir()} == FILES
    assert {path.stat().st_mode & 0o777 for path in file.root.iterdir()} == {0o600}


def test_no_difference_writes_nothing(file: StateFile) -> None:
    written = file.path.stat()
    assert file.transact(unchanged) == file.load()
    assert (file.path.stat().st_ino, file.path.stat().st_mtime_ns) == (written.st_ino, written.st_mtime_ns)
    assert not file.backup_path.exists()


def test_a_change_that_fails_changes_nothing(file: StateFile) -> None:
    before = file.path.read_bytes()
    with pytest.raises(ZeroDivisionError):
        file.transact(lambda state: counted(state, 1 // 0))
    assert file.path.read_bytes() == before
    assert file.transact(counted).workers["adam"].step_count == 1


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"work": Work.NEEDS_REVIEW}, "commit_sha"),
        ({"work": "sleeping"}, "work"),
        ({"step_count": -1}, "step_count"),
        ({"timers": {"retry": float("inf")}}, "timers"),
        ({"name": "baker"}, "name"),
    ],
)
def test_a_change_into_nonsense_is_refused(file: StateFile, fields: dict, field: str) -> None:
    before = file.path.read_bytes()
    with pytest.raises(StateInvalidError) as caught:
        file.transact(lambda state: replace(state, workers={"adam": worker(**fields)}))
    assert [problem.field for problem in caught.value.problems] == [field]
    assert file.path.read_bytes() == before


def test_a_file_that_contradicts_itself_can_be_mended(file: StateFile) -> None:
    data = json.loads(file.path.read_text())
    data["workers"]["adam"]["work"] = "needs_review"
    file.path.write_text(json.dumps(data))
    with pytest.raises(StateInvalidError, match="commit_sha"):
        file.transact(counted)
    with pytest.raises(StateInvalidError, match="commit_sha"):
        file.repair(unchanged)
    file.repair(lambda state: State({"adam": replace(state.workers["adam"], commit_sha="c0ffee")}))
    assert file.load().workers["adam"].commit_sha == "c0ffee"


@pytest.mark.lesson(37, "state changes under one kernel lock, briefly, and never twice at once")
def test_a_change_inside_a_change_is_a_bug_that_shows_at_once(file: StateFile) -> None:
    with pytest.raises(RuntimeError, match="already held"):
        file.transact(lambda state: file.transact(counted))


def test_an_old_format_is_migrated_and_kept_as_the_backup(file: StateFile) -> None:
    old = {"workers": {"adam": {"worktree_path": "/srv/adam", "status": "offline"}}}
    file.path.write_text(json.dumps(old))
    assert file.load().workers["adam"].session is Session.DOWN
    file.transact(counted)
    assert json.loads(file.path.read_text())["schema"] == 1
    assert json.loads(file.backup_path.read_text()) == old


def test_names_and_prompts_of_any_bytes_survive(file: StateFile) -> None:
    odd = worker(current_prompt="emoji 😀 \udcff \0 \u2028", conflicted_files=(os.fsdecode(b"\xff.txt"),))
    file.transact(lambda state: State({"adam": odd}))
    assert file.load().workers["adam"] == odd


def test_what_another_process_wrote_is_seen_and_what_a_caller_keeps_cannot_reach_in(file: StateFile) -> None:
    workers = {"adam": worker(), "baker": worker("baker")}
    file.transact(lambda state: State(workers))
    del workers["baker"]
    assert list(file.load().workers) == ["adam", "baker"]
    StateFile(file.root).transact(counted)
    assert file.load().workers["adam"].step_count == 1
    assert file.transact(counted).workers["adam"].step_count == 2


# Trouble with the file


def test_a_missing_state_is_named(tmp_path: Path) -> None:
    file = StateFile(tmp_path)
    for use in (file.load, lambda: file.transact(unchanged), lambda: file.repair(unchanged), file.restore_backup):
        with pytest.raises(StateMissingError, match=r"there is no .*state\.json") as caught:
            use()
        assert caught.value.hint == "run `llmc init`"
    assert list(tmp_path.iterdir()) == []


def test_a_root_without_its_state_and_the_backup_can_be_made_again(tmp_path: Path) -> None:
    (tmp_path / "config.toml").touch()
    file = StateFile(tmp_path)
    for use in (file.load, lambda: file.transact(unchanged)):
        with pytest.raises(StateMissingError) as caught:
            use()
        assert caught.value.hint == REBUILD


def test_a_missing_root_is_a_missing_state(tmp_path: Path) -> None:
    with pytest.raises(StateMissingError):
        StateFile(tmp_path / "nowhere").transact(unchanged)
    (tmp_path / "a-file").touch()
    with pytest.raises(StateMissingError):
        StateFile(tmp_path / "a-file").load()


def test_a_missing_state_with_a_backup_says_so(file: StateFile) -> None:
    file.transact(counted)
    file.path.unlink()
    with pytest.raises(StateMissingError) as caught:
        file.load()
    assert caught.value.hint.startswith("`llmc doctor --repair` can restore state.json.bak (less than a minute old)")


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "it is empty"),
        (b" \n", "it is empty"),
        (b'{\n "schema": 1,\n "workers": {,}\n}', "line 3, column 14"),
        (b'{"schema": 1, "workers": {}', "line 1, column 28"),
        (b'{"schema": 1, "workers": {}} trailing', "line 1, column 30"),
        (b"\xff\xfe\xff", "codec can't decode"),
        (b'{"schema": 1, "workers": {}, "patrol_last_run_unix": NaN}', "NaN is not a number"),
        (b'{"schema": 1, "workers": {"adam": {}, "adam": {}}}', "'adam' stands there twice"),
        (b"[" * 200_000, "recursion"),
        (b"1" * 10_000, "digits"),
    ],
)
def test_a_damaged_state_says_where(file: StateFile, content: bytes, what: str) -> None:
    file.path.write_bytes(content)
    with pytest.raises(StateBrokenError) as caught:
        file.load()
    assert str(file.path) in caught.value.what
    assert what in caught.value.what
    assert "doctor --repair" in caught.value.hint
    assert caught.value.hint.endswith(f"there is no usable backup; {REBUILD}")


@pytest.mark.parametrize("damage", ["{", '{"schema": 1, "workers": {"adam": {}}}'])
def test_a_damaged_state_says_whether_the_backup_is_usable(file: StateFile, damage: str) -> None:
    file.transact(counted)
    file.path.write_text(damage)
    hour_ago = time.time() - 2 * 3600
    os.utime(file.backup_path, (hour_ago, hour_ago))
    with pytest.raises(StateError) as caught:
        file.load()
    assert caught.value.hint.endswith("can restore state.json.bak (2 hours old)")
    file.backup_path.write_text(damage)
    with pytest.raises(StateError) as caught:
        file.load()
    assert caught.value.hint.endswith(f"there is no usable backup; {REBUILD}")


def test_a_newer_state_is_no_case_for_the_backup(file: StateFile) -> None:
    file.transact(counted)
    file.path.write_text('{"schema": 2}')
    with pytest.raises(StateNewerError) as caught:
        file.transact(counted)
    assert caught.value.hint == "upgrade llmc and try again"


def test_the_backup_is_restored_and_the_damaged_file_is_kept(file: StateFile) -> None:
    before = file.load()
    file.transact(counted)
    file.path.write_text("damaged")
    assert file.restore_backup() == before == file.load()
    assert [path.read_text() for path in file.root.glob("state.json.aside-*")] == ["damaged"]
    file.path.unlink()
    assert file.restore_backup() == before == file.load()


def test_a_backup_that_is_damaged_too_is_not_restored(file: StateFile) -> None:
    file.transact(counted)
    file.backup_path.write_text("damaged")
    now = file.path.read_bytes()
    with pytest.raises(StateBrokenError, match=r"state\.json\.bak"):
        file.restore_backup()
    assert file.path.read_bytes() == now


@pytest.mark.parametrize("kind", ["directory", "pipe", "link", "dangling link"])
def test_only_a_real_file_is_a_state(file: StateFile, kind: str) -> None:
    real = file.path.rename(file.root / "real.json")
    match kind:
        case "directory":
            file.path.mkdir()
        case "pipe":
            os.mkfifo(file.path)
        case "link":
            file.path.symlink_to(real)
        case _:
            file.path.symlink_to(file.root / "nowhere")
    for use in (file.load, lambda: file.transact(counted)):
        with pytest.raises(StateBrokenError, match="not a file of its own"):
            use()
    file.create(overwrite=True)
    assert file.load() == State()


# Trouble with the disk


def run_limited(script: str, *args: object) -> str:
    """What the script reports, run in a process of its own."""
    argv = [sys.executable, "-c", script, *map(str, args)]
    return subprocess.run(argv, check=True, stdout=subprocess.PIPE, text=True).stdout


GROW = """
import os, resource, sys
from dataclasses import replace
from llmc.errors import LlmcError
from llmc.store.state_file import StateFile
file = StateFile(sys.argv[1])
def grow(state):
    adam = state.workers["adam"]
    return replace(state, workers={"adam": replace(adam, current_prompt="x" * int(sys.argv[2]))})
exec(sys.argv[3])
try:
    file.transact(grow)
except LlmcError as error:
    print(type(error).__name__, error.what, error.hint, sep="|", end="")
"""


def assert_nothing_changed(file: StateFile, before: bytes) -> None:
    assert file.path.read_bytes() == before
    assert {path.name for path in file.root.iterdir()} <= FILES
    assert file.load().workers["adam"].current_prompt == "p" * 2000


@pytest.mark.parametrize("limit", [0, 100, 4096])
def test_a_file_that_may_not_grow_leaves_everything_as_it_was(file: StateFile, limit: int) -> None:
    before = file.path.read_bytes()
    limited = f"resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {resource.RLIM_INFINITY}))"
    kind, what, hint = run_limited(GROW, file.root, 100_000, limited).split("|")
    assert (kind, what) == ("DiskError", f"{file.path}: file too large")
    assert "ulimit" in hint
    assert_nothing_changed(file, before)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A file system of 64 KiB, or where this user may not make one, the directory and a limit for its writer."""
    place = tmp_path / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", place]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        yield place, f"resource.setrlimit(resource.RLIMIT_FSIZE, (65536, {resource.RLIM_INFINITY}))"
        return
    yield place, ""
    subprocess.run(["umount", place], check=True)


def test_a_full_disk_leaves_everything_as_it_was(small_disk: tuple[Path, str]) -> None:
    place, limit = small_disk
    file = StateFile(place / "root")
    file.create(State({"adam": worker(current_prompt="p" * 2000)}))
    before = file.path.read_bytes()
    kind, what, hint = run_limited(GROW, file.root, 100_000, limit).split("|")
    assert kind == "DiskError"
    assert what == f"{file.path}: {'file too large' if limit else 'no space left on device'}"
    assert "nothing was changed" in hint
    assert_nothing_changed(file, before)
    assert file.transact(counted).workers["adam"].step_count == 1


@pytest.fixture
def public_root() -> Iterator[Path]:
    """A root that another user can reach: tests of permissions must not run as the one who may do everything."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        root = Path(name) / "root"
        root.mkdir()
        yield root


AS_NOBODY = "\nif os.geteuid() == 0: os.setgid(65534); os.setuid(65534)"


@pytest.mark.parametrize("mode", [0o555, 0o500])
def test_a_read_only_root_is_named_and_left_alone(public_root: Path, mode: int) -> None:
    file = StateFile(public_root)
    file.create(State({"adam": worker(current_prompt="p" * 2000)}))
    before = file.path.read_bytes()
    readable = f"os.chmod(file.path, 0o644); os.chmod(file.root / 'state.lock', 0o666); os.chmod(file.root, {mode})"
    kind, what, hint = run_limited(GROW, public_root, 10, readable + AS_NOBODY).split("|")
    public_root.chmod(0o755)
    assert (kind, what.rpartition(": ")[2]) == ("DiskError", "permission denied")
    assert "permissions" in hint
    assert_nothing_changed(file, before)


def test_a_state_of_somebody_else_is_named(public_root: Path) -> None:
    StateFile(public_root).create(State({"adam": worker()}))
    secret = (
        "os.chmod(file.path, 0); os.chmod(file.root, 0o755)" + AS_NOBODY + "\nfile.transact = lambda _: file.load()"
    )
    kind, what, _ = run_limited(GROW, public_root, 10, secret).split("|")
    assert (kind, what) == ("DiskError", f"{public_root / 'state.json'}: permission denied")


# Several processes


def test_whoever_cannot_get_the_lock_hears_who_has_it(file: StateFile) -> None:
    hold = """
import sys
from llmc.host.locks import FileLock
sys.argv = ["llmc", "accept"]
with FileLock(sys.stdin.readline().strip()):
    print("ready", flush=True)
    sys.stdin.readline()
"""
    argv = [sys.executable, "-c", hold]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdin is not None
        assert holder.stdout is not None
        print(file.root / "state.lock", file=holder.stdin, flush=True)
        assert holder.stdout.readline() == "ready\n"
        assert file.load().workers  # reading does not wait
        with pytest.raises(
            LockTimeoutError, match=rf"the state is locked by pid {holder.pid} \(llmc accept\) for \d+ s"
        ):
            file.transact(counted)
        holder.kill()
    assert file.transact(counted).workers["adam"].step_count == 1


@pytest.mark.lesson(37, "state changes under one kernel lock, briefly, and never twice at once")
def test_eight_writers_lose_nothing_and_a_reader_never_sees_a_broken_state(tmp_path: Path) -> None:
    names = [f"w{number}" for number in range(8)]
    file = StateFile(tmp_path)
    file.create(State({name: worker(name) for name in names}))
    reader = start(READ_ALL_THE_TIME, tmp_path, 1600)
    writers = [start(COUNT_UP, tmp_path, name, 200) for name in names]
    for writer in writers:
        assert writer.stdin is not None
        print(file=writer.stdin, flush=True)
    for writer in writers:
        writer.communicate()
        assert writer.returncode == 0
    reads, _ = reader.communicate()
    assert reader.returncode == 0
    assert int(reads) > 1
    assert {name: one.step_count for name, one in file.load().workers.items()} == dict.fromkeys(names, 200)
    assert {path.name for path in tmp_path.iterdir()} == FILES


def test_a_writer_killed_at_any_moment_leaves_a_state(file: StateFile) -> None:
    chance = random.Random(7)
    last = 0
    for _ in range(30):
        writer = start(COUNT_UP, file.root, "adam", 1_000_000)
        assert writer.stdin is not None
        print(file=writer.stdin, flush=True)
        wait_for_step(file, last + chance.randint(1, 5))
        writer.send_signal(signal.SIGKILL)
        writer.communicate()
        last = file.load().workers["adam"].step_count
        assert file.load_backup().workers["adam"].step_count in (last - 1, last)
        assert {path.name for path in file.root.iterdir()} <= FILES | {".state.json.new", ".state.json.bak.new"}
    assert file.transact(counted).workers["adam"].step_count == last + 1
    assert {path.name for path in file.root.iterdir()} == FILES


def wait_for_step(file: StateFile, step: int) -> None:
    deadline = time.monotonic() + 60
    while file.load().workers["adam"].step_count < step:
        assert time.monotonic() < deadline


@pytest.mark.parametrize("at", ["replace", "hardlink_to", "unlink"])
def test_what_a_dead_process_left_behind_is_cleared_away(file: StateFile, at: str) -> None:
    """Ends a writer exactly before or after each step that gives or takes a name."""
    die = f"""
import os, pathlib, signal
original, calls = pathlib.Path.{at}, [int(sys.argv[4])]
def die(*args, **options):
    calls[0] -= 1
    if calls[0] == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return original(*args, **options)
pathlib.Path.{at} = die
"""
    codes = []
    for call in range(1, 5):
        argv = [sys.executable, "-c", GROW, str(file.root), str(call), die, str(call)]
        codes.append(subprocess.run(argv, check=False).returncode)
        file.load()
        file.transact(counted)
        file.load_backup()
        assert {path.name for path in file.root.iterdir()} == FILES
    assert codes[0] == -signal.SIGKILL
    assert set(codes) <= {0, -signal.SIGKILL}
    assert file.load().workers["adam"].step_count == 4


# --- the clock ------------------------------------------------------------------------------------

DAY = 86_400.0


@pytest.mark.parametrize("moved", [-900 * DAY, -2 * DAY, 2 * DAY, 900 * DAY])
def test_a_clock_that_was_moved_takes_the_times_along(tmp_path: Path, moved: float) -> None:
    clock = Clock(1_800_000_000.0, 100.0, "this start")
    file = StateFile(tmp_path, clock=lambda: clock)
    now = clock.unix
    file.create(State({"adam": worker(last_activity_unix=now - 60, timers={"restart": now + 5})}))
    clock = Clock(now + 10 + moved, 110.0, "this start")
    for reader in (file, StateFile(tmp_path, clock=lambda: clock)):
        adam = reader.load().workers["adam"]
        assert clock.unix - adam.last_activity_unix == pytest.approx(70)
        assert adam.timers["restart"] - clock.unix == pytest.approx(-5)
    assert file.as_written().workers["adam"].last_activity_unix == now - 60
    file.transact(lambda state: replace(state, last_reviewed_worker="adam"))
    assert clock.unix - file.as_written().workers["adam"].last_activity_unix == pytest.approx(70)
    assert file.load().clock == replace(clock, ahead_secs=max(0.0, moved))


def test_reading_a_state_writes_nothing(tmp_path: Path) -> None:
    file = StateFile(tmp_path, clock=lambda: Clock(2_000.0, 100.0, "a"))
    file.create(State({"adam": worker(last_activity_unix=9_000_000.0)}))
    before = file.path.read_bytes()
    assert file.load().workers["adam"].last_activity_unix == 2_000.0
    assert file.transact(lambda state: state) == file.load()
    assert file.path.read_bytes() == before
    file.repair(lambda state: state)
    assert file.as_written().workers["adam"].last_activity_unix == 2_000.0
