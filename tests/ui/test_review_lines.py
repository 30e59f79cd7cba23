"""A review as lines: what stands where, inline and side by side, and what a comment can be on."""

from __future__ import annotations

from typing import Any

import pytest

from llmc.core.diff_data import patch_data
from llmc.ui.keys import SCREENS, bindings, keys_page
from llmc.ui.review_lines import diff_lines, fact_texts, file_lines, place_in

PATCH = """\
diff --git a/a/x.py b/a/x.py
index 1..2 100644
--- a/a/x.py
+++ b/a/x.py
@@ -10,4 +10,4 @@
 same
-old one
-old two
+new one
 end
+[bold]more[/] \x1b[31mred
\\ No newline at end of file
diff --git a/gone.txt b/gone.txt
deleted file mode 100644
index 3..0
--- a/gone.txt
+++ /dev/null
@@ -1 +0,0 @@
-bye
"""
RAW = (":100644 100644 1 2 M", "a/x.py", ":100644 000000 3 0 D", "gone.txt")


def comment(number: int, line: int, **more: Any) -> dict[str, Any]:
    made = {"number": number, "path": "a/x.py", "line": line, "end_line": line, "text": f"Why {number}?", "round": None}
    return {**made, **more}


def document(*comments: dict[str, Any]) -> dict[str, Any]:
    data = patch_data(PATCH, RAW)
    return {
        "prompt": "Do it",
        "since": None,
        "checks": {"state": "failed", "failed": "make test", "at_unix": 1.0, "results": []},
        "uncommitted": ["left.txt"],
        "conflicts": [{"worker": "baker", "files": ["a/x.py"]}],
        "comments": list(comments),
        "rounds": [],
        "files": data.files,
        "hunks": data.hunks,
    }


def drawn(rows: Any, width: int = 60) -> list[str]:
    return [row.draw(width, 0).plain.rstrip() for row in rows]


def test_inline() -> None:
    rows = diff_lines(document(), side_by_side=False)
    assert drawn(rows) == [
        " ~ a/x.py",
        "   ⋯   lines 10-13" if rows[1].key.startswith("gap") else "",
        "  10   10   same",
        "  11      - old one",
        "  12      - old two",
        "       11 + new one",
        "  13   12   end",
        "       13 + [bold]more[/] \ufffd[31mred  (no line end)",
        "",
        " − gone.txt",
        "   1      - bye",
    ]


def test_side_by_side() -> None:
    rows = diff_lines(document(), side_by_side=True)
    assert [line for line in drawn(rows, 41) if "│" in line] == [
        "  10 same           │  10 same",
        "  11 old one        │  11 new one",
        "  12 old two        │",
        "  13 end            │  12 end",
        "                    │  13 [bold]more[/]…",
        "   1 bye            │",
    ]


@pytest.mark.lesson(52, "comments go as one batch with the quoted lines, numbered by round, and none is lost")
@pytest.mark.parametrize("side_by_side", [False, True])
def test_every_comment_is_shown_also_where_its_lines_are_gone(*, side_by_side: bool) -> None:
    gone = comment(3, 5, round=1, now={"became": "gone", "path": None, "line": None, "end_line": None})
    moved = comment(4, 5, round=1, now={"became": "untouched", "path": "a/x.py", "line": 12, "end_line": 12})
    elsewhere = comment(5, 99, path="other.py")
    rows = diff_lines(document(comment(1, 11), comment(2, 11), gone, moved, elsewhere), side_by_side=side_by_side)
    lines = drawn(rows, 80)
    at = next(n for n, line in enumerate(lines) if "new one" in line)
    assert "Why 1?   line 11, open" in lines[at + 1]
    assert "Why 2?" in lines[at + 2]
    assert "Why 3?   line 5, round 1, gone" in lines[1]
    assert any("Why 4?   line 5, round 1, untouched" in line for line in lines)
    assert "not shown here" in lines[-2]
    assert "Why 5?" in lines[-1]
    assert [row.comment for row in rows if row.comment is not None] == [1, 2, 5]


def test_a_comment_is_on_lines_of_the_new_side() -> None:
    rows = diff_lines(document(), side_by_side=False)
    at = {line.strip(): n for n, line in enumerate(drawn(rows))}
    old, new, end = at["11      - old one"], at["11 + new one"], at["13   12   end"]
    assert place_in(rows, new, new) == ("a/x.py", "11")
    assert place_in(rows, old, end) == ("a/x.py", "11-12")
    assert isinstance(place_in(rows, old, old), str)
    assert isinstance(place_in(rows, 0, 0), str)


def test_what_matters_stands_above() -> None:
    facts = "\n".join(text.plain for text in fact_texts(document(comment(1, 11)), 80, 100.0))
    assert all(each in facts for each in ("Do it", "2 files, 1 open comment", "make test failed", "left.txt", "baker"))
    assert [line.key for line in file_lines(document())] == ["dir/0", "file/0", "file/1"]


def test_every_key_is_bound_once_on_its_screen_and_documented() -> None:
    page = keys_page()
    for screen, keys in SCREENS.items():
        bound = [binding.key for binding in bindings(keys)]  # type: ignore[union-attr]
        assert len(bound) == len(set(bound)), screen
        assert screen in page
        assert all(key.words in page for key in keys)
