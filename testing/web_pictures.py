"""Pictures of the web pages, taken in a real browser while they run on demo workers."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playwright.sync_api import Browser

from llmc.model import Work
from testing.browser import DESKTOP, PHONE, Visitor, a_browser, a_server, a_visitor
from testing.roots import own_environment
from testing.story import Story, script, told_in

SHOP = {
    "shop/cart.py": """\
def total(items):
    sum = 0
    for item in items:
        sum = sum + item.price
    return sum
""",
    "README.md": "# Shop\n\nSells things.\n",
}
CART = (
    "say I read the cart and its callers, then change the total.",
    "replace shop/cart.py def total(items): => def total(items, discount=0):",
    "replace shop/cart.py     sum = 0 =>     amount = 0",
    "replace shop/cart.py         sum = sum + item.price =>         amount += item.price * item.count",
    "replace shop/cart.py     return sum =>     return amount * (1 - discount)",
    "append README.md \\nPrices are in cents.",
    "commit Take discounts off the total",
)


def web_pictures(place: Path) -> None:
    with TemporaryDirectory(prefix="llmc-") as own, own_environment(Path(own) / "home"):
        Path(own, "story").mkdir()
        with told_in(Path(own) / "story") as story:
            web_stage(story)
            with a_server(story.root) as server, a_browser() as browser:
                web_take(browser, server.address, place)


def web_stage(story: Story) -> None:
    """Something in every column that matters."""
    story.begin("adam", "baker", "charlie", "dora", repo__validate='["test -s README.md"]', repo__validate_on="review")
    for path, text in SHOP.items():
        Path(story.repository, path).parent.mkdir(exist_ok=True)
        story.commit_upstream(path, text, f"Add {path}")
    story.up()
    _give(
        story,
        "charlie",
        "Take discounts off the total of a cart, and count the items that are in it twice; tell it in the README, too",
        *CART,
    )
    _give(
        story,
        "adam",
        "Remove the old build directory, and whatever in the Makefile still refers to it; then try a build",
        "say I look first what is in it.",
        "permit rm -r build",
    )
    _give(
        story,
        "baker",
        "Say in the README how to build the shop on a machine that has only Python; try out every command",
        "say I try each command in turn.",
        "sleep 600",
    )
    first = story.json("task", "add", "Document every setting in docs/settings.md", "--worker", "baker")
    story.json("task", "add", "Translate the page of settings", "--after", first["id"])
    story.wait("charlie", Work.NEEDS_REVIEW)
    story.until(lambda: _status(story, "adam")["asked"])
    story.until(lambda: (_status(story, "charlie")["checks"] or {}).get("state") == "passed")
    story.llmc("comment", "charlie", "shop/cart.py:4", "What if count is None? Old carts have none.")


def _status(story: Story, worker: str) -> dict[str, Any]:
    return next(each for each in story.json("status")["workers"] if each["name"] == worker)


def _give(story: Story, worker: str, task: str, *steps: str) -> None:
    story.llmc("start", "--worker", worker, "--prompt", f"{task}\n\n{script(*steps)}")


def web_take(browser: Browser, address: str, place: Path) -> None:
    for name, viewport, dark in (
        ("web-board", DESKTOP, False),
        ("web-board-dark", DESKTOP, True),
        ("web-phone", PHONE, False),
    ):
        with a_visitor(browser, address, viewport, dark=dark) as visitor:
            visitor.open("/login")
            visitor.page.wait_for_selector("#column-needs_you .options")
            visitor.page.wait_for_selector("#live[data-state=live]")
            visitor.page.screenshot(path=place / f"{name}.png")
            if name == "web-board":
                web_take_worker(visitor, place)
            visitor.check()


def web_take_worker(visitor: Visitor, place: Path) -> None:
    page, base = visitor.page, visitor.address.partition("#")[0]
    page.goto(f"{base}workers/adam")
    page.get_by_role("button", name="Take control").click()
    page.wait_for_selector(".in-control")
    page.locator("#terminal .xterm-rows").get_by_text("rm -r build").first.wait_for()
    page.screenshot(path=place / "web-worker.png")
    page.get_by_role("button", name="Give back control").click()
    page.goto(f"{base}workers/charlie/review")
    page.wait_for_selector(".files .comment")
    page.wait_for_selector("#live[data-state=live]")
    page.screenshot(path=place / "web-review.png")
