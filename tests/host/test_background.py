from __future__ import annotations

import threading

from llmc.host.background import Errands
from testing.waiting import wait_until


def test_what_goes_wrong_on_the_side_is_heard_and_holds_nothing_up():
    heard: list[str] = []

    def fail() -> None:
        raise ValueError("no")

    assert Errands(heard.append).run("the bell", fail)
    assert wait_until(lambda: heard) == ["the bell: no"]


def test_too_much_at_once_is_dropped():
    go = threading.Event()
    errands = Errands(most=2)
    assert [errands.run("x", go.wait) for _ in range(4)] == [True, True, False, False]
    errands.finish(0.0)
    go.set()
    errands.finish(10.0)
    assert wait_until(lambda: errands.run("x", lambda: None))
