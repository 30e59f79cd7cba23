"""Where the branch may be, what else may be there, and what the user's repository may be like."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from llmc.git.runner import Git
from llmc.host.local import LocalHost
from testing.scenario import Lands, Refused, Scenario, Table
from testing.world import SOME, Link, World

table = Table()
README = SOME["README"]
NEW = {"a.txt": "a\n"}


# --- checked out or not -----------------------------------------------------------------------------


@table.add(Lands(NEW))
def another_branch_is_checked_out(w: World) -> None:
    w.work(NEW)
    w.in_source("checkout", "--quiet", "-b", "elsewhere")
    w.local({"a.txt": "mine\n", "README": "mine\n"})


@table.add(Lands(NEW))
def no_branch_is_checked_out(w: World) -> None:
    w.work(NEW)
    w.in_source("checkout", "--quiet", "--detach")
    w.local({"README": "mine\n"})


@table.add(Lands(NEW))
def a_linked_worktree_has_it(w: World) -> None:
    w.work(NEW)
    w.in_source("checkout", "--quiet", "-b", "elsewhere")
    w.in_source("worktree", "add", "--quiet", str(w.story.place / "linked"), "main")


@table.add(Refused("checked out in several worktrees", "all but one"))
def it_is_checked_out_twice(w: World) -> None:
    w.work(NEW)
    w.in_source("worktree", "add", "--quiet", "--force", str(w.story.place / "twin"), "main")


@table.add(Lands(NEW))
def the_source_is_bare(w: World) -> None:
    w.work(NEW)
    shutil.move(w.source / ".git", w.story.place / "bare")
    shutil.rmtree(w.source)
    shutil.move(w.story.place / "bare", w.source)
    w.in_source("config", "core.bare", "true")


@table.add(Lands(NEW))
def the_branches_are_packed(w: World) -> None:
    w.work(NEW)
    w.in_source("pack-refs", "--all")


@table.add(Lands({"README": README + "more\n"}))
def the_history_is_shallow(w: World) -> None:
    shutil.rmtree(w.story.place)
    git = new_repository(w.story.place / "full")
    for number in range(3):
        (w.story.place / "full" / "README").write_text(README if number == 2 else f"{number}\n")
        git("add", "--all")
        git("commit", "--quiet", "-m", f"commit {number}")
    git("clone", "--quiet", "--depth=1", f"file://{w.story.place}/full", str(w.source))
    w.story.llmc("init", "--source", str(w.source), "--target", w.story.root.path)
    w.story.llmc("add", "adam", "--agent", "shell")
    w.work({"README": README + "more\n"})


def new_repository(where: Path) -> Callable[..., str]:
    """Runs git there."""
    where.mkdir(parents=True)
    git = Git(LocalHost())
    git.run(str(where), "init", "--quiet", "--initial-branch=main")
    return lambda *words: git.text(str(where), *words)


# --- local changes that stay ------------------------------------------------------------------------


@table.add(Lands(NEW))
def an_unstaged_change_stays(w: World) -> None:
    w.work(NEW)
    w.local({"README": "mine\n"})


@table.add(Lands(NEW))
def a_staged_change_stays(w: World) -> None:
    w.work(NEW)
    w.local({"README": "mine\n", "mine.txt": "m\n"})
    w.in_source("add", "--all")
    w.local({"mine.txt": "m2\n"})


@table.add(Lands(NEW))
def untracked_and_ignored_files_stay(w: World) -> None:
    w.work(NEW)
    w.local({"mine/deep.txt": "m\n", "x.log": "log\n", "build/out": "o\n"})


@table.add(Lands(NEW))
def a_deleted_file_stays_deleted(w: World) -> None:
    w.work(NEW)
    w.local({"notes.txt": None, "run.sh": None})
    w.in_source("rm", "--quiet", "--cached", "run.sh")


@table.add(Lands(NEW))
def a_changed_mode_and_a_symlink_stay(w: World) -> None:
    w.work(NEW)
    (w.source / "run.sh").chmod(0o755)
    w.local({"notes.txt": Link("README")})


@table.add(Lands(NEW))
def a_stash_and_an_intent_to_add_stay(w: World) -> None:
    w.work(NEW)
    w.local({"README": "stashed\n"})
    w.in_source("stash", "--quiet")
    w.local({"soon.txt": "s\n"})
    w.in_source("add", "--intent-to-add", "soon.txt")


@table.add(Lands(NEW))
def other_branches_and_tags_stay(w: World) -> None:
    w.work(NEW)
    w.in_source("branch", "side")
    w.in_source("tag", "-m", "one", "v1")


@table.add(Lands({"README": README + "more\n"}, status_after=""))
def the_same_change_was_staged_by_the_user(w: World) -> None:
    w.work({"README": README + "more\n"})
    w.local({"README": README + "more\n"})
    w.in_source("add", "README")


# --- local changes in the way -----------------------------------------------------------------------


@table.add(Refused("would overwrite: README", "stash"))
def an_unstaged_change_is_in_the_way(w: World) -> None:
    w.work({"README": README + "more\n", **NEW})
    w.local({"README": "mine\n", "other.txt": "o\n"})


@table.add(Refused("would overwrite: README", "stash"))
def a_staged_change_is_in_the_way(w: World) -> None:
    w.work({"README": README + "more\n"})
    w.local({"README": "mine\n"})
    w.in_source("add", "README")


@table.add(Refused("would overwrite: a.txt", "move"))
def an_untracked_file_is_in_the_way(w: World) -> None:
    w.work(NEW)
    w.local({"a.txt": "mine\n"})


@table.add(Refused("would overwrite: debug.log", "move"))
def an_ignored_file_is_in_the_way(w: World) -> None:
    w.work({".gitignore": "build/\n", "debug.log": "d\n"})
    w.local({"debug.log": "my log\n"})


@table.add(Refused("would overwrite: a.txt", "move"))
def an_untracked_directory_is_in_the_way(w: World) -> None:
    w.work(NEW)
    w.local({"a.txt/mine": "mine\n"})


@table.add(Refused("would overwrite: new", "move"))
def an_untracked_file_in_place_of_a_directory(w: World) -> None:
    w.work({"new/a.txt": "a\n"})
    w.local({"new": "mine\n"})


@table.add(Refused("would overwrite: notes.txt"))
def a_change_to_a_file_that_the_work_deletes(w: World) -> None:
    w.work({"notes.txt": None})
    w.local({"notes.txt": "mine\n"})


@table.add(Refused("would overwrite: README, a.txt"))
def several_files_are_in_the_way(w: World) -> None:
    w.work({"README": README + "more\n", **NEW})
    w.local({"README": "mine\n", "a.txt": "mine\n"})


# --- the user is in the middle of something ---------------------------------------------------------


def torn(w: World) -> None:
    w.in_source("checkout", "--quiet", "-b", "side")
    w.upstream({"torn.txt": "side\n"}, "Side")
    w.in_source("checkout", "--quiet", "main")
    w.upstream({"torn.txt": "main\n"}, "Main")
    w.work(NEW)


@table.add(Refused("in the middle of a merge", "git merge --abort"))
def the_user_merges(w: World) -> None:
    torn(w)
    w.story.site.git.run(str(w.source), "merge", "side", check=False)


@table.add(Refused("in the middle of a cherry-pick", "git cherry-pick --abort"))
def the_user_picks_cherries(w: World) -> None:
    torn(w)
    w.story.site.git.run(str(w.source), "cherry-pick", "side", check=False)


@table.add(Refused("in the middle of a rebase", "git rebase --abort"))
def the_user_rebases_the_branch(w: World) -> None:
    torn(w)
    w.story.site.git.run(str(w.source), "rebase", "side", check=False)


# --- hooks ------------------------------------------------------------------------------------------


@table.add(Lands(NEW))
def hooks_for_commits_are_not_run(w: World) -> None:
    w.work(NEW)
    for name in ("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "pre-merge-commit", "pre-push"):
        w.hook(name, "exit 1")


@table.add(Lands(NEW))
def a_hook_after_the_merge_may_fail(w: World) -> None:
    w.work(NEW)
    w.hook("post-merge", "echo broken >&2; exit 1")


@table.add(Refused("aborted by hook", foreseen=False))
def a_hook_forbids_to_move_the_branch(w: World) -> None:
    w.work({"README": README + "more\n", **NEW})
    w.local({"mine.txt": "m\n", "notes.txt": "mine\n"})
    w.hook("reference-transaction", "[ $1 != prepared ] || ! grep -q refs/heads/main")


@table.add(Refused("aborted by hook", foreseen=False))
def a_hook_forbids_it_where_it_is_not_checked_out(w: World) -> None:
    w.work(NEW)
    w.in_source("checkout", "--quiet", "-b", "elsewhere")
    w.hook("reference-transaction", "[ $1 != prepared ] || ! grep -q refs/heads/main")


@table.add(Lands(NEW))
def hooks_of_all_repositories_do_not_meddle(w: World) -> None:
    w.work(NEW)
    hooks = w.story.place / "hooks"
    hooks.mkdir()
    for name in ("pre-commit", "commit-msg", "post-checkout", "pre-rebase"):
        (hooks / name).write_text("#!/bin/sh\nexit 1\n")
        (hooks / name).chmod(0o755)
    w.in_clone("config", "core.hooksPath", str(hooks))


def test_the_hook_after_a_merge_runs_in_the_users_checkout(world: World) -> None:
    world.work(NEW)
    world.to_review()
    world.hook(
        "post-merge", 'pwd > "$(git rev-parse --git-dir)/seen"; git rev-parse HEAD >> "$(git rev-parse --git-dir)/seen"'
    )
    made = world.story.json("accept", "adam")["commit"]
    assert (world.source / ".git" / "seen").read_text().split() == [str(world.source), made]


# --- large files, submodules, filters ---------------------------------------------------------------


@table.add(Lands({"b.bin": None}))
def large_files_of_git_lfs(w: World) -> None:
    """The pointer is compared in `test_large_files_arrive`; here the file is taken away again."""
    w.in_source("lfs", "install", "--local")
    w.upstream({".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n", "b.bin": b"\0large" * 50}, "Large")
    w.story.llmc("reset", "adam", "--yes")
    w.work({"b.bin": None})


def test_large_files_arrive(world: World) -> None:
    world.in_source("lfs", "install", "--local")
    world.upstream({".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n"}, "Large")
    world.in_clone("lfs", "install", "--local", "--skip-repo")
    world.story.llmc("reset", "adam", "--yes")
    world.work({"b.bin": b"\0large" * 500})
    world.to_review()
    world.story.llmc("accept", "adam")
    assert (world.source / "b.bin").read_bytes() == b"\0large" * 500
    assert world.in_source("status", "--porcelain") == ""
    assert world.in_source("cat-file", "blob", "main:b.bin").startswith("version https://git-lfs")


def with_submodule(w: World) -> Path:
    library = w.story.place / "library"
    git = new_repository(library)
    git("commit", "--quiet", "--allow-empty", "-m", "one")
    git("commit", "--quiet", "--allow-empty", "-m", "two")
    w.in_source("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library), "lib")
    w.upstream({}, "Add the library")
    w.story.llmc("reset", "adam", "--yes")
    return library


@table.add(Lands(NEW))
def a_submodule_is_left_alone(w: World) -> None:
    with_submodule(w)
    (w.source / "lib" / "mine.txt").write_text("m\n")
    w.work(NEW)


def test_a_submodule_moves_forward(world: World) -> None:
    library = with_submodule(world)
    older = world.story.git("rev-parse", "HEAD~1", cwd=str(library))
    world.in_worktree("update-index", "--cacheinfo", f"160000,{older},lib")
    world.in_worktree("commit", "--quiet", "-m", "Back to the older library")
    world.to_review()
    world.story.llmc("accept", "adam")
    assert world.in_source("rev-parse", "main:lib") == older
    assert world.in_source("status", "--porcelain") == " M lib", "its files are the user's to update"


@table.add(Refused("has local changes that this work would overwrite: lib", "move or stash"))
def a_file_would_take_the_place_of_a_submodule(w: World) -> None:
    """Git itself would remove all that is in there."""
    with_submodule(w)
    (w.source / "lib" / "mine.txt").write_text("m\n")
    w.in_worktree("rm", "--quiet", "--cached", "lib")
    w.work({"lib": "a file\n"})


@table.add(Refused("has local changes that this work would overwrite: lib", "move or stash"))
def a_directory_would_take_the_place_of_a_submodule(w: World) -> None:
    with_submodule(w)
    (w.source / "lib" / "mine.txt").write_text("m\n")
    w.in_worktree("rm", "--quiet", "--cached", "lib")
    w.work({"lib/other.txt": "a file\n"})


@table.add(Lands({"lib": "a file\n"}))
def a_file_takes_the_place_of_an_empty_submodule(w: World) -> None:
    with_submodule(w)
    w.in_source("submodule", "--quiet", "deinit", "--force", "lib")
    w.in_worktree("rm", "--quiet", "--cached", "lib")
    w.work({"lib": "a file\n"})


@table.add(Lands({"b.txt": "b\n"}))
def contents_that_a_filter_changes(w: World) -> None:
    w.upstream({".gitattributes": "*.txt text eol=crlf\n"}, "Line ends")
    w.in_source("rm", "--quiet", "-r", "--cached", ".")
    w.in_source("reset", "--quiet", "--hard")
    w.story.llmc("reset", "adam", "--yes")
    w.work({"b.txt": "b\r\n"})


@table.add(Lands(NEW))
def the_users_checkout_is_sparse(w: World) -> None:
    w.work(NEW)
    w.in_source("sparse-checkout", "set", "src")


# --- signatures -------------------------------------------------------------------------------------


def sign(w: World) -> None:
    key = w.story.place / "key"
    w.story.site.host.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)])
    (w.story.place / "allowed").write_text(f"tess@example.com {key.with_suffix('.pub').read_text()}")
    settings = {
        "commit.gpgSign": "true",
        "gpg.format": "ssh",
        "user.signingKey": str(key),
        "gpg.ssh.allowedSignersFile": str(w.story.place / "allowed"),
    }
    for name, value in settings.items():
        w.in_source("config", name, value)
        w.in_clone("config", name, value)


@table.add(Lands({**NEW, "b.txt": "b\n"}, "The work\n\n- More"))
def commits_are_signed(w: World) -> None:
    sign(w)
    w.work(NEW)
    w.work({"b.txt": "b\n"}, "More")


def test_the_one_commit_carries_the_users_signature(world: World) -> None:
    sign(world)
    world.work(NEW)
    world.upstream({"hand.txt": "h\n"})
    world.to_review()
    squash = next(s for s in world.story.json("accept", "adam", "--dry-run")["steps"] if s["step"] == "squash")
    assert squash["signed"] is True
    world.story.llmc("accept", "adam")
    assert world.in_source("log", "-1", "--format=%G? %GS", "main") == "G tess@example.com"


@table.add(Refused("No private key", "signing key", foreseen=False))
def a_signature_that_cannot_be_made(w: World) -> None:
    w.work(NEW)
    sign(w)
    (w.story.place / "key").unlink()


@pytest.mark.lesson(26, "accepting never touches a person's uncommitted work")
@pytest.mark.parametrize("scenario", table.rows, ids=lambda scenario: scenario.name)
def test_accept(world: World, scenario: Scenario) -> None:
    scenario.play(world)
