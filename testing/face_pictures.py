"""The pictures of the faces, made by the programs themselves on the demo agent: `make docs-pictures`."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from llmc.host.local import LocalHost
from llmc.ui.face import BoardUi
from testing.at_face import until_seen
from testing.roots import GLOBAL_CONFIG
from testing.story import Story, script, told_in

PICTURES = Path(__file__).resolve().parent.parent / "docs" / "pictures"
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


def ui() -> None:
    with TemporaryDirectory(prefix="llmc-p-") as place:
        _private_home(Path(place))
        with told_in(Path(place) / "shop") as story:
            (PICTURES / "ui.svg").write_text(ui_picture(story), encoding="utf-8")


def _private_home(place: Path) -> None:
    for part in ("shop", "tmux"):
        (place / part).mkdir()
    (place / "gitconfig").write_text(GLOBAL_CONFIG)
    os.environ |= {
        "HOME": str(place),
        "XDG_CONFIG_HOME": str(place / "config"),
        "TMUX_TMPDIR": str(place / "tmux"),
        "GIT_CONFIG_GLOBAL": str(place / "gitconfig"),
        "GIT_CONFIG_NOSYSTEM": "1",
    }


MAKERS = {"ui": ui}


def main(names: list[str]) -> None:
    PICTURES.mkdir(exist_ok=True)
    for name in names or MAKERS:
        MAKERS[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
