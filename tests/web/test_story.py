"""The whole story in a real browser, on a desktop and on a phone: from a new task to the commit on the branch."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from testing.browser import DESKTOP, PHONE, Visitor, a_browser, a_server, a_visitor
from testing.browser_steps import (
    accept,
    answer_from_card,
    give_task,
    look_at_what_changed,
    look_at_worker,
    send_back_with_two_comments,
)
from testing.story import Story

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


@pytest.mark.parametrize(
    "next_", ["/%09/evil.example", "/%5Cevil.example", "https://evil.example", "javascript:alert(1)"]
)
def test_a_login_leads_to_no_other_server(browser: Browser, story: Story, next_: str) -> None:
    story.begin("adam")
    with a_server(story.root) as server, a_visitor(browser, server.address, DESKTOP) as visitor:
        visitor.open(f"/login?next={next_}")
        expect(visitor.page).to_have_url(server.url)
        visitor.check()


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.lesson(54, "Columns are named after the person's next act")
def test_the_story_from_a_new_task_to_the_commit(browser: Browser, story: Story, viewport: dict[str, int]) -> None:
    story.begin("adam").up()
    with a_server(story.root) as server, a_visitor(browser, server.address, viewport) as visitor:
        page = visitor.open("/login")
        expect(page).to_have_url(server.url)
        give_task(page, TASK)
        answer_from_card(page, "ls -l", "Yes")
        look_at_worker(page, "adam", "I look around first.")
        send_back_with_two_comments(page, "greeter.py", REWORK)
        look_at_what_changed(page, "greeter.py", '"Goodbye"')
        accept(page, "adam")
        visitor.check()
    story.until(lambda: story.subjects()[-1:] == ["Say goodbye"])
    assert 'goodbye = "Goodbye"' in story.git("show", "main:greeter.py")


def test_the_pages_come_back_when_the_server_does(browser: Browser, story: Story) -> None:
    story.begin("adam", "baker").up()
    with a_server(story.root) as server, a_visitor(browser, server.address, DESKTOP) as visitor:
        visitor.expected = AWAY
        page = visitor.open("/login")
        expect(page.locator("#live")).to_have_text("live")
        server.end(signal.SIGKILL)
        expect(page.locator("#live")).to_have_text("reconnecting")
        story.task("adam", "permit ls", "write a b", "commit Add a")
        server.start()
        expect(page.locator("#live")).to_have_text("live")
        page.locator("#column-needs_you .card").get_by_role("button", name="Yes").click()
        expect(page.locator("#column-review .card")).to_contain_text("adam")
        visitor.check()


HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>"


def test_every_page_fits_a_phone_and_is_reached_by_keys(browser: Browser, story: Story) -> None:
    story.begin("adam", "baker").up()
    story.task("adam", f"say {HOSTILE}", f"permit echo {HOSTILE} {'wide' * 60}")
    with a_server(story.root) as server, a_visitor(browser, server.address, PHONE) as visitor:
        page = visitor.open("/login")
        card = page.locator("#column-needs_you .card")
        expect(card).to_contain_text("<img src=x onerror=alert(1)>")
        expect(page.locator("#live")).to_have_text("live")
        page.keyboard.press("j")
        expect(card).to_be_focused()
        page.get_by_label("only who waits").check()
        expect(page.locator("#column-idle")).to_be_hidden()
        page.locator("#main").focus()
        page.keyboard.press("/")
        page.keyboard.type("nobody is called that")
        expect(page.locator("#nobody")).to_be_visible()
        for path in ("", "workers/adam", "workers/adam/review", "tasks", "train", "usage", "events", "doctor", "api"):
            page.goto(f"{server.url}{path}")
            expect(page.locator("#live")).to_have_text("live")
            assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], path
            assert page.evaluate("document.querySelectorAll('h1').length") == 1, path
        page.goto(server.url)
        story.llmc("answer", "adam", "no")
        expect(page.locator("#column-needs_you .options")).to_have_count(0)
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
