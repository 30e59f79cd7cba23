from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmc.git.parse import (
    StatusEntry,
    StatusKind,
    Unmerged,
    Worktree,
    WorktreeStatus,
    decode,
    encode,
    nul_fields,
    parse_status,
    parse_unmerged,
    parse_worktree_status,
    parse_worktrees,
    refused_files,
)

ZERO = "0" * 40
CHANGED = f"1 .M N... 100644 100644 100644 {ZERO} {ZERO} a b\n c"
CONFLICT = f"u UD N... 100644 100644 000000 100644 {ZERO} {ZERO} {ZERO} -gone"


def fields(*records):
    return b"".join(encode(record) + b"\0" for record in records)


@given(st.binary())
def test_any_bytes_survive_as_text(raw):
    assert encode(decode(raw)) == raw


def test_fields_end_with_nul():
    assert nul_fields(b"") == ()
    assert nul_fields(b"a\0\xff b\0") == ("a", "\udcff b")


def test_headers_are_no_entries():
    assert parse_status(fields("# stash 3", "# future thing")) == ()


def test_one_status_tells_where_the_worktree_stands():
    on_branch = fields(f"# branch.oid {ZERO}", "# branch.head llmc/adam", "# stash 3", "? new")
    assert parse_worktree_status(on_branch, ()) == WorktreeStatus(ZERO, "llmc/adam", parse_status(fields("? new")), ())
    detached = fields(f"# branch.oid {ZERO}", "# branch.head (detached)")
    assert parse_worktree_status(detached, ()) == WorktreeStatus(ZERO, None, (), ())
    assert parse_worktree_status(fields("# branch.oid (initial)", "# branch.head main"), ()).head is None


def test_changes_inside_of_a_submodule_are_told():
    moved = f"1 .M SC.. 160000 160000 160000 {ZERO} {ZERO} sub"
    assert [entry.inner for entry in parse_status(fields(moved, moved.replace("SC..", "S..U")))] == [False, True]


def test_status_keeps_paths_as_they_are():
    assert parse_status(fields(CHANGED, CONFLICT, "? new/")) == (
        StatusEntry("a b\n c", StatusKind.CHANGED, ".M"),
        StatusEntry("-gone", StatusKind.UNMERGED, "UD"),
        StatusEntry("new/", StatusKind.UNTRACKED, "??"),
    )


def test_status_that_nobody_knows_is_not_skipped():
    with pytest.raises(ValueError, match="git status said"):
        parse_status(fields("2 R. something new"))


def test_unmerged_entries_come_with_their_modes():
    assert parse_unmerged(fields(CHANGED, CONFLICT)) == (
        Unmerged("-gone", "UD", ("100644", "100644", "000000"), "100644"),
    )


def test_worktrees_of_every_sort():
    raw = (
        "worktree /r\0bare\0\0"
        "worktree /r/a b\0HEAD 1\0branch refs/heads/llmc/a\0\0"
        "worktree /r/c\0HEAD 2\0detached\0locked because\0\0"
        "worktree /r/e\0HEAD 2\0detached\0locked initializing\0\0"
        "worktree /r/d\0HEAD 3\0branch refs/heads/d\0prunable gitdir file points to non-existent location\0\0"
    )
    assert parse_worktrees(raw.encode()) == (
        Worktree("/r", bare=True),
        Worktree("/r/a b", "1", "llmc/a"),
        Worktree("/r/c", "2", locked=True),
        Worktree("/r/e", "2", locked=True, unfinished=True),
        Worktree("/r/d", "3", "d", missing=True),
    )


def test_refused_files_are_the_indented_lines():
    words = (
        "error: Your local changes to the following files would be overwritten by merge:\n\ta b\n\tc\n"
        "Please commit your changes or stash them before you merge.\n"
        "error: The following untracked working tree files would be overwritten by merge:\n\td\n  c\nAborting"
    )
    assert refused_files(words) == ("a b", "c", "d")
    assert refused_files("error: something else\n\tindented") == ()
