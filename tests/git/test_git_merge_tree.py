"""Merging in memory: where it does not work and why, with every kind of conflict that git knows."""

from __future__ import annotations

import pytest

from llmc.git.failure import GitError
from llmc.git.merge_tree import Clash, MergeKind, merge_in_memory, parse_clashes

LINES = "".join(f"{number}\n" for number in range(30))


def writes(name, content):
    return lambda repo: repo.write(name, content)


def removes(name):
    return lambda repo: repo.file(name).unlink()


def renames(old, new):
    def rename(repo):
        repo.file(new).parent.mkdir(exist_ok=True)
        repo.file(old).rename(repo.file(new))

    return rename


def links(name, target):
    def link(repo):
        repo.file(name).unlink(missing_ok=True)
        repo.file(name).symlink_to(target)

    return link


def both(*acts):
    return lambda repo: [act(repo) for act in acts]


@pytest.fixture
def clash(git, make_repo):
    """The clashes between two branches that changed the same start in two ways."""
    repo = make_repo("apart")

    def make(before, one, other):
        before(repo)
        start = repo.commit("before")
        for name, act in (("one", one), ("other", other)):
            repo.run("checkout", "--quiet", "-b", name, start)
            act(repo)
            repo.commit(name)
        return {each.path: each.kind for each in merge_in_memory(git, repo.path, "one", "other").clashes}

    return make


BEFORE = both(writes("f", LINES), writes("d/a", LINES * 2), writes("d/b", LINES * 3))


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (writes("f", "1\n"), writes("f", "2\n"), {"f": MergeKind.CONTENT}),
        (writes("f", b"\0one"), writes("f", b"\0two"), {"f": MergeKind.BINARY}),
        (writes("new", "1\n"), writes("new", "2\n"), {"new": MergeKind.ADDED_BY_BOTH}),
        (writes("f", LINES + "1\n"), removes("f"), {"f": MergeKind.CHANGED_AND_DELETED}),
        (
            renames("f", "g"),
            renames("f", "h"),
            dict.fromkeys(("f", "g", "h"), MergeKind.RENAMED_BY_BOTH),
        ),
        (renames("f", "g"), removes("f"), {"g": MergeKind.RENAMED_AND_DELETED}),
        (
            both(renames("d/a", "e/a"), renames("d/b", "e/b")),
            writes("d/new", "x\n"),
            {"e/new": MergeKind.DIRECTORY_RENAMED},
        ),
        (writes("x", "file\n"), writes("x/y", "in a directory\n"), {"x~one": MergeKind.FILE_OR_DIRECTORY}),
        (links("f", "target"), writes("f", "2\n"), {"f": MergeKind.TYPE, "f~one": MergeKind.TYPE}),
    ],
    ids=lambda value: "-".join(sorted(set(value.values()))) if isinstance(value, dict) else "",
)
def test_every_kind(clash, one, other, expected):
    found = clash(BEFORE, one, other)
    assert set(found.values()) == set(expected.values())
    assert {path.partition("~")[0] for path in found} == {path.partition("~")[0] for path in expected}


def test_what_merges_gives_the_tree(git, source):
    start = source.sha()
    source.commit_file("a", "a\n")
    source.run("checkout", "--quiet", "-b", "other", start)
    source.commit_file("b", "b\n")
    merged = merge_in_memory(git, source.path, "main", "other")
    assert merged.clashes == ()
    assert source.run("ls-tree", "--name-only", merged.tree).split() == ["README", "a", "b"]


def test_no_such_commit_is_no_answer(git, source):
    with pytest.raises(GitError):
        merge_in_memory(git, source.path, "main", "nowhere")


def test_what_is_said_of_no_listed_path_is_not_lost():
    said = ("", "1", "d", "CONFLICT(directory rename unclear split)", "CONFLICT (directory rename split): ...\n")
    assert parse_clashes(said) == (Clash("d", MergeKind.DIRECTORY_RENAMED),)


def test_a_kind_of_a_later_git_is_still_a_conflict():
    said = ("f", "", "1", "f", "CONFLICT (something new)", "words\n", "1", "f", "Auto-merging", "Auto-merging f\n")
    assert parse_clashes(said) == (Clash("f", MergeKind.OTHER),)


def test_the_kind_that_tells_most_is_told():
    said = ("f", "", "1", "f", "CONFLICT (contents)", "x", "2", "g", "f", "CONFLICT (rename/delete)", "y")
    assert parse_clashes(said) == (Clash("f", MergeKind.RENAMED_AND_DELETED),)
