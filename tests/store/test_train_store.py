"""The table of the merge train."""

from __future__ import annotations

from pathlib import Path

import pytest

from llmc.core.tasks.train import EntryState, TrainEntry
from llmc.store.snapshot import read_train
from llmc.store.tasks import TaskStore
from llmc.store.train import TrainStore


@pytest.fixture
def train(tmp_path: Path) -> TrainStore:
    return TaskStore(tmp_path / "tasks.db", tmp_path / "run" / "tasks.json").train


def entry(worker: str, *, ordered: bool = False) -> TrainEntry:
    return TrainEntry(worker, f"t-{worker}", 5.0, ordered=ordered)


def names(train: TrainStore) -> list[str]:
    return [each.worker for each in train.open()]


def test_nothing_is_there_before_anything_was_written(train: TrainStore) -> None:
    assert (train.open(), train.ended(5), train.is_paused, train.has("adam")) == ([], [], False, False)


def test_entries_come_back_as_they_went_in(train: TrainStore) -> None:
    whole = TrainEntry("adam", "t1", 5.0, "Words", True, "f" * 40, True, True)
    (kept,) = train.join([whole])
    assert (kept.worker, kept.message, kept.changed, kept.tree, kept.auto, kept.ordered) == (
        *("adam", "Words", True, "f" * 40, True, True),
    )
    assert train.change(kept, EntryState.LANDED, "as abc", {"text": "adam: accepted"})
    (over,) = train.entries([kept.id])
    assert (over.state, over.detail, over.result) == (EntryState.LANDED, "as abc", {"text": "adam: accepted"})
    assert train.ended(5) == [over]
    assert train.of_task("adam", "t1") == [over]


def test_a_worker_is_in_the_train_once(train: TrainStore, tmp_path: Path) -> None:
    first = train.join([entry("adam")])
    assert train.join([entry("adam"), entry("baker")])[0] == first[0]
    assert names(train) == ["adam", "baker"]
    assert [each["worker"] for each in read_train(str(tmp_path / "run/train.json"))["entries"]] == ["adam", "baker"]


def test_the_order_follows_the_forecast_unless_it_was_given(train: TrainStore) -> None:
    train.join([entry("adam"), entry("baker")], {frozenset(("adam", "baker"))})
    train.join([entry("carol")], {frozenset(("adam", "baker"))})
    assert names(train) == ["carol", "adam", "baker"]
    train.join([entry("dora", ordered=True), entry("eve", ordered=True)], {frozenset(("dora", "carol"))})
    assert names(train) == ["adam", "baker", "carol", "dora", "eve"]


def test_what_is_over_is_changed_no_more(train: TrainStore) -> None:
    (kept,) = train.join([entry("adam")])
    assert train.take_out("adam", "dropped")
    assert not train.take_out("adam", "dropped")
    assert not train.change(kept, EntryState.LANDING)
    assert train.ended(1)[0].detail == "dropped"


def test_what_is_landing_is_not_taken_out(train: TrainStore) -> None:
    (kept,) = train.join([entry("adam")])
    train.change(kept, EntryState.LANDING)
    assert not train.take_out("adam", "dropped")
    assert train.has("adam")


def test_a_pause_is_kept(train: TrainStore, tmp_path: Path) -> None:
    train.pause(paused=True)
    train.pause(paused=True)
    again = TaskStore(tmp_path / "tasks.db", tmp_path / "run" / "tasks.json").train
    assert again.is_paused
    assert read_train(str(tmp_path / "run/train.json")) == {"paused": True, "entries": []}
    again.pause(paused=False)
    assert not train.is_paused
