"""The packs on recorded screens of the real CLIs: see testing/record_screens.py for how these were made."""

from __future__ import annotations

from pathlib import Path

import pytest

from llmc.agents.packs import load_pack, pack_names
from llmc.agents.packs.examples import wrong_examples
from llmc.config.sections import CLI_AGENTS
from llmc.core.screen.classify import read_screen
from llmc.core.screen.screen import Screen
from testing.recordings import Recording, recordings

SCREENS = Path(__file__).resolve().parent.parent / "screens"
RECORDED = {recording.name: recording for recording in recordings(SCREENS)}
TAKE_BACK = ("claude", "qwen", "copilot")
"""Interrupted before the first word of the answer, they show nothing but the prompt, as a draft in the composer."""
NEVER = {"pi": frozenset({"NEEDS_CONFIRMATION"})}
"""It asks nothing."""
DIALOGS = ("permission", "question", "plan", "trust", "bypass", "login", "theme")


@pytest.mark.lesson(17, "what reads screens is versioned data beside recordings, and drift is told")
@pytest.mark.lesson(19, "limits and logins are states of their own, with the time of their end")
@pytest.mark.parametrize("recording", RECORDED.values(), ids=RECORDED)
def test_a_screen_is_read_as_what_it_is(recording: Recording) -> None:
    reading = recording.read()
    assert recording.is_right(reading), (reading.state, reading.cue)
    if recording.facts["detail"] in (*DIALOGS, "asked") and reading.state == recording.label:
        assert reading.detail == recording.facts["detail"]


INTERRUPTED = {name: each for name, each in RECORDED.items() if each.facts["detail"] == "interrupted"}
READY_OTHERWISE = {name: each for name, each in RECORDED.items() if each.label == "READY" and name not in INTERRUPTED}


@pytest.mark.parametrize("recording", INTERRUPTED.values(), ids=INTERRUPTED)
def test_an_interruption_is_told_from_the_end_of_a_turn(recording: Recording) -> None:
    reading = recording.read()
    taken_back = recording.cli in TAKE_BACK and bool(reading.composer)
    assert (reading.state, reading.detail) == ("READY", "draft" if taken_back else "interrupted"), reading.cue


@pytest.mark.parametrize("recording", READY_OTHERWISE.values(), ids=READY_OTHERWISE)
def test_the_end_of_a_turn_is_no_interruption(recording: Recording) -> None:
    assert recording.read().detail != "interrupted"


@pytest.mark.lesson(18, "dialogs come before prompts, and only the live part of the screen counts")
@pytest.mark.parametrize("recording", RECORDED.values(), ids=RECORDED)
def test_without_title_and_process_it_is_never_ready_by_mistake(recording: Recording) -> None:
    """Between two steps the text alone may look idle: then it is at most a guess."""
    reading = recording.read(bare=True)
    if recording.label == "NEEDS_CONFIRMATION":
        assert reading.state in ("NEEDS_CONFIRMATION", "UNKNOWN", recording.facts["alt_label"])
    if recording.label == "READY":
        assert reading.state != "NEEDS_CONFIRMATION"


@pytest.mark.lesson(17, "what reads screens is versioned data beside recordings, and drift is told")
@pytest.mark.parametrize("name", pack_names())
def test_every_example_is_decided_by_its_cue(name: str) -> None:
    assert list(wrong_examples(load_pack(name), str(SCREENS))) == []


@pytest.mark.lesson(17, "what reads screens is versioned data beside recordings, and drift is told")
@pytest.mark.parametrize("cli", CLI_AGENTS)
def test_there_are_recordings_of_every_state(cli: str) -> None:
    mine = [recording for recording in RECORDED.values() if recording.cli == cli]
    labels = {recording.label for recording in mine}
    assert labels == {"READY", "BUSY", "NEEDS_CONFIRMATION", "ERROR", "EXITED"} - NEVER.get(cli, frozenset())
    sizes = {recording.path.stem.split("-")[-2] for recording in mine}
    assert len(sizes) >= 2


@pytest.mark.parametrize("cli", CLI_AGENTS)
@pytest.mark.parametrize("text", ["", " ", "x", "❯", "›", "┃", "\x00", "�"])
def test_a_terminal_with_room_for_nothing_has_a_reading(cli: str, text: str) -> None:
    assert read_screen(load_pack(cli), Screen(text, cursor=(0, 0))).state in ("UNKNOWN", "READY", "BUSY")
