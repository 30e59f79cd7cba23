from __future__ import annotations

import pytest

from llmc.git.failure import GitError
from llmc.git.history import (
    changed_files,
    commits_ahead,
    diff_text,
    is_ancestor,
    merge_base,
    merged_elsewhere,
    messages_of,
    own_commits,
    patch_id,
)


def test_ancestors(git, source):
    first = source.sha()
    second = source.commit_file("new", "x")
    assert is_ancestor(git, source.path, first, second)
    assert is_ancestor(git, source.path, first, first)
    assert not is_ancestor(git, source.path, second, first)
    with pytest.raises(GitError):
        is_ancestor(git, source.path, "1" * 40, second)


def test_merge_base(git, source):
    base = source.sha()
    source.run("checkout", "--quiet", "-b", "side")
    source.commit_file("side", "x")
    source.run("checkout", "--quiet", "main")
    source.commit_file("new", "x")
    assert merge_base(git, source.path, "main", "side") == base
    source.run("checkout", "--quiet", "--orphan", "alone")
    source.commit_file("alone", "x")
    assert merge_base(git, source.path, "main", "alone") is None


def test_commits_and_messages_are_oldest_first(git, source):
    base = source.sha()
    shas = [source.commit("one\n\nbody\n\n- ümläut"), source.commit("two")]
    assert commits_ahead(git, source.path, base, "HEAD") == shas
    assert commits_ahead(git, source.path, "HEAD", base) == []
    assert messages_of(own_commits(git, source.path, "HEAD", base)) == ("one\n\nbody\n\n- ümläut", "two")
    assert own_commits(git, source.path, "HEAD", "HEAD") == ()


def test_diffs(git, source):
    base = source.sha()
    source.write("README", "one\n2\nthree\n")
    source.write("new\nline", "x\ny\n")
    source.write("logo", b"\0\1")
    head = source.commit()
    assert changed_files(git, source.path, base, head) == ("README", "logo", "new\nline")
    assert "-two\n+2\n" in diff_text(git, source.path, base, head)


def test_diff_is_plain_whatever_the_user_likes(git, source, monkeypatch, tmp_path):
    base = source.sha()
    head = source.commit_file("README", "other\n")
    plain = diff_text(git, source.path, base, head)
    for name, value in [("color.ui", "always"), ("diff.noprefix", "true"), ("diff.external", "false")]:
        source.run("config", name, value)
    assert diff_text(git, source.path, base, head) == plain
    assert "+++ b/README" in plain


def test_patch_id_is_the_same_wherever_the_change_is(git, source):
    base = source.sha()
    first = source.commit_file("new", "x\n")
    source.run("checkout", "--quiet", "-b", "other", base)
    moved = source.commit_file("unrelated", "y\n")
    source.run("cherry-pick", first)
    assert patch_id(git, source.path, base, first) == patch_id(git, source.path, moved, "HEAD")
    assert patch_id(git, source.path, base, first) != patch_id(git, source.path, base, moved)
    assert patch_id(git, source.path, base, base) is None


@pytest.fixture
def worked(source):
    """A branch `work` with two commits, and a main that went on."""
    source.run("checkout", "--quiet", "-b", "work")
    source.commit_file("a", "a\n")
    source.commit_file("b", "b\n")
    source.run("checkout", "--quiet", "main")
    source.commit_file("unrelated", "u\n")
    return source


def test_nothing_is_merged_at_first(git, worked):
    assert not merged_elsewhere(git, worked.path, "work", "main")


def test_part_of_the_work_is_not_the_work(git, worked):
    worked.run("cherry-pick", "work~1")
    assert not merged_elsewhere(git, worked.path, "work", "main")


@pytest.mark.lesson(25, "ahead is a question of ancestry, and merged work is known by its patch")
def test_cherry_picked_work_is_recognised(git, worked):
    worked.run("cherry-pick", "work~1", "work")
    assert merged_elsewhere(git, worked.path, "work", "main")


@pytest.mark.lesson(25, "ahead is a question of ancestry, and merged work is known by its patch")
def test_squashed_work_is_recognised(git, worked):
    worked.run("merge", "--quiet", "--squash", "work")
    worked.commit("all in one")
    worked.commit_file("later", "l\n")
    assert merged_elsewhere(git, worked.path, "work", "main")


def test_merged_work_is_recognised(git, worked):
    worked.run("merge", "--quiet", "--no-edit", "work")
    assert merged_elsewhere(git, worked.path, "work", "main")


def test_work_that_changes_nothing_is_not_missing(git, worked):
    worked.run("checkout", "--quiet", "-b", "void", "main")
    worked.commit("nothing in here")
    assert merged_elsewhere(git, worked.path, "void", "main")


def test_resolution_that_lives_in_a_merge_is_missed(git, worked):
    worked.run("checkout", "--quiet", "-b", "side", "main~1")
    worked.commit_file("side", "s\n")
    worked.run("checkout", "--quiet", "main")
    worked.run("cherry-pick", "work~1", "work", "side")
    worked.run("checkout", "--quiet", "work")
    worked.run("merge", "--quiet", "--no-commit", "side")
    worked.commit_file("only-in-the-merge", "x\n")
    assert not merged_elsewhere(git, worked.path, "work", "main")


@pytest.mark.lesson(25, "ahead is a question of ancestry, and merged work is known by its patch")
def test_amended_upstream_does_not_hide_that_work_is_missing(git, worked):
    worked.run("commit", "--quiet", "--amend", "-m", "amended")
    assert not merged_elsewhere(git, worked.path, "work", "main")
