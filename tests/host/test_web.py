from __future__ import annotations

import pytest

from llmc.host.web import NoAnswerError, post_json
from testing.endpoint import Answer, endpoint


def test_an_answer_comes_back_whatever_its_status():
    with endpoint(Answer(200, b"yes"), Answer(429, b"later", (("Retry-After", "7"),)), Answer(500)) as place:
        first = post_json(place.address, {"a": 1}, headers={"Authorization": "Bearer x"}, timeout=10)
        second = post_json(place.address, {}, headers={}, timeout=10)
        third = post_json(place.address, {}, headers={}, timeout=10)
    assert (first.ok, first.body) == (True, b"yes")
    assert (second.ok, second.status, second.retry_after_secs) == (False, 429, 7.0)
    assert (third.ok, third.status) == (False, 500)
    assert (place.heard[0], place.keys[0]) == ({"a": 1}, "Bearer x")


def test_nobody_there_and_nobody_answering_are_told_without_the_address():
    with endpoint(Answer(hangs=True)) as place, pytest.raises(NoAnswerError) as silent:
        post_json(f"{place.address}/secret", {}, headers={}, timeout=0.2)
    with pytest.raises(NoAnswerError) as absent:
        post_json("http://127.0.0.1:9/secret", {}, headers={}, timeout=5)
    assert all("secret" not in error.value.what for error in (silent, absent))


@pytest.mark.parametrize("status", [200, 429])
def test_an_answer_that_breaks_off_is_none(status):
    with endpoint(Answer(status, b"later", breaks_off=True)) as place, pytest.raises(NoAnswerError):
        post_json(place.address, {}, headers={}, timeout=0.2)
