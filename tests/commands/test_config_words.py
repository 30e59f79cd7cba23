"""What `llmc config` says of models, which belong to an agent."""

from __future__ import annotations

from pathlib import Path

import pytest

from testing.story import Story


@pytest.fixture
def story(tmp_path: Path) -> Story:
    return Story(tmp_path).begin()


def test_the_model_that_holds_is_told_and_an_agent_change_leaves_no_model_behind_unsaid(story: Story) -> None:
    def get(key: str) -> str:
        return story.llmc("config", "get", key).out.strip()

    assert (get("defaults.agent"), get("defaults.model"), get("workers.adam.model")) == ("claude", "opus", "opus")
    said = story.llmc("config", "set", "defaults.agent", "codex").out
    assert "defaults.model is still 'opus'" in said
    story.llmc("config", "set", "defaults.model", "")
    assert get("workers.adam.model") == "not set: the agent chooses"
    assert story.json("config", "get", "workers.adam.model")["value"] is None
    assert "note" not in story.llmc("config", "set", "defaults.agent", "claude").out
