"""What an agent seems to be doing: from its reports or its screen, shown with its age, never kept as the truth."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from llmc.agents.reports import Report
from llmc.care.attention import keep_report, telling
from llmc.model import Session, Work
from llmc.site import Site
from testing.story import Story


def note(site: Site, reports: list[tuple[Report, float]]) -> None:
    last = telling(reports)
    assert last is not None
    keep_report(site.root.attention_file("adam"), *last)


def kept(site: Site, name: str = "adam") -> dict[str, object]:
    data = json.loads(Path(site.root.attention_file(name)).read_text())
    assert isinstance(data, dict)
    return data


@pytest.mark.parametrize(
    ("report", "state", "detail"),
    [
        (Report("session_start"), "READY", None),
        (Report("prompt", "do it"), "BUSY", None),
        (Report("activity", "Edit"), "BUSY", None),
        (Report("permission", "rm x"), "NEEDS_CONFIRMATION", "permission"),
        (Report("question", "which?"), "NEEDS_CONFIRMATION", "question"),
        (Report("failure", "429", failure="rate_limit"), "ERROR", "rate_limit"),
        (Report("failure", "?", failure="something new"), "ERROR", "api"),
        (Report("turn_end"), "READY", None),
    ],
)
def test_a_report_is_certain(story: Story, report: Report, state: str, detail: str | None) -> None:
    site = story.begin().site
    note(site, [(report, 123.0)])
    about = {"summary": report.text if state in ("NEEDS_CONFIRMATION", "ERROR") else ""}
    assert kept(site) == {
        "state": state,
        "detail": detail,
        "confidence": 1.0,
        "source": "hook",
        "at_unix": 123.0,
        **about,
    }


@pytest.mark.parametrize("together", [True, False])
def test_a_failure_is_told_until_the_agent_does_something_again(story: Story, together: bool) -> None:
    site = story.begin().site
    ended = [(Report("failure", "401", failure="auth"), 2.0), (Report("turn_end"), 2.1), (Report("turn_end"), 2.2)]
    for batch in [ended] if together else [[each] for each in ended]:
        note(site, batch)
    assert (kept(site)["state"], kept(site)["at_unix"]) == ("ERROR", 2.0)
    note(site, [(Report("prompt"), 3.0)])
    note(site, [(Report("turn_end"), 4.0)])
    assert kept(site)["state"] == "READY"


def test_the_screen_of_a_reporting_agent_is_a_second_opinion(story: Story) -> None:
    story.begin("adam").up()
    story.task("adam", "hang")
    spool = Path(story.root.spool("adam"))
    story.until(lambda: kept(story.site)["state"] == "BUSY" and not list(spool.glob("*.json")))
    # As after a turn whose end was never reported: the screen goes on to say that the agent is at work.
    keep_report(story.root.attention_file("adam"), Report("turn_end"), 1.0)

    def against() -> Any:
        return story.json("status")["workers"][0]["attention"]["disagreement"]

    story.until(lambda: against() is not None)
    attention = story.json("status")["workers"][0]["attention"]
    assert (attention["state"], attention["source"]) == ("READY", "hook")
    assert (against()["state"], against()["source"]) == ("BUSY", "screen")
    assert "they disagree: READY by hook" in story.llmc("explain", "adam").out
    status = json.loads(Path(story.root.terminal("adam"), "status.json").read_text())
    assert (status["id"], status["cli_type"]) == ("adam", "demo")


def test_a_dialog_that_nobody_reported_is_told_by_status_and_cache(story: Story) -> None:
    story.begin("adam").up()
    story.task("adam", "permit make")
    story.wait("adam", Work.NEEDS_INPUT)
    # As if the last report had been that of the prompt.
    keep_report(story.root.attention_file("adam"), Report("prompt"), 1.0)
    cache = Path(story.root.terminal("adam"), "status.json")

    def told() -> list[tuple[str, str]]:
        attention, cached = story.json("status")["workers"][0]["attention"], json.loads(cache.read_text())
        return [(each["state"], each["source"]) for each in (attention, cached)]

    story.until(lambda: told() == [("NEEDS_CONFIRMATION", "screen")] * 2)
    assert json.loads(cache.read_text())["disagreement"]["state"] == "BUSY"
    assert "BUSY by hook" in (said := story.llmc("explain", "adam").out)
    assert "the screen counts" in said


@pytest.mark.lesson(23, "status tells what is there, and how old that knowledge is")
def test_status_shows_it_with_its_age_while_the_session_is_up(story: Story) -> None:
    story.begin("adam").up()
    story.task("adam", "permit make")
    story.wait("adam", Work.NEEDS_INPUT)
    (shown,) = story.json("status")["workers"]
    attention = shown["attention"]
    assert (attention["state"], attention["detail"], attention["source"]) == (
        "NEEDS_CONFIRMATION",
        "permission",
        "hook",
    )
    assert 0 <= attention["age_secs"] < 60
    assert "asks" in story.llmc("status").out

    story.llmc("down", "--force")
    (shown,) = story.json("status")["workers"]
    assert (shown["status"], shown["attention"]["state"]) == ("offline", "UNKNOWN")


def test_it_goes_with_its_worker(story: Story) -> None:
    story.begin("adam").up()
    story.wait("adam", session=Session.UP)
    note(story.site, [(Report("prompt"), 1.0)])
    story.llmc("nuke", "adam", "--yes")
    assert not Path(story.root.attention_file("adam")).exists()
