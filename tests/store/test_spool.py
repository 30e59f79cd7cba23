from __future__ import annotations

import hashlib
import json
import os
import resource
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from llmc.store import bad_reports, spool
from llmc.store.spool import has_events, make_spool, marks, peek, pending, sweep, take

DAY = 86_400.0


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    make_spool(tmp_path / "run" / "spool" / "adam")
    return tmp_path / "run" / "spool" / "adam"


def drop(directory: Path, name: str, content: object, at: float = 1.0) -> Path:
    path = directory / name
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    os.utime(path, ns=(int(at * 1e9), int(at * 1e9)))
    return path


def bad(directory: Path) -> list[str]:
    return sorted(path.read_text() for path in (directory / "bad").glob("*.note"))


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def test_events_come_in_the_order_of_their_time_then_their_name(directory: Path) -> None:
    drop(directory, "a.json", {"event": "third"}, at=3)
    drop(directory, "c.json", {"event": "second"}, at=2)
    drop(directory, "b.json", {"event": "first"}, at=2)
    found = pending(directory)
    assert [(event.name, event.at_unix, event.data["event"]) for event in found] == [
        ("b.json", 2.0, "first"),
        ("c.json", 2.0, "second"),
        ("a.json", 3.0, "third"),
    ]


def test_an_event_stays_until_it_is_taken(directory: Path) -> None:
    drop(directory, "a.json", {"event": "turn_end"})
    first = pending(str(directory))
    assert first == pending(str(directory))
    take(first[0])
    take(first[0])  # after a crash it may be taken twice
    assert pending(directory) == []
    assert list(directory.iterdir()) == []


def test_unfinished_files_are_not_touched(directory: Path) -> None:
    names = [".a.json", "a.json.tmp", "a.tmp", "a", "tmp.x1"]
    for name in names:
        drop(directory, name, b"{")
    assert pending(directory) == []
    assert sorted(path.name for path in directory.iterdir()) == sorted(names)


def test_no_spool_holds_no_events(tmp_path: Path) -> None:
    assert pending(tmp_path / "missing") == []
    assert peek(tmp_path / "missing") == []


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "not JSON"),
        (b'{"event": ', "not JSON"),
        (b"\xff\xff", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"9" * 10_000, "not JSON"),
        (b"[1]", "not a JSON object"),
        (b'"' + b"x" * (4 << 20) + b'"', "larger than 4194304 bytes"),
    ],
)
def test_what_is_no_event_goes_aside_and_blocks_nothing(directory: Path, content: bytes, why: str) -> None:
    drop(directory, "a.json", content, at=1)
    drop(directory, "b.json", {"event": "turn_end"}, at=2)
    assert [event.name for event in pending(directory)] == ["b.json"]
    (note,) = bad(directory)
    assert note.startswith(f"a.json: {why}")
    assert [path.read_bytes() for path in (directory / "bad").glob("*.json")] == [content]


@pytest.mark.parametrize("kind", ["directory", "pipe", "link", "dangling link"])
def test_only_a_real_file_is_an_event(directory: Path, kind: str) -> None:
    outside = drop(directory.parent, "outside", {"event": "turn_end"})
    match kind:
        case "directory":
            (directory / "a.json").mkdir()
        case "pipe":
            os.mkfifo(directory / "a.json")
        case "link":
            (directory / "a.json").symlink_to(outside)
        case _:
            (directory / "a.json").symlink_to("nowhere")
    drop(directory, "b.json", {"event": "turn_end"})
    assert [event.name for event in pending(directory)] == ["b.json"]
    assert len(bad(directory)) == 1
    assert outside.exists()


def test_a_batch_of_nothing_but_bad_files_does_not_look_like_the_end(directory: Path) -> None:
    for number in range(10):
        drop(directory, f"{number}.json", b"bad", at=1)
    drop(directory, "good.json", {"event": "turn_end"}, at=2)
    assert [event.name for event in pending(directory, limit=3)] == ["good.json"]


def test_bad_files_do_not_pile_up(directory: Path) -> None:
    for number in range(bad_reports.KEPT_BAD + 20):
        drop(directory, f"{number:03}.json", b"bad", at=number)
    assert pending(directory) == []
    notes = bad(directory)
    assert len(notes) == len(list((directory / "bad").glob("*.json"))) == bad_reports.KEPT_BAD
    assert notes[0].startswith("020.json: ")


def test_a_flood_is_taken_in_batches(directory: Path) -> None:
    for number in range(10_000):
        (directory / f"{number:05}.json").write_text(f'{{"number": {number}}}')
    seen = []
    while events := pending(directory, limit=1000):
        assert len(events) <= 1000
        seen += [event.data["number"] for event in events]
        for event in events:
            take(event)
    assert seen == list(range(10_000))


def test_large_events_come_in_small_batches(directory: Path) -> None:
    for number in range(12):
        drop(directory, f"{number:02}.json", {"text": "x" * (3 << 20)}, at=number)
    limit = f"resource.setrlimit(resource.RLIMIT_AS, ({200 << 20}, {resource.RLIM_INFINITY}))"
    script = f"""
import resource, sys
from llmc.store.spool import pending, take
{limit}
while events := pending(sys.argv[1]):
    print(len(events))
    for event in events:
        take(event)
    del events, event
"""
    said = subprocess.check_output([sys.executable, "-c", script, directory], text=True)
    assert [int(size) for size in said.split()] == [6, 6]


def test_what_waits_is_seen_without_being_taken(directory: Path) -> None:
    drop(directory, "4.json", {"event": "prompt", "text": "later"}, at=4)
    drop(directory, "1.json", {"event": "prompt", "text": "Fix the login 😀"}, at=1.5)
    drop(directory, "0.json", b"{", at=0)
    (directory / "5.json").symlink_to("nowhere")
    first, last = found = peek(directory)
    assert found == peek(str(directory))
    assert (first.data["text"], first.at_unix, last.data["text"], last.at_unix) == (
        "Fix the login 😀",
        1.5,
        "later",
        4.0,
    )
    assert peek(directory, since_unix=2.0) == peek(directory, besides=frozenset((first.mark,))) == [last]
    assert {first.mark, last.mark} < marks(directory)
    assert len(list(directory.iterdir())) == 4


def test_two_consumers_and_a_writer_lose_nothing(directory: Path) -> None:
    write = """
import json, os, sys
for number in range(400):
    path = os.path.join(sys.argv[1], f".{number}.tmp")
    with open(path, "w") as file:
        json.dump({"number": number}, file)
    os.rename(path, os.path.join(sys.argv[1], f"{number:05}.json"))
"""
    read = """
import sys
from llmc.store.spool import pending, take
number = None
while number != 399:
    for event in pending(sys.argv[1], limit=7):
        number = event.data["number"]
        print(number)
        if sys.argv[2] == "take":
            take(event)
    if sys.argv[2] != "take" and not pending(sys.argv[1]) and number is not None:
        break
"""
    taker = subprocess.Popen([sys.executable, "-c", read, directory, "take"], stdout=subprocess.PIPE, text=True)
    peeker = subprocess.Popen([sys.executable, "-c", read, directory, "look"], stdout=subprocess.DEVNULL)
    subprocess.run([sys.executable, "-c", write, directory], check=True)
    taken, _ = taker.communicate()
    peeker.kill()
    peeker.wait()
    assert sorted(map(int, taken.split())) == list(range(400))
    assert not (directory / "bad").exists()


def test_a_huge_report_takes_no_room_once_it_is_set_aside(directory: Path) -> None:
    with (directory / "1.json").open("wb") as file:
        file.truncate(1 << 30)  # nothing is written: the file has a hole
    assert pending(directory) == []
    (kept,) = (directory / "bad").glob("*.json")
    assert kept.stat().st_size == bad_reports.KEPT_BYTES
    assert "larger than" in bad(directory)[0]


def test_what_was_never_finished_is_swept_away(directory: Path) -> None:
    drop(directory, ".old", {}, at=1_000)
    drop(directory, ".new", {}, at=time.time())
    drop(directory, ".later", {}, at=time.time() + 10 * DAY)  # by a clock that was set back since
    drop(directory, "done.json", {}, at=1_000)
    sweep(directory, 2_000)
    sweep(directory.parent / "nobody", 2_000)
    assert sorted(path.name for path in directory.iterdir()) == [".new", "done.json"]


def test_what_nobody_writes_there_is_set_aside_in_time(directory: Path) -> None:
    drop(directory, "notes.txt", b"mine", at=1)
    drop(directory, "fresh.txt", b"mine", at=time.time())
    (directory / ".hidden").mkdir()
    os.utime(directory / ".hidden", (1, 1))
    (directory / ".link").symlink_to(directory.parent)
    os.utime(directory / ".link", (1, 1), follow_symlinks=False)
    sweep(directory, 60)
    assert sorted(path.name for path in directory.iterdir()) == ["bad", "fresh.txt"]
    assert bad(directory) == [".hidden: not a report\n", ".link: not a report\n", "notes.txt: not a report\n"]


# --- what turns up in a spool by accident or on purpose ---------------------------------------------


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """Files of somebody else, more of them than are kept in `bad/`."""
    place = tmp_path / "foreign"
    place.mkdir()
    for number in range(bad_reports.KEPT_BAD + 30):
        (place / f"{number:03}.json").write_text("precious")
        (place / f"{number:03}.note").write_text("precious")
    return place


def untouched(foreign: Path) -> bool:
    files = list(foreign.iterdir())
    return len(files) == 2 * (bad_reports.KEPT_BAD + 30) and {path.read_text() for path in files} == {"precious"}


def test_a_link_in_place_of_bad_is_not_followed(directory: Path, foreign: Path) -> None:
    (directory / "bad").symlink_to(foreign)
    for number in range(5):
        drop(directory, f"{number}.json", b"no JSON", at=number)
    drop(directory, "good.json", {"event": "turn_end"}, at=9)
    assert [event.name for event in pending(directory)] == ["good.json"]
    assert untouched(foreign)
    assert (directory / "bad").is_dir()
    assert not (directory / "bad").is_symlink()
    assert "bad was not a directory" in "".join(bad(directory))
    assert len(bad(directory)) == 6


@pytest.mark.parametrize("kind", ["file", "pipe", "dangling link"])
def test_something_else_in_place_of_bad_holds_up_nothing(directory: Path, kind: str) -> None:
    place = directory / "bad"
    {"file": place.touch, "pipe": lambda: os.mkfifo(place), "dangling link": lambda: place.symlink_to("nowhere")}[
        kind
    ]()
    drop(directory, "a.json", b"no JSON", at=1)
    drop(directory, "b.json", {"event": "turn_end"}, at=2)
    assert [event.name for event in pending(directory)] == ["b.json"]
    assert len(bad(directory)) == 2


@pytest.mark.parametrize("kind", ["link", "file", "pipe", "dangling link"])
def test_something_else_in_place_of_the_spool_is_set_aside_into_a_new_one(
    directory: Path, foreign: Path, kind: str
) -> None:
    directory.rmdir()
    match kind:
        case "link":
            directory.symlink_to(foreign)
        case "file":
            directory.write_text("mine")
        case "pipe":
            os.mkfifo(directory)
        case _:
            directory.symlink_to("nowhere")
    assert peek(directory) == []
    assert marks(directory) == frozenset()
    assert not has_events(directory)
    assert pending(directory) == []
    assert untouched(foreign)
    assert bad(directory) == ["adam: not a directory\n"]
    drop(directory, "a.json", {"event": "turn_end"})
    assert [event.name for event in pending(directory)] == ["a.json"]


def test_a_directory_that_was_set_aside_keeps_what_is_in_it(directory: Path) -> None:
    (directory / "0.json" / "deep" / "deeper").mkdir(parents=True)
    (directory / "0.json" / "deep" / "deeper" / "mine.txt").write_text("precious")
    for number in range(1, bad_reports.KEPT_BAD + 9):
        drop(directory, f"{number}.json", b"no JSON", at=time.time())
    assert pending(directory) == []
    assert [path.read_text() for path in (directory / "bad").glob("*/deep/deeper/mine.txt")] == ["precious"]


def test_a_large_file_that_has_another_name_elsewhere_is_not_cut(directory: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine.bin"
    with mine.open("wb") as file:
        file.truncate(64 << 20)
    (directory / "a.json").hardlink_to(mine)
    assert pending(directory) == []
    assert mine.stat().st_size == 64 << 20
    assert len(bad(directory)) == 1


def test_a_socket_and_a_device_are_no_reports(directory: Path) -> None:
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(directory / "a.json"))
        if os.geteuid() == 0:
            os.mknod(directory / "b.json", stat.S_IFCHR | 0o600, os.makedev(1, 5))  # /dev/zero: it has no end
        drop(directory, "c.json", {"event": "turn_end"}, at=time.time())
        assert [event.name for event in pending(directory)] == ["c.json"]
    assert not (directory / "a.json").exists()


@pytest.mark.parametrize(
    "name", [b"a\nb.json", b"\xff\xfe.json", "\u202e.json".encode(), b"-rf.json", b"x" * 250 + b".json"]
)
def test_any_name_will_do(directory: Path, name: bytes) -> None:
    path = os.path.join(os.fsencode(directory), name)
    with open(path, "wb") as file:
        file.write(b'{"event": "turn_end"}')
    (event,) = pending(directory)
    assert (event.data, peek(directory)) == ({"event": "turn_end"}, [event])
    take(event)
    assert pending(directory) == []
    with open(path, "wb") as file:
        file.write(b"no JSON")
    assert pending(directory) == []
    (note,) = bad(directory)
    assert note.count("\n") == 1


def test_what_cannot_be_moved_stays_and_holds_up_nothing(directory: Path) -> None:
    """Nothing else than a mount keeps root from moving a file."""
    drop(directory, "a.json", b"no JSON", at=1)
    drop(directory, "b.json", {"event": "turn_end"}, at=2)
    script = f"""
import os, sys
sys.path.insert(0, {str(Path(spool.__file__).parents[2])!r})
from llmc.store.spool import pending
print([event.name for event in pending(sys.argv[1])], os.path.exists(sys.argv[1] + "/a.json"))
"""
    mounts = 'mount --bind "$1/a.json" "$1/a.json" && exec "$2" -c "$3" "$1"'
    command = ["unshare", "--mount", "sh", "-c", mounts, "sh", str(directory), sys.executable, script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if done.returncode and "unshare" in done.stderr:
        pytest.skip("nothing may be mounted here")
    assert done.stdout == "['b.json'] True\n", done.stderr


def test_a_flood_of_nonsense_is_set_aside_bit_by_bit(directory: Path) -> None:
    for number in range(spool.MOST_SET_ASIDE + 500):
        (directory / f"{number:05}.json").touch()
    pending(directory)
    left = len(list(directory.glob("*.json")))
    assert 0 < left <= 500
    pending(directory)
    assert list(directory.glob("*.json")) == []
    assert len(bad(directory)) == bad_reports.KEPT_BAD


def test_of_a_flood_only_the_newest_are_looked_at_in_passing(directory: Path) -> None:
    for number in range(spool.MOST_PEEKED + 100):
        drop(directory, f"{number:05}.json", {"number": number}, at=number)
    assert [event.data["number"] for event in peek(directory)] == list(range(100, spool.MOST_PEEKED + 100))


# --- clocks -----------------------------------------------------------------------------------------


def test_a_report_from_the_future_happened_when_it_was_seen(directory: Path) -> None:
    drop(directory, "a.json", {"event": "turn_end"}, at=time.time() + 2 * DAY)
    (event,) = pending(directory)
    assert event.at_unix <= time.time()
    assert peek(directory)[0].at_unix <= time.time()


def test_what_bears_a_time_to_come_was_written_before_the_clock_was_set_back(directory: Path) -> None:
    now = time.time()
    drop(directory, "3.json", {"number": 3}, at=now - 1)
    drop(directory, "2.json", {"number": 2}, at=now + DAY + 1)
    drop(directory, "1.json", {"number": 1}, at=now + DAY)
    assert [event.data["number"] for event in pending(directory)] == [1, 2, 3]
