"""What a person does on the pages, from a new task to the commit on the branch."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

from testing.browser import PATIENCE_MS

expect.set_options(timeout=PATIENCE_MS)


def give_task(page: Page, text: str) -> None:
    page.get_by_role("button", name="New task").click()
    page.get_by_label("What is to be done").fill(text)
    page.get_by_role("button", name="Queue it").click()
    expect(page.locator("#notices")).to_contain_text("t1")


def answer_from_card(page: Page, asked: str, option: str) -> None:
    card = page.locator("#column-needs_you .card")
    expect(card).to_contain_text(asked)
    expect(page).to_have_title(re.compile(r"^\(1\) "))
    card.get_by_role("button", name=option).first.click()
    expect(page.locator("#notices")).to_contain_text("was answered")


def look_at_worker(page: Page, name: str, shown: str) -> None:
    """Its live terminal, what happened, and why it is where it is."""
    page.locator("#column-review").get_by_role("link", name=name, exact=True).click()
    expect(page.locator("#terminal .xterm-rows")).to_contain_text(shown)
    expect(page.locator("#timeline")).to_contain_text("hook.permission")
    page.locator("#explain summary").click()
    expect(page.locator("#explained")).to_contain_text("What comes next")
    page.get_by_role("link", name="Review").click()


def send_back_with_two_comments(page: Page, path: str, message: str) -> None:
    """On one line, and on the first three."""
    _number(page, path, 2).click()
    _say(page, f"{path}:2", "Spell it out.")
    _number(page, path, 1).click()
    page.get_by_role("button", name="Cancel").click()
    _number(page, path, 3).click(modifiers=["Shift"])
    _say(page, f"{path}:1-3", "Sort these.")
    expect(page.locator(".talk .comment")).to_have_count(2)
    page.locator("#reject-text").fill(message)
    page.get_by_role("button", name="Send back").click()
    expect(page.locator("#notices")).to_contain_text("delivered")


def _number(page: Page, path: str, line: int) -> Locator:
    return page.get_by_role("button", name=f"Comment on {path} line {line}", exact=True)


def _say(page: Page, place: str, words: str) -> None:
    expect(page.locator("#comment-form .place")).to_have_text(place)
    page.locator("#comment-form textarea").fill(words)
    page.get_by_role("button", name="Comment", exact=True).click()


def look_at_what_changed(page: Page, path: str, line: str, *, offered: bool = True) -> None:
    """In the second round, which a review that is open offers to show, if it does not show it already."""
    if offered:
        show = page.get_by_role("button", name="Show it").last
        drawn = page.locator(f".file[data-path='{path}']", has_text=line)
        expect(show.or_(drawn).first).to_be_visible()  # whoever is quick is done before the page is drawn anew
        if not drawn.count():
            show.click()
    expect(page.locator(f".file[data-path='{path}']")).to_contain_text(line)
    page.get_by_role("link", name="Since last round").click()
    expect(page.locator(".since-words")).to_contain_text("round 1")
    expect(page.locator(".diff .added")).to_have_count(1)
    expect(page.locator(".talk")).to_contain_text("lines changed")
    expect(page.locator(".talk")).to_contain_text("Spell it out.")


def accept(page: Page, name: str) -> None:
    page.get_by_role("button", name="Accept tree").click()
    expect(page.locator("#notices")).to_contain_text("accepted")
    expect(page.locator("#column-idle .card")).to_contain_text(name)
