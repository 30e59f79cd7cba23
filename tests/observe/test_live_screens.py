"""Terminals that somebody looks at, on the real tmux."""

from __future__ import annotations

from llmc.observe.live_screens import look_at_panes
from testing.story import Story


def test_several_terminals_are_read_by_one_process_and_who_is_gone_is_left_out(story: Story) -> None:
    story.begin("adam", "baker").up()
    site = story.site
    panes = {name: site.pane_of(story.worker(name).session_id) for name in ("adam", "baker")}
    ids = [pane.id for pane in panes.values() if pane is not None]
    frames = look_at_panes(site.tmux, ids)
    assert set(frames) == set(ids)
    for frame in frames.values():
        assert len(frame.rows) == frame.height
        assert not frame.dead
    assert set(look_at_panes(site.tmux, [ids[0], "%999"])) == {ids[0]}
    assert look_at_panes(site.tmux, []) == {}
