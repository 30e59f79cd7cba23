"""The whole story with keys alone, at a real terminal, on the demo agent."""

from __future__ import annotations

import pytest

from llmc.model import Work
from testing.at_face import FaceTerminal, at_face
from testing.story import Story, script

pytestmark = pytest.mark.timeout(900)
CART = "def total(prices):\\n    return sum(prices)\\n\\n\\ndef count(prices):\\n    return len(prices)"
TASK = script("permit touch asked.txt", f"write shop/cart.py {CART}", "commit Add a cart")
REWORK = script("replace shop/cart.py sum(prices) => float(sum(prices))", "commit Return a number")


def write(face: FaceTerminal, text: str) -> None:
    """Into the box that is open: Ctrl-J begins a new line, Enter sends."""
    for n, line in enumerate(text.split("\n")):
        if n:
            face.press("C-j")
        face.type(line)
    face.until(text.rsplit("\n", 1)[-1][-40:])
    face.press("Enter")
    face.until(without="Enter sends")


@pytest.mark.lesson(52, "comments go as one batch with the quoted lines, numbered by round, and none is lost")
@pytest.mark.lesson(53, "an answer to a dialog that has changed meanwhile is refused")
def test_from_a_new_task_to_the_commit(story: Story) -> None:
    story.begin("adam", "baker").up()
    with at_face(story.root.path) as face:
        face.until("Idle  2", "adam", "baker")

        face.press("n")
        face.until("New task", "Priority")
        face.type("Add a cart to the shop")
        for line in TASK.split("\n"):
            face.press("C-j")
            face.type(line)
        for field, words in (("Title", "Cart"), ("Worker", "adam")):
            face.press("Tab")
            face.until(f"▸ {field}")
            face.type(words)
            face.until(f"▸ {field}", f" {words} ")
        face.press("Enter")

        face.until("Needs you  1", "asks: Do you want")
        face.press("g")
        face.until("1  Yes", "2  No")
        face.press("1")
        face.until("Review  1", "adam: delivered")

        face.press("g", "r")
        face.until("Review  adam", "cart.py", "2 +     return sum(prices)", "all of the work")
        story.until(lambda: story.worker("adam").reviewed)
        face.press("j")
        face.press("c")
        face.until("Comment on shop/cart.py:1")
        write(face, "Say what it returns")
        face.until("┃ Say what it returns   line 1, open")
        comment_on_range(face)

        face.press("x")
        face.until("Send adam's work back")
        write(face, f"Two things.\n{REWORK}")
        face.until("LLMC", "Review  1", without="sending")
        story.wait("adam", Work.NEEDS_REVIEW)
        rounds = story.json("comment", "adam", "--list")
        assert [each["round"] for each in rounds["comments"]] == [1, 1]

        face.press("g", "r")
        face.until("return float(sum(prices))", "all of the work")
        face.press("l")
        face.until("only what changed since round 1", "2 + ", "round 1, untouched")
        story.until(lambda: story.worker("adam").reviewed)
        assert story.subjects() == ["Begin"] or "Add a cart" not in story.subjects()
        face.press("a")
        face.until("LLMC", "Idle  2")
        story.until(lambda: len(story.subjects()) > 1)
        assert "float(sum(prices))" in story.git("show", "main:shop/cart.py")

        face.press("g", "Enter")
        face.until("Ctrl-b d leaves")
        face.press("C-b", "d")
        face.until("back from adam's terminal", "Idle  2")

        face.press("q")
        face.until("the program has ended: 0")


def comment_on_range(face: FaceTerminal) -> None:
    face.press("G", "k", "V", "j", "c")
    face.until("Comment on shop/cart.py:5-6", "def count(prices)")
    write(face, "Is this used?")
    face.until("┃ Is this used?   line 5-6, open", "2 open comments")
