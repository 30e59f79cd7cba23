from __future__ import annotations

import shutil

import pytest

from llmc.errors import LlmcError
from llmc.git.failure import GitError
from llmc.git.parse import StatusEntry, StatusKind
from llmc.git.repository import (
    NoBranchError,
    Operation,
    branch_tip,
    common_dir,
    current_branch,
    default_branch,
    heads,
    is_bare,
    list_worktrees,
    operations,
    require_commit,
    resolve,
    status,
    toplevel,
    uses_lfs,
)


def test_places_in_a_checkout(git, source):
    source.write("deep/er/file")
    assert toplevel(git, f"{source.path}/deep/er") == source.path
    assert common_dir(git, f"{source.path}/deep/er") == f"{source.path}/.git"
    assert not is_bare(git, source.path)


@pytest.mark.lesson(24, "git itself tells where its files are in a worktree")
def test_places_in_a_bare_root_and_its_worktree(git, root, worker):
    assert toplevel(git, root.path) is None
    assert is_bare(git, root.path)
    assert toplevel(git, worker.path) == worker.path
    assert common_dir(git, worker.path) == common_dir(git, root.path) == f"{root.path}/run/git"
    assert not is_bare(git, worker.path)


def test_no_repository_is_an_answer(git, tmp_path):
    assert common_dir(git, str(tmp_path)) is None
    assert toplevel(git, str(tmp_path)) is None


@pytest.mark.lesson(21, "not knowing moves nobody")
def test_broken_repository_is_no_answer(git, root, worker):
    shutil.rmtree(f"{root.path}/.git/worktrees/adam")
    with pytest.raises(GitError):
        common_dir(git, worker.path)


def test_missing_directory_is_no_answer(git, tmp_path):
    with pytest.raises(LlmcError, match="is gone"):
        common_dir(git, str(tmp_path / "nowhere"))


def test_default_branch_is_what_origin_says(git, source, tmp_path, make_repo):
    source.run("branch", "trunk")
    source.run("update-ref", "refs/remotes/origin/trunk", "HEAD")
    source.run("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk")
    assert default_branch(git, source.path) == "trunk"


def test_default_branch_must_exist_here_whatever_origin_says(git, source):
    source.run("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/elsewhere")
    assert default_branch(git, source.path) == "main"


def test_default_branch_is_the_one_checked_out(git, source):
    source.run("checkout", "--quiet", "-b", "feature/x")
    assert default_branch(git, source.path) == "feature/x"


def test_default_branch_with_detached_head_is_the_only_one(git, source):
    source.run("branch", "-m", "odd")
    source.run("checkout", "--quiet", "--detach")
    assert default_branch(git, source.path) == "odd"


@pytest.mark.parametrize(("configured", "expected"), [("other", "other"), ("absent", "master")])
def test_default_branch_with_detached_head_is_the_usual_name(git, source, configured, expected):
    source.run("branch", "-m", "master")
    source.run("branch", "other")
    source.run("checkout", "--quiet", "--detach")
    source.run("config", "init.defaultBranch", configured)
    assert default_branch(git, source.path) == expected


def test_default_branch_that_nothing_tells_is_asked_for(git, source):
    source.run("branch", "-m", "one")
    source.run("branch", "two")
    source.run("checkout", "--quiet", "--detach")
    with pytest.raises(NoBranchError, match=r"\(one, two\)") as caught:
        default_branch(git, source.path)
    assert "--branch" in caught.value.hint


def test_default_branch_of_an_empty_repository(git, make_repo):
    with pytest.raises(NoBranchError, match="no commits yet") as caught:
        default_branch(git, make_repo("empty").path)
    assert "first commit" in caught.value.hint


def test_resolve(git, source):
    assert resolve(git, source.path, "main") == source.sha()
    assert resolve(git, source.path, "nowhere") is None
    assert resolve(git, source.path, "1" * 40) is None
    assert resolve(git, source.path, "-x") is None
    assert resolve(git, source.path, "HEAD:README") is None
    with pytest.raises(GitError, match="no commit named nowhere"):
        require_commit(git, source.path, "nowhere")


def test_resolve_outside_of_a_repository_is_no_answer(git, tmp_path):
    with pytest.raises(GitError):
        resolve(git, str(tmp_path), "HEAD")


def test_heads_and_tips(git, root, worker, source):
    sha = worker.commit_file("new", "x")
    assert heads(git, root.path) == {"llmc/adam": sha}
    assert branch_tip(git, root.path, "llmc/adam") == sha
    assert branch_tip(git, root.path, "llmc/eve") is None


def test_branch_named_like_a_tag_is_the_branch(git, source):
    first = source.sha()
    source.run("tag", "main")
    second = source.commit_file("new", "x")
    assert branch_tip(git, source.path, "main") == second != first
    assert current_branch(git, source.path) == "main"


def test_several_names_are_looked_up_at_once(git, source):
    names = ("refs/heads/main^{commit}", "refs/heads/none^{commit}", "HEAD^{tree}", "main:README^{commit}")
    assert git.objects(source.path, *names) == (source.sha(), None, source.sha("HEAD^{tree}"), None)


def test_current_branch(git, source):
    assert current_branch(git, source.path) == "main"
    source.run("checkout", "--quiet", "--detach")
    assert current_branch(git, source.path) is None


def test_status_of_difficult_names(git, source):
    names = ["with space", "new\nline", "ümläut", "-dash", 'quo"te', "tab\there", ":(top)magic", "dir/in"]
    for name in names:
        source.write(name)
    source.file("README").unlink()
    found = status(git, source.path)
    assert {each.path for each in found} == {*names, "README"}
    assert StatusEntry("README", StatusKind.CHANGED, ".D") in found
    assert StatusEntry("-dash", StatusKind.UNTRACKED, "??") in found


def test_status_leaves_ignored_files_out_and_shows_renames_as_both(git, source):
    source.write(".git/info/exclude", "*.log\n")
    source.write("x.log")
    assert status(git, source.path) == ()
    source.run("mv", "README", "MANUAL")
    assert [(each.path, each.code) for each in status(git, source.path)] == [("MANUAL", "A."), ("README", "D.")]


def test_repository_inside_the_worktree_is_one_entry(git, source):
    source.run("init", "--quiet", "inner")
    source.write("inner/file")
    source.run("-C", "inner", "add", "file")
    source.run("-C", "inner", "commit", "-qm", "x")
    assert status(git, source.path) == (StatusEntry("inner/", StatusKind.UNTRACKED, "??"),)


def test_stashes_and_other_tastes_do_not_show_up(git, source):
    source.write("README", "changed\n")
    source.run("stash")
    for name, value in [("showStash", "true"), ("branch", "true"), ("showUntrackedFiles", "no"), ("short", "true")]:
        source.run("config", f"status.{name}", value)
    source.write("new")
    assert status(git, source.path) == (StatusEntry("new", StatusKind.UNTRACKED, "??"),)


def test_looking_does_not_touch_the_index(git, source):
    index = source.file(".git/index")
    source.file("README").touch()
    before = index.read_bytes()
    status(git, source.path)
    assert index.read_bytes() == before


def test_worktrees(git, root, worker):
    listed = list_worktrees(git, root.path)
    assert [(each.path, each.branch, each.bare) for each in listed] == [
        (f"{root.path}/run/git", None, True),
        (worker.path, "llmc/adam", False),
    ]


@pytest.mark.lesson(24, "git itself tells where its files are in a worktree")
def test_operations(git, root, worker):
    assert operations(git, worker.path) == ()
    base = worker.sha()
    mine = worker.commit_file("README", "mine\n")
    worker.run("checkout", "--quiet", "-b", "other", base)
    theirs = worker.commit_file("README", "theirs\n")
    for verb, what, expected in [
        ("merge", mine, Operation.MERGE),
        ("cherry-pick", mine, Operation.CHERRY_PICK),
        ("rebase", mine, Operation.REBASE),
    ]:
        assert git.run(worker.path, verb, what, check=False).code == 1
        assert operations(git, worker.path)[0] is expected
        worker.run(verb, "--abort")
    worker.commit_file("README", "again\n")
    assert git.run(worker.path, "revert", theirs, check=False).code == 1
    assert operations(git, worker.path)[0] is Operation.REVERT


def test_lfs_is_found_in_any_directory_without_a_checkout(git, source, root):
    assert not uses_lfs(git, source.path)
    source.write("deep/er/.gitattributes", "*.txt text\n*.bin  filter=lfs diff=lfs merge=lfs -text\n")
    source.commit()
    assert uses_lfs(git, source.path)
    assert not uses_lfs(git, root.path, "origin/main")
    root.run("fetch", "--quiet")
    assert uses_lfs(git, root.path, "origin/main")


def test_lfs_in_a_comment_or_in_another_file_does_not_count(git, source):
    source.write(".gitattributes", "# *.bin filter=lfs\n")
    source.write("notes", "*.bin filter=lfs\n")
    source.commit()
    assert not uses_lfs(git, source.path)


def test_lfs_of_no_commit_is_no_answer(git, make_repo):
    with pytest.raises(GitError):
        uses_lfs(git, make_repo("empty").path)
