from __future__ import annotations

import pytest

from llmc.git.clone import ensure_view
from llmc.git.failure import GitError
from llmc.git.history import own_commits
from llmc.git.land import (
    BranchMovedError,
    Landed,
    LandLostError,
    LandRefusedError,
    LocalChangesError,
    signs,
    squash,
)
from llmc.git.runner import Git
from llmc.host.local import LocalHost
from testing.landing import land_now as land

ADAM, BAKER = "refs/heads/llmc/adam", "refs/heads/llmc/baker"
FIRST = {"GIT_AUTHOR_NAME": "Agent Ä", "GIT_AUTHOR_EMAIL": "agent@example.com", "GIT_AUTHOR_DATE": "@1600000000 +0330"}


@pytest.fixture
def work(source, worker):
    """One finished commit that changes README and adds a file, on the tip of main."""
    worker.write("README", "one\nTWO\nthree\n")
    worker.write("added", "new\n")
    worker.commit("work")
    return worker


@pytest.fixture
def try_land(git, source, root, work):
    def attempt(where=source, branch="main", **options):
        return land(git, where.path, root.path, branch, options.get("old", work.sha("HEAD~1")), ADAM)

    return attempt


def as_one(git, root, base, head, message):
    first, *_ = own_commits(git, root.path, head, base)
    return squash(git, root.path, f"{head}^{{tree}}", base, first, message, signed=signs(git, root.path))


def everything(repo):
    """Refs, index and files: what must not change when landing is refused."""
    names = [name for name in repo.run("ls-files", "-co", "-z").split("\0") if name]
    files = {name: repo.file(name).read_bytes() for name in names if repo.file(name).exists()}
    return repo.run("for-each-ref"), repo.run("ls-files", "--stage"), files, repo.sha()


def assert_refused(repo, error, attempt, **matching):
    before = everything(repo)
    with pytest.raises(error, **matching) as caught:
        attempt()
    assert everything(repo) == before
    return caught.value


def test_squash_is_one_commit_by_the_first_author(git, root, worker, source):
    worker.write("a")
    worker.commit("one", env=FIRST)
    worker.commit_file("b", "b")
    sha = as_one(git, root, source.sha(), worker.sha(), "Add a and b\n\nBoth — ünicode.\n\n")
    shown = root.run("log", "-1", "--format=%P|%an|%ae|%ad|%cn|%B", "--date=raw", sha)
    assert shown == (
        f"{source.sha()}|Agent Ä|agent@example.com|1600000000 +0330|Tess Ter|Add a and b\n\nBoth — ünicode.\n"
    )
    assert root.sha(f"{sha}^{{tree}}") == worker.sha("HEAD^{tree}")


def test_squash_ignores_the_identity_of_a_commit_under_way(git, root, work, source, monkeypatch):
    monkeypatch.setenv("GIT_COMMITTER_NAME", "Somebody Else")
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Somebody Else")
    sha = as_one(git, root, source.sha(), work.sha(), "x")
    assert root.run("log", "-1", "--format=%an %cn", sha) == "Tess Ter Tess Ter"


def test_squash_without_a_configured_user_says_how_to_set_one(git, root, work, source):
    source.run("config", "user.useConfigOnly", "true")
    source.run("config", "user.name", "")
    ensure_view(git, source.path, root.path, "main")
    with pytest.raises(GitError) as caught:
        as_one(git, root, source.sha(), work.sha(), "x")
    assert "user.name" in caught.value.hint


def test_squash_is_signed_when_the_user_signs(git, root, work, source, tmp_path):
    key = tmp_path / "key"
    signer = tmp_path / "signer"
    # As git calls ssh-keygen to sign: the last argument is the file, the signature goes beside it.
    signer.write_text('#!/bin/sh\nfor file; do :; done\ncat "$file" > /dev/null\necho signed > "$file.sig"\n')
    signer.chmod(0o755)
    key.write_text("key")
    for name, value in [
        ("commit.gpgSign", "true"),
        ("gpg.format", "ssh"),
        ("gpg.ssh.program", str(signer)),
        ("user.signingKey", str(key)),
    ]:
        source.run("config", name, value)
    ensure_view(git, source.path, root.path, "main")
    sha = as_one(git, root, source.sha(), work.sha(), "x")
    assert "gpgsig signed" in root.run("cat-file", "commit", sha)


def test_squash_that_cannot_be_signed_says_so(git, root, work, source):
    source.run("config", "commit.gpgSign", "true")
    source.run("config", "gpg.program", "false")
    ensure_view(git, source.path, root.path, "main")
    with pytest.raises(GitError) as caught:
        as_one(git, root, source.sha(), work.sha(), "x")
    assert "signing key" in caught.value.hint


def test_lands_on_a_clean_checkout(source, root, work, try_land):
    assert try_land() == Landed("main", work.sha(), source.path)
    assert (source.sha("main"), source.status()) == (work.sha(), "")
    assert source.file("added").read_text() == "new\n"
    assert root.run("for-each-ref", "--format=%(refname)", "refs/llmc") == "refs/llmc/upstream/main"
    assert source.run("for-each-ref", "--format=%(refname)") == "refs/heads/main"
    assert not source.file(".git/FETCH_HEAD").exists()


@pytest.mark.lesson(26, "accepting never touches a person's uncommitted work")
def test_unrelated_local_changes_are_kept(source, work, try_land):
    source.write("mine", "m\n")
    source.write("tracked", "1\n")
    source.run("add", "tracked")
    source.write("tracked", "2\n")
    before = source.status()
    try_land()
    assert source.status() == before
    assert (source.file("mine").read_text(), source.run("show", ":tracked")) == ("m\n", "1")


@pytest.mark.lesson(26, "accepting never touches a person's uncommitted work")
def test_overlapping_local_change_is_refused(source, try_land):
    source.write("README", "mine\n")
    error = assert_refused(source, LocalChangesError, try_land)
    assert error.files == ("README",)
    assert "README" in error.what
    assert "accept again" in error.hint


def test_overlapping_change_is_refused_even_when_the_user_stashes_automatically(source, try_land):
    source.run("config", "merge.autoStash", "true")
    source.write("README", "mine\n")
    assert_refused(source, LocalChangesError, try_land)
    assert source.run("stash", "list") == ""


def test_overlapping_staged_change_is_refused(source, try_land):
    source.write("README", "mine\n")
    source.run("add", "README")
    assert assert_refused(source, LocalChangesError, try_land).files == ("README",)


@pytest.mark.lesson(26, "accepting never touches a person's uncommitted work")
def test_untracked_file_in_the_way_is_refused(source, try_land):
    source.write("added", "mine\n")
    assert assert_refused(source, LocalChangesError, try_land).files == ("added",)


def test_ignored_file_in_the_way_is_refused(source, try_land):
    source.write(".git/info/exclude", "added\n")
    source.write("added", "my secret\n")
    assert assert_refused(source, LocalChangesError, try_land).files == ("added",)


def test_untracked_directory_in_the_way_is_refused(source, try_land):
    source.write("added/mine", "mine\n")
    assert assert_refused(source, LocalChangesError, try_land).files == ("added",)


def test_several_files_in_the_way_are_all_listed(source, try_land):
    source.write("README", "mine\n")
    source.write("added", "mine\n")
    assert sorted(assert_refused(source, LocalChangesError, try_land).files) == ["README", "added"]


def test_identical_staged_change_is_no_obstacle(source, work, try_land):
    source.write("README", "one\nTWO\nthree\n")
    source.run("add", "README")
    try_land()
    assert source.status() == ""


@pytest.mark.parametrize("checked_out", [True, False])
def test_hook_that_forbids_to_move_the_branch_leaves_everything_as_it_was(source, try_land, checked_out):
    hook = source.write(
        ".git/hooks/reference-transaction", "#!/bin/sh\n[ $1 != prepared ] || ! grep -q refs/heads/main\n"
    )
    hook.chmod(0o755)
    source.write("mine", "m\n")
    source.write("staged", "s\n")
    source.run("add", "staged")
    if not checked_out:
        source.run("checkout", "--quiet", "-b", "elsewhere")
    before = source.status()
    assert "hook" in assert_refused(source, GitError, try_land).what
    assert source.status() == before


def test_lands_in_a_bare_source(git, source, root, work, tmp_path, make_repo, try_land):
    bare = make_repo("bare.git", "--bare")
    bare.run("fetch", "--quiet", source.path, "main:main")
    assert try_land(bare) == Landed("main", work.sha())
    assert bare.sha("main") == work.sha()
    assert bare.run("symbolic-ref", "HEAD") == "refs/heads/main"


def test_lands_on_a_branch_that_is_not_checked_out(source, work, try_land):
    source.run("checkout", "--quiet", "-b", "elsewhere")
    source.write("README", "mine\n")
    assert try_land() == Landed("main", work.sha())
    assert source.sha("main") == work.sha()
    assert source.file("README").read_text() == "mine\n"


def test_lands_in_a_linked_worktree_of_the_source(source, work, try_land, tmp_path):
    linked = str(tmp_path / "lin ked")
    source.run("checkout", "--quiet", "-b", "elsewhere")
    source.run("worktree", "add", "--quiet", linked, "main")
    assert try_land() == Landed("main", work.sha(), linked)
    assert source.run("-C", linked, "status", "--porcelain") == ""
    assert source.run("-C", linked, "show", "HEAD:added") == "new"


def test_linked_worktree_that_is_gone_does_not_count(source, work, try_land, tmp_path):
    source.run("checkout", "--quiet", "-b", "elsewhere")
    source.run("worktree", "add", "--quiet", str(tmp_path / "linked"), "main")
    (tmp_path / "linked").rename(tmp_path / "moved")
    assert try_land() == Landed("main", work.sha())


def test_branch_checked_out_twice_is_refused(source, try_land, tmp_path):
    source.run("worktree", "add", "--quiet", "--force", str(tmp_path / "twin"), "main")
    assert_refused(source, LandRefusedError, try_land, match="several worktrees")


def test_branch_that_moved_on_is_refused(source, work, try_land):
    base = source.sha()
    moved = source.commit_file("users", "u\n")
    error = assert_refused(source, BranchMovedError, lambda: try_land(old=base))
    assert (error.expected, error.actual) == (base, moved)


def test_branch_that_was_rewritten_is_refused(source, try_land):
    base = source.sha()
    source.run("commit", "--quiet", "--amend", "-m", "rewritten")
    assert_refused(source, BranchMovedError, lambda: try_land(old=base))


def test_branch_that_is_gone_is_refused(source, try_land):
    source.run("branch", "-m", "renamed")
    error = assert_refused(source, BranchMovedError, try_land)
    assert error.actual is None


def test_landing_twice_is_landing_once(source, work, try_land):
    try_land()
    later = source.commit_file("users", "u\n")
    assert try_land() == Landed("main", work.sha(), already=True)
    assert source.sha() == later


def test_work_that_is_not_based_on_the_branch_is_refused(git, source, root, work):
    old = source.commit_file("users", "u\n")
    assert_refused(
        source,
        LandRefusedError,
        lambda: land(git, source.path, root.path, "main", old, ADAM),
        match="not based on main",
    )


@pytest.fixture
def torn(source):
    """A branch `side` in the source that conflicts with main."""
    source.run("checkout", "--quiet", "-b", "side", "HEAD")
    source.commit_file("conflict", "side\n")
    source.run("checkout", "--quiet", "main")
    return source


@pytest.mark.parametrize("verb", ["merge", "cherry-pick"])
def test_source_in_the_middle_of_something_is_refused(git, source, root, make_repo, torn, verb):
    base = source.commit_file("conflict", "main\n")
    root.run("fetch", "--quiet")
    worker = root.worker("baker")
    worker.commit_file("unrelated", "x\n")
    assert git.run(source.path, verb, "side", check=False).code == 1
    error = assert_refused(
        source,
        LandRefusedError,
        lambda: land(git, source.path, root.path, "main", base, BAKER),
        match=f"in the middle of a {verb}",
    )
    assert f"git {verb} --abort" in error.hint


def test_branch_under_rebase_in_the_source_is_refused(git, source, root, torn):
    base = source.commit_file("conflict", "main\n")
    root.run("fetch", "--quiet")
    worker = root.worker("baker")
    worker.commit_file("unrelated", "x\n")
    assert git.run(source.path, "rebase", "side", check=False).code == 1
    assert_refused(
        source,
        LandRefusedError,
        lambda: land(git, source.path, root.path, "main", base, BAKER),
        match="in the middle of a rebase",
    )


def test_rebase_of_another_branch_is_none_of_our_business(git, source, root, work, torn, try_land):
    source.run("checkout", "--quiet", "-b", "third")
    source.commit_file("conflict", "third\n")
    assert git.run(source.path, "rebase", "side", check=False).code == 1
    assert try_land() == Landed("main", work.sha())


class Meddling(LocalHost):
    """Lets the user do something in the moment before a certain git command runs."""

    def __init__(self, before, action):
        self.before = before
        self.action = action

    def run(self, argv, **options):
        if self.before in argv:
            self.before = None
            self.action()
        return super().run(argv, **options)


@pytest.mark.lesson(26, "accepting never touches a person's uncommitted work")
def test_commit_of_the_user_in_the_same_moment_wins(source, root, work):
    base = source.sha()
    meddling = Git(Meddling("merge", lambda: source.commit_file("users", "u\n")))
    with pytest.raises(BranchMovedError):
        land(meddling, source.path, root.path, "main", base, ADAM)
    assert source.run("log", "-1", "--format=%s") == "change"
    assert source.status() == ""


def test_update_of_a_branch_in_the_same_moment_wins(source, root, work):
    base = source.sha()
    source.run("checkout", "--quiet", "-b", "elsewhere")
    moved = source.commit_file("users", "u\n")
    meddling = Git(Meddling("llmc: accept", lambda: source.run("branch", "--force", "main", moved)))
    with pytest.raises(BranchMovedError):
        land(meddling, source.path, root.path, "main", base, ADAM)
    assert source.sha("main") == moved


@pytest.mark.lesson(26, "accepting never touches a person's uncommitted work")
def test_switching_branches_in_the_same_moment_is_noticed(source, root, work):
    base = source.sha()
    meddling = Git(Meddling("merge", lambda: source.run("checkout", "--quiet", "-b", "idea")))
    with pytest.raises(LandLostError, match="main"):
        land(meddling, source.path, root.path, "main", base, ADAM)
    assert source.sha("main") == base
