"""A change where no agent has any business is told; landings, and what a person may have done, are not."""

from __future__ import annotations

from pathlib import Path

from llmc.model import Work
from llmc.store.event_log import LoggedEvent
from testing.story import Story


def _told(story: Story, place: str) -> list[LoggedEvent]:
    return [event for event in story.events() if event.data.get("tripwire") == place]


def _change_until_told(story: Story, path: Path, place: str) -> LoggedEvent:
    """While adam is in a turn, nobody else is, and nobody sits there."""

    def told() -> bool:
        story.task("adam", "sleep 0.3", "write adam.txt again", "commit Again")
        with path.open("a") as file:
            file.write("changed\n")
        story.wait("adam", Work.NEEDS_REVIEW)
        story.llmc("reset", "adam", "--yes")
        return bool(_told(story, place))

    story.until(told)
    return _told(story, place)[0]


def test_only_a_change_that_nobody_else_made_is_told(story: Story) -> None:
    story.begin("adam", "baker").up()
    for name in ("adam", "baker"):
        story.work(name, f"write {name}.txt x", f"commit {name}")
        story.llmc("accept", name)
    assert not _told(story, "checkout")
    assert not _told(story, "baker")

    told = _change_until_told(story, story.repository / "README", "checkout")
    assert told.worker == "adam"
    assert told.detail.startswith("adam: README changed in your checkout (")
    assert "while adam worked" in told.detail
    assert not _told(story, "baker")

    told = _change_until_told(story, Path(story.root.worktree("baker"), "new.txt"), "baker")
    assert (told.worker, told.data["changed"]) == ("adam", ["new.txt"])
    assert "the worktree of baker" in told.detail
