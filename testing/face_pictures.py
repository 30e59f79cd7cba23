"""`make docs-pictures`: pictures of the faces, taken of the programs themselves while they run on demo workers."""

from __future__ import annotations

import sys
from pathlib import Path

from testing.ui_pictures import ui_pictures
from testing.web_pictures import web_pictures

PLACE = Path(__file__).resolve().parent.parent / "docs" / "pictures"
MAKERS = {"ui": ui_pictures, "web": web_pictures}


def main(names: list[str]) -> int:
    PLACE.mkdir(exist_ok=True)
    for name in names or MAKERS:
        MAKERS[name](PLACE)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
