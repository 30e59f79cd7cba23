from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmc.git.conflicts import ConflictKind, classify, conflict_regions, conflicts, leftover_markers
from llmc.git.failure import GitError
from llmc.git.parse import Unmerged
from llmc.git.rebase import Conflicted, rebase_onto

LINES = "".join(f"{number}\n" for number in range(30))


@pytest.fixture
def conflict(git, source, root):
    """Lets worker and upstream change the same start in two ways, rebases, and returns the stopped worktree."""

    def make(before, by_worker, upstream):
        before(source)
        source.commit("before")
        root.run("fetch", "--quiet")
        worker = root.worker("adam")
        by_worker(worker)
        worker.commit("by the worker")
        upstream(source)
        source.commit("upstream")
        root.run("fetch", "--quiet")
        stopped = rebase_onto(git, worker.path, "origin/main")
        assert isinstance(stopped, Conflicted)
        assert {each.path for each in conflicts(git, worker.path)} == set(stopped.files)
        return worker

    return make


def writes(name, content):
    return lambda repo: repo.write(name, content)


def removes(name):
    return lambda repo: repo.file(name).unlink()


def renames(old, new):
    return lambda repo: repo.file(old).rename(repo.file(new))


def links(name, target):
    def link(repo):
        repo.file(name).unlink(missing_ok=True)
        repo.file(name).symlink_to(target)

    return link


def the_one(git, worker):
    (found,) = conflicts(git, worker.path)
    return found


def shown(worker, found):
    """What the stages hold that the conflict calls the worker's and the upstream's."""
    stages = (found.worker_stage, found.upstream_stage)
    return tuple(stage and worker.run("show", f":{stage}:{found.path}") for stage in stages)


def test_content(git, conflict):
    worker = conflict(writes("f", "a\n"), writes("f", "worker\n"), writes("f", "upstream\n"))
    found = the_one(git, worker)
    assert (found.path, found.kind, found.code) == ("f", ConflictKind.CONTENT, "UU")
    assert shown(worker, found) == ("worker", "upstream")
    (region,) = found.regions
    assert (region.ours, region.theirs, region.first_line, region.last_line) == ("upstream", "worker", 1, 5)


def test_several_regions_with_difficult_name(git, conflict):
    name = '-odd näme\n"x"'
    worker = conflict(
        writes(name, LINES),
        writes(name, LINES.replace("3\n", "w\n", 1).replace("25\n", "w\n")),
        writes(name, LINES.replace("3\n", "u\n", 1).replace("25\n", "u\n")),
    )
    found = the_one(git, worker)
    assert found.path == name
    assert [region.theirs for region in found.regions] == ["w", "w"]


def test_added_by_both(git, conflict):
    worker = conflict(writes("f", ""), writes("new", "worker\n"), writes("new", "upstream\n"))
    found = the_one(git, worker)
    assert (found.kind, found.code) == (ConflictKind.ADDED_BY_BOTH, "AA")
    assert shown(worker, found) == ("worker", "upstream")
    assert len(found.regions) == 1


def test_deleted_upstream(git, conflict):
    worker = conflict(writes("f", "a\n"), writes("f", "worker\n"), removes("f"))
    found = the_one(git, worker)
    assert (found.kind, found.code) == (ConflictKind.DELETED_UPSTREAM, "DU")
    assert shown(worker, found) == ("worker", None)


def test_deleted_by_the_worker(git, conflict):
    worker = conflict(writes("f", "a\n"), removes("f"), writes("f", "upstream\n"))
    found = the_one(git, worker)
    assert (found.kind, found.code) == (ConflictKind.DELETED_BY_WORKER, "UD")
    assert shown(worker, found) == (None, "upstream")


def test_renamed_differently(git, conflict):
    worker = conflict(writes("f", LINES), renames("f", "by-worker"), renames("f", "by-upstream"))
    assert {(each.path, each.kind, each.code) for each in conflicts(git, worker.path)} == {
        ("f", ConflictKind.RENAMED_BY_BOTH, "DD"),
        ("by-worker", ConflictKind.RENAMED_BY_BOTH, "UA"),
        ("by-upstream", ConflictKind.RENAMED_BY_BOTH, "AU"),
    }


def test_renamed_and_deleted(git, conflict):
    worker = conflict(writes("f", LINES), renames("f", "g"), removes("f"))
    found = the_one(git, worker)
    assert (found.path, found.kind) == ("g", ConflictKind.RENAMED_AND_DELETED)
    assert shown(worker, found) == (LINES.rstrip("\n"), None)


def test_something_new_in_a_directory_that_was_renamed(git, conflict):
    def rename_directory(repo):
        repo.file("d").rename(repo.file("e"))

    worker = conflict(
        lambda repo: (repo.write("d/a", LINES), repo.write("d/b", LINES * 2)), writes("d/new", "x\n"), rename_directory
    )
    found = the_one(git, worker)
    assert (found.path, found.kind) == ("e/new", ConflictKind.DIRECTORY_RENAMED)


def test_a_file_against_a_directory(git, conflict):
    worker = conflict(writes("f", ""), writes("x", "a file\n"), writes("x/y", "in a directory\n"))
    found = the_one(git, worker)
    assert found.path.startswith("x~")
    assert found.kind is ConflictKind.FILE_OR_DIRECTORY


def test_a_link_against_a_file(git, conflict):
    worker = conflict(writes("f", LINES), links("f", "target"), writes("f", "upstream\n"))
    assert {each.kind for each in conflicts(git, worker.path)} == {ConflictKind.TYPE}


def test_the_same_file_with_two_modes(git, conflict):
    def executable(repo):
        repo.write("new", "x\n").chmod(0o755)

    worker = conflict(writes("f", ""), writes("new", "x\n"), executable)
    assert the_one(git, worker).kind is ConflictKind.MODE


def test_finding_out_leaves_nothing_behind(git, root, conflict):
    worker = conflict(writes("f", LINES), renames("f", "by-worker"), renames("f", "by-upstream"))
    objects = set(Path(root.path, ".git", "objects").rglob("*"))
    files = set(Path(root.path, ".git", "worktrees", "adam").iterdir())
    conflicts(git, worker.path)
    assert set(Path(root.path, ".git", "objects").rglob("*")) == objects
    assert set(Path(root.path, ".git", "worktrees", "adam").iterdir()) == files


def test_markers_that_were_left(git, source):
    start = source.commit_file("old", "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> 1234567 (x)\n")
    source.write("näme with space", "x\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> 1234567 (x)\n")
    source.write("spaces", "trailing  \n\n\n")
    source.write("title", "Title\n========\n")
    tip = source.commit()
    assert leftover_markers(git, source.path, start, tip) == ("näme with space",)
    assert leftover_markers(git, source.path, tip, tip) == ()
    with pytest.raises(GitError):
        leftover_markers(git, source.path, "nowhere", tip)


def test_binary(git, conflict):
    worker = conflict(writes("f", b"\0a"), writes("f", b"\0worker"), writes("f", b"\0upstream"))
    found = the_one(git, worker)
    assert (found.kind, found.regions) == (ConflictKind.BINARY, ())
    assert shown(worker, found) == ("\0worker", "\0upstream")


def test_links(git, conflict):
    worker = conflict(links("f", "a"), links("f", "worker"), links("f", "upstream"))
    found = the_one(git, worker)
    assert found.kind is ConflictKind.SYMLINK
    assert shown(worker, found) == ("worker", "upstream")


def test_submodules(git, conflict, make_repo):
    inner = make_repo("inner")
    start = inner.commit("start")
    inner.run("branch", "by-worker", inner.commit("by the worker"))
    inner.run("checkout", "--quiet", "-b", "by-upstream", start)
    inner.commit("upstream")

    def at(rev):
        def check_out(repo):
            if not repo.file("sub/.git").exists():
                repo.run("clone", "--quiet", inner.path, "sub")
            repo.run("-C", "sub", "checkout", "--quiet", "--detach", rev)

        return check_out

    found = the_one(git, conflict(at(start), at("origin/by-worker"), at("origin/by-upstream")))
    assert (found.path, found.kind) == ("sub", ConflictKind.SUBMODULE)


def test_in_a_merge_the_worker_is_on_the_other_side(git, source, root):
    worker = root.worker("adam")
    worker.commit_file("README", "worker\n")
    source.commit_file("README", "upstream\n")
    root.run("fetch", "--quiet")
    assert git.run(worker.path, "merge", "origin/main", check=False).code == 1
    assert shown(worker, the_one(git, worker)) == ("worker", "upstream")


def test_clean_worktree_has_none(git, worker):
    assert conflicts(git, worker.path) == ()


@pytest.mark.parametrize(
    ("modes", "worker_stage", "kind"),
    [
        (("100644", "100644", "000000"), 3, ConflictKind.DELETED_BY_WORKER),
        (("100644", "100644", "000000"), 2, ConflictKind.DELETED_UPSTREAM),
        (("000000", "100644", "120000"), 3, ConflictKind.TYPE),
        (("160000", "000000", "160000"), 3, ConflictKind.SUBMODULE),
        (("120000", "000000", "120000"), 3, ConflictKind.DELETED_UPSTREAM),
    ],
)
def test_classification_by_stages(modes, worker_stage, kind):
    assert classify(Unmerged("f", "UU", modes, "100644"), worker_stage).kind is kind


MARKED = "a\nb\n<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> work\nc\nd\n"


def test_region_with_context():
    (region,) = conflict_regions(MARKED, context=1)
    assert region.text == "b\n<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> work\nc"
    assert (region.first_line, region.last_line, region.complete, region.base) == (3, 7, True, None)


def test_region_with_base():
    (region,) = conflict_regions("<<<<<<< a\no\n||||||| b\nbase\n=======\nt\n>>>>>>> c\n")
    assert (region.ours, region.base, region.theirs) == ("o", "base", "t")


def test_regions_close_together_are_all_found():
    assert [region.first_line for region in conflict_regions(MARKED + MARKED)] == [3, 12]


def test_headings_are_no_markers():
    assert conflict_regions("Title\n=======\n\n<<<<<<<<< long\n>>>>>>>\n<<<<<<<x\n") == ()


def test_heading_inside_the_second_half_is_text():
    (region,) = conflict_regions("<<<<<<< a\no\n=======\nTitle\n=======\n>>>>>>> b\n")
    assert region.theirs == "Title\n======="


def test_region_without_an_end_is_told():
    first, second = conflict_regions("<<<<<<< a\no\n=======\nt\n<<<<<<< b\nx\n=======\ny\n>>>>>>> c\n")
    assert (first.complete, first.last_line, second.complete) == (False, 4, True)
    assert [region.complete for region in conflict_regions("<<<<<<< a\n")] == [False]


def test_windows_line_ends():
    (region,) = conflict_regions("<<<<<<< a\r\no\r\n=======\r\nt\r\n>>>>>>> b\r\n")
    assert (region.ours, region.theirs) == ("o\r", "t\r")


MARKS = st.sampled_from(["<<<<<<< a", "||||||| b", "=======", ">>>>>>> c", "text", ""])


@given(st.lists(MARKS), st.integers(0, 3))
def test_any_mix_of_markers_gives_one_region_per_start(lines, context):
    regions = conflict_regions("\n".join(lines), context)
    assert [region.first_line for region in regions] == [
        number for number, line in enumerate(lines, 1) if line.startswith("<")
    ]
    assert all(first.last_line < second.first_line for first, second in pairwise(regions))
