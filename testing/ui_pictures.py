"""The picture of the terminal UI, made by the program itself on the demo agent."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from tempfile import TemporaryDirectory

from llmc.host.local import LocalHost
from llmc.ui.face import BoardUi
from testing.at_face import until_seen
from testing.roots import own_environment
from testing.story import Story, script, told_in

SIZE = (132, 34)
SHOWN_PLACE = "/srv/projects/august"
ELSEWHERE = re.compile(r"@font-face \{.*?\}", re.DOTALL)
"""Fonts that the picture would load from another place."""


def ui_picture(story: Story) -> str:
    """The board, with a worker that asks, one whose work waits, one that works, and tasks behind them."""
    story.begin("adam", "baker", "charlie", "dora").up()
    story.llmc("start", "--worker", "adam", "--prompt", "List all products on one page\n" + script(*LISTS))
    story.llmc("start", "--worker", "charlie", "--prompt", "Write the tests of the cart\n" + script("sleep 1000"))
    story.llmc("start", "--worker", "baker", "--prompt", "Clean the build directory\n" + script(*CLEANS))
    story.llmc("task", "add", "Translate the product page", "--after", "t1")
    story.llmc("task", "add", "Measure the start page", "--hold")
    story.until(lambda: story.json("status")["workers"][1]["asked"])

    async def draw() -> str:
        face = BoardUi(story.root, LocalHost(), lambda: story.site)
        async with face.run_test(size=SIZE) as pilot:
            await until_seen(pilot, "Needs you  1", "Review  1", "Working  1", "❯ 1. Yes")
            return face.export_screenshot(title="llmc ui")

    drawn = ELSEWHERE.sub("", asyncio.run(draw())).replace("Fira Code", "ui-monospace, Menlo, Consolas")
    here = str(story.place.parent)
    return drawn.replace(here, SHOWN_PLACE.ljust(len(here), "_")[: len(here)])


LISTS = ("write shop/products.py PRODUCTS = []", "commit List the products")
CLEANS = ("say I shall clean up first.", "permit rm -r build")


def ui_pictures(place: Path) -> None:
    with TemporaryDirectory(prefix="llmc-") as own, own_environment(Path(own) / "home"):
        Path(own, "shop").mkdir()
        with told_in(Path(own) / "shop") as story:
            (place / "ui.svg").write_text(ui_picture(story), encoding="utf-8")
