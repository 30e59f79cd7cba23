from __future__ import annotations

import hashlib
import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from llmc.store import spool
from llmc.store.spool import make_spool, peek, pending, sweep, take


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
    for number in range(spool.KEPT_BAD + 20):
        drop(directory, f"{number:03}.json", b"bad", at=number)
    assert pending(directory) == []
    notes = bad(directory)
    assert len(notes) == len(list((directory / "bad").glob("*.json"))) == spool.KEPT_BAD
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
    first = ({"event": "prompt", "text": "Fix the login 😀"}, 1.5)
    last = ({"event": "prompt", "text": "later"}, 4.0)
    assert peek(directory) == peek(str(directory)) == [first, last]
    assert peek(directory, since_unix=2.0) == [last]
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
    assert kept.stat().st_size == spool.KEPT_BYTES
    assert "larger than" in bad(directory)[0]


def test_what_was_never_finished_is_swept_away(directory: Path) -> None:
    drop(directory, ".old", {}, at=1_000)
    drop(directory, ".new", {}, at=3_000)
    drop(directory, "done.json", {}, at=1_000)
    sweep(directory, 2_000)
    sweep(directory.parent / "nobody", 2_000)
    assert sorted(path.name for path in directory.iterdir()) == [".new", "done.json"]
