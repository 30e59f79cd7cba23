"""Terminals that somebody looks at, on the real tmux."""

from __future__ import annotations

from llmc.core.screen.frames import difference
from llmc.observe.live_screens import look_at_panes, rows_above
from testing.story import Story, script
from testing.waiting import wait_until


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


def test_what_has_scrolled_out_is_found_above(story: Story) -> None:
    story.begin("adam").up()
    site = story.site
    pane = site.pane_of(story.worker("adam").session_id)
    assert pane is not None
    before = look_at_panes(site.tmux, [pane.id])[pane.id]
    story.llmc("message", "adam", "\n".join([script("write a.txt x"), *(f"line {n}" for n in range(80))]))

    def frame():
        return look_at_panes(site.tmux, [pane.id])[pane.id]

    wait_until(lambda: frame().scrolled > 0 or frame().rows != before.rows)
    after = frame()
    gone = rows_above(site.tmux, pane.id, after.scrolled - before.scrolled)
    assert len(gone) == after.scrolled - before.scrolled
    assert difference(before, after, gone)
