"""Those who ask for the same path are never in there together, and nobody waits for ever."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

from llmc.host.local import LocalHost

alone = LocalHost().alone


def test_one_at_a_time(tmp_path):
    path, inside, most = str(tmp_path / "turns"), [], []

    def take_turns(name):
        for _ in range(20):
            with alone(path, 60):
                inside.append(name)
                most.append(len(inside))
                time.sleep(0.001)
                inside.remove(name)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(take_turns, "abcd"))
    assert (len(most), max(most)) == (80, 1)


def entered(path, within):
    with alone(path, within):
        return True


def test_somebody_who_stays_in_there_stops_nobody_for_ever(tmp_path):
    path = str(tmp_path / "turns")
    with alone(path, 60):
        assert entered(path, 0.05)


def test_where_no_file_can_be_there_are_no_turns(tmp_path):
    assert entered(str(tmp_path / "no" / "such" / "place"), 60)
