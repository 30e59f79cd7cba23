"""The board in the terminal: who is where, what the keys do, and what it says when something is not there."""

from __future__ import annotations

from dataclasses import replace

import pytest
from textual.app import App
from textual.pilot import Pilot

from llmc.model import Work, Worker
from llmc.ui.face import BoardUi
from llmc.ui.line_list import LineList
from testing.at_face import play, seen_in, until_seen, until_true
from testing.story import Story, script

HOSTILE = "[bold red]x[/] [@click=app.exit]go[/] \x1b[31mred\x1b]0;title\x07 \u202eright"


@pytest.mark.lesson(54, "Columns are named after the person's next act")
def test_everybody_is_under_the_next_act(story: Story) -> None:
    story.begin("adam", "baker", "charlie").up()
    story.work("adam", "write a.txt a", "commit Add a")
    story.task("baker", "permit touch x")
    story.until(lambda: story.json("status")["workers"][1]["asked"])

    async def steps(pilot: Pilot[None]) -> None:
        seen = await until_seen(pilot, "Needs you  1", "Review  1", "Idle  1", "2 wait for you")
        assert seen.index("Needs you") < seen.index("Review  1") < seen.index("Idle  1")
        assert "1  Yes" in seen  # the details of the first card
        assert "❯ 1. Yes" in await until_seen(pilot, "❯ 1. Yes")  # its terminal, live
        await pilot.press("w")
        await until_seen(pilot, "only who waits", without="charlie")
        await pilot.press("w", "slash", *"char", "enter")
        await until_seen(pilot, "/char", "charlie", without="baker")
        await pilot.press("escape")
        await until_seen(pilot, "baker", "charlie")

    play(story, steps, (150, 40))


@pytest.mark.lesson(53, "an answer to a dialog that has changed meanwhile is refused")
def test_a_number_answers_the_dialog_that_is_shown_and_no_other(story: Story) -> None:
    story.begin("adam").up()
    story.task("adam", "permit touch first", "permit touch second", "write a.txt a", "commit Add a")
    story.until(lambda: story.json("status")["workers"][0]["asked"])

    async def steps(pilot: Pilot[None]) -> None:
        await until_seen(pilot, "touch first", "1  Yes")
        face = pilot.app
        card = face.card("worker/adam")  # type: ignore[attr-defined]
        shown = dict(card["asked"])
        card["asked"] = {**shown, "id": "0123abcd"}  # as if the screen had not been drawn anew yet
        await pilot.press("1")
        await until_seen(pilot, "dialog", without="answering")
        assert story.worker("adam").work is not Work.NEEDS_REVIEW
        card["asked"] = shown
        await pilot.press("9")
        await until_seen(pilot, "no option 9")
        await pilot.press("1")
        # The agent's report is there before its screen has been read: only then can the dialog be answered.
        await until_true(pilot, lambda: "touch second" in _asked(face))
        await until_seen(pilot, "touch second", "1  Yes")
        await pilot.press("1")
        await until_seen(pilot, "Review  1")

    play(story, steps, (80, 24))  # without the terminal, which is ahead of the card


def _asked(face: App[None]) -> str:
    return str((face.card("worker/adam")["asked"] or {}).get("text"))  # type: ignore[attr-defined]


def test_a_text_is_sent_without_opening_the_terminal(story: Story) -> None:
    story.begin("adam").up()

    async def steps(pilot: Pilot[None]) -> None:
        await until_seen(pilot, "Idle  1")
        await pilot.press("space")
        await until_seen(pilot, "A task for adam")
        await pilot.press("enter")
        await until_seen(pilot, "there is no text yet")
        for n, line in enumerate(script("write a.txt a", "commit Add a").split("\n")):
            await pilot.press(*(["ctrl+j"] if n else []), *line)
        await pilot.press("enter")
        await until_seen(pilot, "Review  1", "adam: delivered")
        await pilot.press("i")
        await until_seen(pilot, "there is nothing to interrupt now")

    play(story, steps)


def test_what_was_not_shown_is_not_accepted(story: Story) -> None:
    story.begin("adam").up()
    story.work("adam", "write a.txt a", "commit Add a")

    async def steps(pilot: Pilot[None]) -> None:
        await until_seen(pilot, "Review  1")
        await pilot.press("a")
        await until_seen(pilot, "Review  adam", "a.txt", "a accepts it")
        assert len(story.subjects()) == 1
        face = pilot.app
        await until_true(pilot, lambda: face.trees)  # type: ignore[attr-defined]
        await pilot.press("escape")
        await until_seen(pilot, "LLMC")
        story.commit_as("adam", "b.txt", "b", "Slip in more")
        await pilot.press("a")
        await until_seen(pilot, "tree", without="accepting adam's")
        assert len(story.subjects()) == 1

    play(story, steps)


def test_what_is_answered_while_it_ends_is_no_error(story: Story) -> None:
    story.begin("adam")

    async def steps(pilot: Pilot[None]) -> None:
        await until_seen(pilot, "adam")
        face = pilot.app
        await face.screen.query("#status").remove()
        face.tell("review", "adam: delivered")  # type: ignore[attr-defined]

    play(story, steps, (80, 24))


def test_hostile_words_are_only_words(story: Story) -> None:
    story.begin("adam")
    story.rewrite("adam", current_prompt=HOSTILE, last_words=HOSTILE, work=Work.ERROR)

    async def steps(pilot: Pilot[None]) -> None:
        seen = await until_seen(pilot, "adam", "[@click=app.exit]go[/]", "[bold red]x[/]")
        assert not set("\x1b\x07\u202e") & set(seen)
        await pilot.click("#list", offset=(40, 1))
        await pilot.click("#below", offset=(20, 3))
        await until_seen(pilot, "adam")
        assert pilot.app.is_running

    play(story, steps, (80, 24))


async def click_on_keys(pilot: Pilot[None]) -> None:
    """The row moves when there is more to do, also between the look and the click: then something else opens."""
    for _ in range(10):
        row = (await until_seen(pilot, "? keys")).split("\n")[-1]
        if "Esc back" in row:
            await pilot.press("escape")
            continue
        await pilot.click("#keys", offset=(row.index("? keys"), 0))
        await pilot.pause(0.5)
        face = pilot.app
        assert isinstance(face, BoardUi)
        if "Keys: The board" in seen_in(face):
            return


def test_without_a_daemon_it_says_so_and_works(story: Story) -> None:
    story.begin("adam")

    async def steps(pilot: Pilot[None]) -> None:
        await until_seen(pilot, "no daemon: `llmc up --detach`", "adam")
        await pilot.press("R")
        await until_seen(pilot, "adam", "idle", without="restarting")
        await click_on_keys(pilot)
        await until_seen(pilot, "Keys: The board", "answer the open dialog")
        await pilot.press("escape", "t")
        await until_seen(pilot, "no task waits")
        await pilot.press("escape", "T")
        await until_seen(pilot, "the merge train is empty")
        await pilot.press("p")
        await until_seen(pilot, "paused: p lets it go on")
        await pilot.press("escape", "E")
        await until_seen(pilot, "Events", "adam")
        await pilot.press("escape", "e")
        await until_seen(pilot, "Why adam is where it is", "what comes next")

    play(story, steps, (100, 30))


def test_two_hundred_workers(story: Story) -> None:
    story.begin("adam")
    one = story.worker("adam")
    many = {name: _twin(one, name) for name in (f"w{n:03}" for n in range(200))}
    story.site.ledger.state.transact(lambda state: replace(state, workers={**state.workers, **many}))

    async def steps(pilot: Pilot[None]) -> None:
        await until_seen(pilot, "Idle  201", "w001")
        await pilot.press("G")
        await until_seen(pilot, "w199", without="w001")
        drawn: list[str] = []
        lines = pilot.app.screen.query_one("#list", LineList)
        lines.lines = [replace(each, draw=_counting(each, drawn)) for each in lines.lines]
        await pilot.press("up")
        await until_seen(pilot, "w198")
        assert set(drawn) <= {"worker/w199", "worker/w198", "worker/w197"}
        story.rewrite("w198", current_prompt="Something new")
        await until_seen(pilot, "Something new")

    play(story, steps, (80, 24))


def _twin(worker: Worker, name: str) -> Worker:
    own = {field: getattr(worker, field).replace("adam", name) for field in ("worktree_path", "branch", "session_id")}
    return replace(worker, name=name, **own)


def _counting(line, drawn):
    def draw(width):
        drawn.append(line.key)
        return line.draw(width)

    return draw


@pytest.mark.parametrize("size", [(80, 24), (300, 90), (20, 6)])
def test_it_fits(story: Story, size: tuple[int, int]) -> None:
    story.begin("adam")

    async def steps(pilot: Pilot[None]) -> None:
        await until_seen(pilot, "adam")
        await pilot.press("question_mark", "escape", "n")
        await until_seen(pilot, "New task")
        await pilot.press("escape")
        assert len(seen_in(pilot.app).split("\n")) == size[1]  # type: ignore[arg-type]

    play(story, steps, size)
