"""`llmc ui` where there is no terminal."""

from __future__ import annotations

from testing.story import Story


def test_it_needs_a_terminal(story: Story) -> None:
    story.begin()
    said = story.try_llmc("ui")
    assert said.code == 1
    assert said.err.startswith("error: `llmc ui` needs a terminal")
    assert "hint: `llmc status`" in said.err
