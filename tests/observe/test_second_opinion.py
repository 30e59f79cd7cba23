"""A model that is asked on the side: well, badly, late or not at all."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from llmc.config.sections import Classifier
from llmc.core.screen.assessment import Assessment
from llmc.host.background import Errands
from llmc.observe import second_opinion
from llmc.observe.second_opinion import Asked, SecondOpinion, find_key
from llmc.root import Root
from testing.endpoint import Answer, Endpoint, endpoint
from testing.waiting import wait_until

UNSURE: Assessment = {"state": "UNKNOWN"}
GOOD = Answer(
    body=json.dumps(
        {"choices": [{"message": {"content": '{"state": "READY", "summary": "s", "actions_needed": []}'}}]}
    ).encode()
)


class Desk:
    def __init__(self, root: Path, place: Endpoint, **settings: object) -> None:
        self.complaints: list[str] = []
        chosen = Classifier(model="some/model", base_url=place.address, **settings)  # type: ignore[arg-type]
        self.adviser = SecondOpinion(lambda: chosen, Root(str(root)), self.complaints.append, lambda: None)

    def ask(self, digest: str = "d", screen: Assessment = UNSURE) -> Assessment | None:
        return self.adviser.on(Asked("shop", digest, "a screen", "bash", ""), screen)


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENROUTER_API_KEY", "k")
    monkeypatch.setattr(second_opinion, "FIRST_PAUSE_SECS", 0.01)


def test_an_opinion_is_there_for_the_next_look_and_asked_for_once(tmp_path):
    with endpoint(GOOD) as place:
        desk = Desk(tmp_path, place)
        assert desk.ask() is None
        wait_until(lambda: desk.adviser.answered)
        for _ in range(3):
            opinion = desk.ask()
            assert opinion is not None
            assert opinion["state"] == "READY"
    assert (len(place.heard), place.keys) == (1, ["Bearer k"])
    assert list(desk.adviser.answered) == ["shop"]


def test_an_opinion_that_is_there_at_once_is_kept(tmp_path, monkeypatch):
    def at_once(self: Errands, what: str, action: Callable[[], None]) -> bool:
        action()
        return True

    monkeypatch.setattr(Errands, "run", at_once)
    with endpoint(GOOD) as place:
        desk = Desk(tmp_path, place)
        desk.ask()
        opinion = desk.ask()
    assert opinion is not None
    assert opinion["state"] == "READY"


def test_nothing_is_asked_where_the_pack_is_sure_or_no_key_or_no_model_is_there(tmp_path, monkeypatch):
    with endpoint(GOOD) as place:
        Desk(tmp_path, place).ask(screen={"state": "READY", "confidence": 0.9})
        monkeypatch.delenv("OPENROUTER_API_KEY")
        Desk(tmp_path, place).ask()
        monkeypatch.setenv("OPENROUTER_API_KEY", "k")
        off = SecondOpinion(lambda: Classifier(base_url=place.address), Root(str(tmp_path)), print, lambda: None)
        assert off.on(Asked("shop", "d", "", "", ""), UNSURE) is None
        desk = Desk(tmp_path, place)
        desk.ask("another")
        wait_until(lambda: desk.adviser.answered)
    assert len(place.heard) == 1


def test_a_busy_endpoint_is_tried_again(tmp_path):
    with endpoint(Answer(429, headers=(("Retry-After", "0"),)), Answer(503), GOOD) as place:
        desk = Desk(tmp_path, place)
        desk.ask()
        wait_until(lambda: desk.adviser.answered)
    assert len(place.heard) == 3
    assert desk.complaints == []


@pytest.mark.parametrize(
    ("answer", "within", "requests", "complaint"),
    [
        (Answer(429), 60.0, 3, "it answered 429"),
        (Answer(401), 60.0, 1, "it answered 401"),
        (Answer(body=b"<html>"), 60.0, 1, "not the form"),
        (Answer(hangs=True), 0.2, 3, "no answer"),
    ],
)
def test_what_cannot_be_had_is_complained_of_and_not_asked_for_again(tmp_path, answer, within, requests, complaint):
    with endpoint(answer) as place:
        desk = Desk(tmp_path, place, timeout_secs=within)
        desk.ask()
        wait_until(lambda: desk.complaints)
        assert desk.ask() is None
        wait_until(lambda: len(place.heard) >= requests)  # it may be heard only after nobody waits any more
    assert complaint in desk.complaints[0]
    assert len(place.heard) == requests


def test_the_budget_of_an_hour_holds(tmp_path):
    with endpoint(GOOD) as place:
        desk = Desk(tmp_path, place, max_per_hour=2)
        for digest in ("a", "b", "c"):
            wait_until(lambda digest=digest: desk.ask(digest) or digest in desk.adviser._known)
            wait_until(lambda digest=digest: desk.ask(digest) or desk.complaints)
    assert len(place.heard) == 2
    assert "used up" in desk.complaints[0]


@pytest.mark.parametrize("line", ["KEY=abc", "export KEY='abc'", ' KEY = "abc" '])
def test_the_key_may_stand_in_a_file(tmp_path, line):
    (tmp_path / ".env").write_text(f"# keys\nOTHER=x\n{line}\n")
    assert find_key("KEY", Root(str(tmp_path))) == "abc"
    assert find_key("NONE", Root(str(tmp_path))) == ""
