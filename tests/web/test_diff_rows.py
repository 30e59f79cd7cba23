"""The diff as rows, and the graph of tasks as boxes."""

from __future__ import annotations

from llmc.web.diff_rows import file_views, talk_of
from llmc.web.task_graph import graph_of

LINES = [
    {"kind": "context", "old_no": 1, "new_no": 1, "text": "a"},
    {"kind": "removed", "old_no": 2, "new_no": None, "text": "b"},
    {"kind": "removed", "old_no": 3, "new_no": None, "text": "c"},
    {"kind": "added", "old_no": None, "new_no": 2, "text": "B"},
    {"kind": "context", "old_no": 4, "new_no": 3, "text": "d"},
]
FILE = {"path": "f", "old_path": "f", "status": "changed", "binary": False}
HUNK = {"path": "f", "old_path": "f", "old_start": 1, "old_count": 4, "new_start": 1, "new_count": 3, "lines": LINES}


def comment(number, round_, **now):
    return {"number": number, "path": "f", "line": 2, "end_line": 2, "text": "why", "round": round_, "now": now}


def work(*comments):
    rounds = [{"number": 1, "message": "once more"}]
    return {"files": [FILE], "hunks": [HUNK], "comments": list(comments), "rounds": rounds}


def shape(view):
    return [(row.kind, row.old and row.old["text"], row.new and row.new["text"]) for row in view.rows]


def test_inline_every_line_is_a_row() -> None:
    (view,) = file_views(work(), split=False)
    assert [kind for kind, _, _ in shape(view)] == ["gap", "context", "removed", "removed", "added", "context"]
    assert (view.added, view.removed) == (1, 2)


def test_side_by_side_what_was_removed_stands_beside_what_came_for_it() -> None:
    (view,) = file_views(work(), split=True)
    assert shape(view)[1:] == [
        ("context", "a", "a"),
        ("changed", "b", "B"),
        ("removed", "c", None),
        ("context", "d", "d"),
    ]


def test_a_comment_stands_below_the_line_where_it_is_now() -> None:
    here = comment(1, None, became="untouched", path="f", line=2, end_line=2)
    gone = comment(2, 1, became="gone", path=None, line=None, end_line=None)
    for split in (False, True):
        (view,) = file_views(work(here, gone), split=split)
        assert [(row.new["new_no"], row.comments) for row in view.rows if row.comments] == [(2, (here,))]
    said = talk_of(work(here, gone))
    assert said["open"] == [here]
    assert said["rounds"][0]["comments"] == [gone], "its lines are gone, it is not"


def task(id_, *after):
    return {"id": id_, "title": f"Task {id_}", "state": "queued", "after": list(after)}


def test_the_graph_has_those_that_depend_and_those_they_depend_on() -> None:
    graph = graph_of([task("t1"), task("t2", "t1"), task("t3", "t1", "t9"), task("t4")])
    assert graph is not None
    places = {box.id: (box.x > 0, box.y > 0) for box in graph.boxes}
    assert places == {"t1": (False, False), "t2": (True, False), "t3": (True, True)}
    assert len(graph.lines) == 2


def test_a_graph_without_lines_is_none_and_a_long_chain_is_drawn() -> None:
    assert graph_of([task("t1"), task("t2")]) is None
    chain = graph_of([task("t0"), *(task(f"t{n}", f"t{n - 1}") for n in range(1, 2000))])
    assert chain is not None
    assert len(chain.boxes) == 2000
