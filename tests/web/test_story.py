"""The whole story in a real browser, on a desktop and on a phone: from a new task to the commit on the branch."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from testing.browser import DESKTOP, PATIENCE_MS, PHONE, Visitor, a_browser, a_server, a_visitor
from testing.story import Story

expect.set_options(timeout=PATIENCE_MS)
TASK = """\
Let the greeter part from people
demo:say I look around first.
demo:permit ls -l
demo:write greeter.py hello = "Hello"\\ngoodbye = "Bye"\\nthird = 3\\n
demo:commit Say goodbye
"""
REWORK = """\
Please spell it out.
demo:replace greeter.py "Bye" => "Goodbye"
demo:commit Spell it out
"""
AWAY = (
    "ERR_CONNECTION_REFUSED",
    "ERR_INCOMPLETE_CHUNKED_ENCODING",
    "ERR_EMPTY_RESPONSE",
    "ERR_CONNECTION_RESET",
    "WebSocket",
)
"""What a browser says of a server that is not there."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with a_browser() as browser:
        yield browser


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.lesson(54, "Columns are named after the person's next act")
def test_the_story_from_a_new_task_to_the_commit(browser: Browser, story: Story, viewport: dict[str, int]) -> None:
    story.begin("adam").up()
    with a_server(story.root) as server, a_visitor(browser, server.address, viewport) as visitor:
        page = visitor.open("/login")
        expect(page).to_have_url(server.url)
        _gives_a_task(page)
        _answers_from_the_card(page)
        _sees_the_terminal(page)
        _sends_it_back_with_two_comments(page)
        _sees_what_has_changed_since(page)
        _accepts(page)
        visitor.check()
    story.until(lambda: story.subjects()[-1:] == ["Say goodbye"])
    assert 'goodbye = "Goodbye"' in story.git("show", "main:greeter.py")


def _gives_a_task(page: Page) -> None:
    page.get_by_role("button", name="New task").click()
    page.get_by_label("What is to be done").fill(TASK)
    page.get_by_role("button", name="Queue it").click()
    expect(page.locator("#notices")).to_contain_text("t1")
    expect(page.locator("#column-needs_you .card")).to_contain_text("Let the greeter part from people")


def _answers_from_the_card(page: Page) -> None:
    card = page.locator("#column-needs_you .card")
    expect(card).to_contain_text("ls -l")
    expect(page).to_have_title(re.compile(r"^\(1\) "))
    card.get_by_role("button", name="Yes").first.click()
    expect(page.locator("#notices")).to_contain_text("adam was answered")
    expect(page.locator("#column-review .card")).to_contain_text("adam")


def _sees_the_terminal(page: Page) -> None:
    page.locator("#column-review").get_by_role("link", name="adam", exact=True).click()
    expect(page.locator("#terminal .xterm-rows")).to_contain_text("I look around first.")
    expect(page.locator("#timeline")).to_contain_text("hook.permission")
    page.locator("#explain summary").click()
    expect(page.locator("#explained")).to_contain_text("What comes next")
    page.get_by_role("link", name="Review").click()


def _sends_it_back_with_two_comments(page: Page) -> None:
    _comments(page, 2, "Spell it out.")
    page.get_by_role("button", name="Comment on greeter.py line 1").click()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Comment on greeter.py line 3").click(modifiers=["Shift"])
    expect(page.locator("#comment-form .place")).to_have_text("greeter.py:1-3")
    page.locator("#comment-form textarea").fill("Sort these.")
    page.get_by_role("button", name="Comment", exact=True).click()
    expect(page.locator(".talk .comment")).to_have_count(2)
    page.locator("#reject-text").fill(REWORK)
    page.get_by_role("button", name="Send back").click()
    expect(page.locator("#notices")).to_contain_text("delivered")


def _comments(page: Page, line: int, words: str) -> None:
    page.get_by_role("button", name=f"Comment on greeter.py line {line}").click()
    page.locator("#comment-form textarea").fill(words)
    page.get_by_role("button", name="Comment", exact=True).click()
    expect(page.locator(".files .comment.open").first).to_contain_text(words)


def _sees_what_has_changed_since(page: Page) -> None:
    page.get_by_role("button", name="Show it").last.click()
    expect(page.locator(".files")).to_contain_text('"Goodbye"')
    page.get_by_role("link", name="Since last round").click()
    expect(page.locator(".since-words")).to_contain_text("round 1")
    expect(page.locator(".diff .added")).to_have_count(1)
    expect(page.locator(".talk")).to_contain_text("lines changed")
    expect(page.locator(".talk")).to_contain_text("Please spell it out.")


def _accepts(page: Page) -> None:
    page.get_by_role("button", name="Accept tree").click()
    expect(page.locator("#notices")).to_contain_text("accepted")
    expect(page.locator("#column-idle .card")).to_contain_text("adam")


def test_the_pages_come_back_when_the_server_does(browser: Browser, story: Story) -> None:
    story.begin("adam", "baker").up()
    with a_server(story.root) as server, a_visitor(browser, server.address, DESKTOP) as visitor:
        visitor.expected = AWAY
        page = visitor.open("/login")
        expect(page.locator("#live")).to_have_text("live")
        server.end(signal.SIGKILL)
        expect(page.locator("#live")).to_have_text("reconnecting")
        story.task("adam", "permit ls")
        server.start()
        expect(page.locator("#live")).to_have_text("live")
        card = page.locator("#column-needs_you .card")
        card.get_by_role("button", name="No").click()
        expect(page.locator("#column-needs_you .card")).to_have_count(0)
        visitor.check()


def _terminal(visitor: Visitor, path: str) -> Page:
    page = visitor.open("/login")
    page.wait_for_selector("#columns")
    page.goto(visitor.address.partition("#")[0].rstrip("/") + path)
    return page


def test_a_viewer_types_only_with_control_and_a_paste_keeps_its_lines(browser: Browser, story: Story) -> None:
    story.begin("adam").up()
    story.task("adam", "say ready")
    with a_server(story.root) as server, a_visitor(browser, server.address, PHONE) as visitor:
        page = _terminal(visitor, "/workers/adam")
        expect(page.locator("#terminal .xterm-rows")).to_contain_text("ready")
        before = story.pane("adam")
        page.locator("#terminal .xterm-screen").click()
        page.keyboard.type("nothing")
        page.get_by_role("button", name="Take control").click()
        expect(page.locator("#controller")).to_have_text("you have control")
        story.until(lambda: story.pane("adam").width < 100)
        page.keyboard.type("typed")
        story.until(lambda: "typed" in story.screen("adam"))
        assert "nothing" not in story.screen("adam")
        page.evaluate(
            """() => {
                const data = new DataTransfer();
                data.setData("text/plain", " first\\nsecond");
                document.querySelector("#terminal textarea").dispatchEvent(
                    new ClipboardEvent("paste", { clipboardData: data, bubbles: true }));
            }"""
        )
        story.until(lambda: "second" in story.screen("adam"))
        page.get_by_role("button", name="Give back control").click()
        story.until(lambda: story.pane("adam").width == before.width)
        visitor.check()
