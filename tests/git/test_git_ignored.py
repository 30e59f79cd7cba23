from __future__ import annotations

import os

import pytest

from llmc.git.ignored import Carried, Skipped, WrongPatternError, copy_ignored


@pytest.fixture
def ready(git, source, root):
    """A source that ignores some files, and a worktree of that state."""
    source.write(".gitignore", "*.env\ndata/\n*.link\n")
    source.commit()
    root.run("fetch", "--quiet")
    return root.worker("adam")


def test_ignored_files_that_match_are_copied_with_their_mode(git, source, ready):
    source.write("secret.env", b"\0key")
    source.write("deep/er/other.env", "x")
    source.write("data/in/side/new\nline.csv", "1")
    source.write("unwanted.env")
    source.file("secret.env").chmod(0o700)
    found = copy_ignored(git, source.path, ["secret.env", "deep/**/*.env", "data"], ready.path)
    assert sorted(found.copied) == ["data/in/side/new\nline.csv", "deep/er/other.env", "secret.env"]
    assert found.skipped == ()
    assert ready.file("secret.env").read_bytes() == b"\0key"
    assert os.access(ready.file("secret.env"), os.X_OK)
    assert not ready.file("unwanted.env").exists()
    assert ready.status() == ""


def test_double_star_reaches_every_depth(git, source, ready):
    for name in ("a.env", "x/a.env", "x/y/a.env"):
        source.write(name)
    assert sorted(copy_ignored(git, source.path, ["**/a.env"], ready.path).copied) == [
        "a.env",
        "x/a.env",
        "x/y/a.env",
    ]


def test_tracked_and_untracked_files_are_not_copied(git, source, ready):
    source.write("README", "changed\n")
    source.write("untracked.txt")
    assert copy_ignored(git, source.path, ["**"], ready.path) == Carried()


def test_newer_file_replaces_the_older_copy(git, source, ready):
    source.write("a.env", "1")
    copy_ignored(git, source.path, ["*.env"], ready.path)
    source.write("a.env", "2")
    copy_ignored(git, source.path, ["*.env"], ready.path)
    assert ready.file("a.env").read_text() == "2"


def test_file_that_the_worktree_tracks_stays(git, source, ready):
    source.write("a.env", "users")
    ready.write("a.env", "agents")
    ready.run("add", "--force", "a.env")
    found = copy_ignored(git, source.path, ["*.env"], ready.path)
    assert found == Carried(skipped=(Skipped("a.env", "git does not ignore it there"),))
    assert ready.file("a.env").read_text() == "agents"


def test_file_that_would_make_the_worktree_dirty_stays_behind(git, source, ready):
    source.write("a.env")
    ready.write(".gitignore", "")
    assert [each.path for each in copy_ignored(git, source.path, ["*.env"], ready.path).skipped] == ["a.env"]
    assert not ready.file("a.env").exists()


def test_link_out_of_the_source_stays_behind(git, source, ready, tmp_path):
    (tmp_path / "outside").write_text("secret")
    for name, target in [
        ("abs.link", str(tmp_path / "outside")),
        ("rel.link", "../outside"),
        ("deep/up.link", "../../outside"),
        ("own.link", f"{source.path}/README"),
    ]:
        source.file(name).parent.mkdir(exist_ok=True)
        source.file(name).symlink_to(target)
    found = copy_ignored(git, source.path, ["**/*.link"], ready.path)
    assert found.copied == ()
    assert sorted(each.path for each in found.skipped) == ["abs.link", "deep/up.link", "own.link", "rel.link"]


def test_link_through_a_link_out_of_the_source_stays_behind(git, source, ready, tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/file").write_text("secret")
    source.file("data").mkdir()
    source.file("data/door").symlink_to(tmp_path / "outside")
    source.file("a.link").symlink_to("data/door/file")
    assert copy_ignored(git, source.path, ["a.link"], ready.path).copied == ()


def test_link_inside_the_source_is_copied_as_a_link(git, source, ready):
    source.write("data/real", "x")
    source.file("data/a.link").symlink_to("real")
    assert sorted(copy_ignored(git, source.path, ["data/**"], ready.path).copied) == ["data/a.link", "data/real"]
    assert os.readlink(ready.file("data/a.link")) == "real"


def test_link_in_the_worktree_is_not_written_through(git, source, ready, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    ready.file("data").symlink_to(outside)
    source.write("data/a.env")
    found = copy_ignored(git, source.path, ["data/**"], ready.path)
    assert found == Carried(skipped=(Skipped("data/a.env", "its directory is a link in the worktree"),))
    assert os.listdir(outside) == []


def test_link_in_place_of_the_file_is_replaced_not_followed(git, source, ready, tmp_path):
    (tmp_path / "outside").write_text("keep")
    ready.file("a.env").symlink_to(tmp_path / "outside")
    source.write("a.env", "new")
    assert copy_ignored(git, source.path, ["a.env"], ready.path).copied == ("a.env",)
    assert (tmp_path / "outside").read_text() == "keep"
    assert ready.file("a.env").read_text() == "new"


def test_directory_in_place_of_the_file_is_told(git, source, ready):
    source.write("a.env")
    ready.write("a.env/inside")
    found = copy_ignored(git, source.path, ["a.env"], ready.path)
    assert [each.path for each in found.skipped] == ["a.env"]
    assert ready.file("a.env/inside").exists()


def test_repository_among_the_ignored_files_stays_behind(git, source, ready):
    source.run("init", "--quiet", "data/inner")
    source.write("data/inner/file")
    source.write("data/plain")
    found = copy_ignored(git, source.path, ["data"], ready.path)
    assert found.copied == ("data/plain",)
    assert [each.path for each in found.skipped] == ["data/inner/"]


@pytest.mark.parametrize("pattern", ["/etc/passwd", "../x", "a/../../x"])
def test_pattern_that_leads_out_is_refused(git, source, ready, pattern):
    with pytest.raises(WrongPatternError, match="not inside the repository"):
        copy_ignored(git, source.path, [pattern], ready.path)


def test_bare_source_has_nothing_to_copy(git, root, ready):
    assert copy_ignored(git, root.path, ["**"], ready.path) == Carried()


def test_files_that_the_repositorys_own_list_names_are_copied_too(git, source, ready):
    source.write(".worktreeinclude", "*.env\n!public.env\n/data/in\n*.txt\n")
    for name in ("secret.env", "deep/other.env", "public.env", "data/in/a.csv", "data/out/b.csv", "x.link", "free.txt"):
        source.write(name)
    found = copy_ignored(git, source.path, ["data/out/*"], ready.path)
    assert sorted(found.copied) == ["data/in/a.csv", "data/out/b.csv", "deep/other.env", "secret.env"]
    assert not ready.file("free.txt").exists()
    assert ready.status() == ""


def test_a_list_that_cannot_be_read_copies_nothing(git, source, ready):
    source.write("secret.env")
    source.file(".worktreeinclude").symlink_to("nowhere")
    assert copy_ignored(git, source.path, [], ready.path) == Carried()
