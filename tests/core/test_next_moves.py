"""What is said about a worker's agent: whether it reports, as far as that is known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from llmc.core.lifecycle.next_moves import reporting
from llmc.model import Session, Turn, Worker

STARTED = Worker("w", "/w", "llmc/w", "llmc-w", "codex", 0.0, 0.0, session=Session.UP, turn=Turn.OVER)


def test_an_agent_that_reports_with_its_first_prompt_has_nothing_to_prove_before():
    assert reporting(STARTED, can_report=True, reports_start=False).startswith("not proven yet: codex")


@pytest.mark.lesson(15, "reports that are missing or not trusted are noticed, and the deciding signal is shown")
def test_an_agent_that_was_given_a_text_and_did_not_report_it():
    given = replace(STARTED, turn=Turn.UNKNOWN)
    assert "did not report it" in reporting(given, can_report=True, reports_start=False)


@pytest.mark.lesson(15, "reports that are missing or not trusted are noticed, and the deciding signal is shown")
def test_an_agent_that_should_have_reported_its_start():
    assert "did not report its start" in reporting(STARTED, can_report=True, reports_start=True)


def test_an_agent_that_was_heard_reports():
    heard = replace(STARTED, reports_events=True, turn=Turn.UNKNOWN)
    assert reporting(heard, can_report=True, reports_start=False) == "the agent reports by itself"


def test_an_agent_that_cannot_report_never_will():
    assert reporting(STARTED, can_report=False, reports_start=False).startswith("codex does not report")


def test_an_agent_that_does_not_run_reports_nothing():
    down = replace(STARTED, session=Session.DOWN)
    assert "no agent runs" in reporting(down, can_report=True, reports_start=True)
