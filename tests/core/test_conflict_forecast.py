from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmc.core.landing.conflict_forecast import FileClash, Seen, Touched, may_clash, radar_document


def touched(added="", changed="", removed=""):
    return Touched(*(frozenset(paths.split()) for paths in (added, changed, removed)))


@pytest.mark.parametrize(
    ("one", "other", "may"),
    [
        (touched(changed="a b"), touched(changed="b c"), True),
        (touched(changed="a"), touched(removed="a"), True),
        (touched(changed="a"), touched(changed="b"), False),
        (touched(added="x"), touched(added="x/y"), True),
        (touched(added="x/y/z"), touched(added="x"), True),
        (touched(added="e/a", removed="d/a"), touched(added="d/new"), True),
        (touched(added="e/a", removed="d/a"), touched(added="d/deep/new"), True),
        (touched(added="e/a", removed="d/a"), touched(changed="d/b"), False),
        (touched(removed="d/a"), touched(added="d/new"), False),
        (touched(changed="src/a"), touched(changed="src/b"), False),
        (touched(), touched(added="a"), False),
    ],
)
def test_who_can_stand_in_whose_way(one, other, may):
    assert may_clash(one, other) is may
    assert may_clash(other, one) is may


PATHS = st.frozensets(st.sampled_from(["a", "a/b", "a/b/c", "d", "d/e"]))


@given(PATHS, PATHS, PATHS)
def test_a_common_path_is_always_enough(added, changed, removed):
    one = Touched(added, changed, removed)
    assert may_clash(one, one) is bool(one.all)


def test_only_pairs_that_conflict_are_told():
    clash = (FileClash("f", "content"),)
    seen = {"adam": Seen(5.0, touched("f"), True, clash), "baker": Seen(6.0, unknown="no worktree")}
    told = radar_document("main", "f00", seen, {("adam", "baker"): clash, ("adam", "carl"): ()}, 7.0)
    assert told["with_each_other"] == [{"workers": ["adam", "baker"], "files": [{"path": "f", "kind": "content"}]}]
    assert told["workers"] == {
        "adam": {
            "at_unix": 5.0,
            "head": None,
            "tip": None,
            "files_touched": 1,
            "uncommitted": True,
            "with_branch": [{"path": "f", "kind": "content"}],
            "unknown": None,
        },
        "baker": {
            "at_unix": 6.0,
            "head": None,
            "tip": None,
            "files_touched": 0,
            "uncommitted": False,
            "with_branch": [],
            "unknown": "no worktree",
        },
    }
