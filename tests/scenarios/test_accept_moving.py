"""What may happen to the branch and to the work between the first commit and the merge."""

from __future__ import annotations

import shutil

import pytest

from llmc.model import Turn, Work
from testing.scenario import Lands, Refused, Scenario, Table
from testing.world import SOME, World, seen

table = Table()
README = SOME["README"]
NEW = {"a.txt": "a\n"}
TOP, END = README.replace("line 1\n", "top\n"), README.replace("line 20\n", "end\n")


# --- the branch moved on ----------------------------------------------------------------------------


@table.add(Lands(NEW))
def in_other_files(w: World) -> None:
    w.work(NEW)
    w.upstream({"hand.txt": "h\n"})
    w.upstream({"hand.txt": "h2\n"})


@table.add(Lands({"README": README.replace("line 1\n", "top\n").replace("line 20\n", "end\n")}))
def in_another_part_of_the_same_file(w: World) -> None:
    w.work({"README": TOP})
    w.upstream({"README": END})


@table.add(Lands({"docs/notes.md": "notes\n" * 20 + "more\n"}))
def renaming_the_file_that_the_work_changes(w: World) -> None:
    w.upstream({"notes.txt": "notes\n" * 20}, "Longer")
    w.story.llmc("reset", "adam", "--yes")
    w.work({"notes.txt": "notes\n" * 20 + "more\n"})
    w.upstream({"notes.txt": None, "docs/notes.md": "notes\n" * 20}, "Move it")


@table.add(Lands(NEW, "Change\n\n- Back\n- Add a"))
def where_only_single_commits_conflict(w: World) -> None:
    w.work({"README": "worker\n"}, "Change")
    w.work({"README": README}, "Back")
    w.work(NEW, "Add a")
    w.upstream({"README": TOP})


@table.add(Lands({"b.txt": "b\n"}, "Add a\n\n- Add b"))
def and_has_a_part_of_the_work(w: World) -> None:
    w.work(NEW, "Add a")
    w.work({"b.txt": "b\n"}, "Add b")
    w.upstream(NEW, "Add a myself")


@table.add(Refused("nothing that main does not have", "llmc reset adam"))
def and_has_all_of_the_work(w: World) -> None:
    w.work(NEW)
    w.upstream(NEW, "Add a myself")


@table.add(Refused("nothing that main does not have", "llmc reset adam"))
def and_has_the_very_commit(w: World) -> None:
    sha = w.work(NEW)
    w.to_review()
    w.in_source("fetch", "--quiet", w.story.root.path, "llmc/adam")
    w.in_source("cherry-pick", "--allow-empty", sha)


# --- the branch was rewritten -----------------------------------------------------------------------


@table.add(Lands(NEW))
def the_commit_below_the_work_was_amended(w: World) -> None:
    w.upstream({"secret.txt": "s\n", "README": TOP}, "Oops")
    w.story.llmc("reset", "adam", "--yes")
    w.work(NEW)
    w.in_source("rm", "--quiet", "secret.txt")
    w.in_source("commit", "--quiet", "--amend", "-m", "Without the secret")


@table.add(Lands(NEW))
def the_commit_below_the_work_was_dropped(w: World) -> None:
    w.upstream({"README": TOP}, "Oops")
    w.story.llmc("reset", "adam", "--yes")
    w.work(NEW)
    w.in_source("reset", "--quiet", "--hard", "HEAD~1")


@table.add(Lands({"README": END}))
def the_branch_was_rewritten_and_moved_on(w: World) -> None:
    w.upstream({"hand.txt": "h\n"}, "Oops")
    w.story.llmc("reset", "adam", "--yes")
    w.work({"README": END})
    w.in_source("commit", "--quiet", "--amend", "-m", "Said better")
    w.upstream({"hand.txt": "h2\n"})


@table.add(Refused("conflicts with main in README"))
def what_was_dropped_is_needed_by_the_work(w: World) -> None:
    w.upstream({"README": TOP}, "Oops")
    w.story.llmc("reset", "adam", "--yes")
    w.work({"README": TOP.replace("top\n", "top of the top\n")})
    w.in_source("reset", "--quiet", "--hard", "HEAD~1")


# --- conflicts --------------------------------------------------------------------------------------


@table.add(Refused("conflicts with main in README", "llmc rebase adam"))
def both_changed_the_same_line(w: World) -> None:
    w.work({"README": README.replace("line 3\n", "worker\n")})
    w.upstream({"README": README.replace("line 3\n", "user\n")})


@table.add(Refused("conflicts with main in a.txt", "llmc rebase adam"))
def both_added_the_same_file(w: World) -> None:
    w.work({"a.txt": "worker\n"})
    w.upstream({"a.txt": "user\n"})


@table.add(Refused("conflicts with main in notes.txt", "llmc rebase adam"))
def one_changed_what_the_other_deleted(w: World) -> None:
    w.work({"notes.txt": "worker\n"})
    w.upstream({"notes.txt": None})


@table.add(Refused("conflicts with main in blob.bin", "llmc rebase adam"))
def both_changed_a_binary_file(w: World) -> None:
    w.upstream({"blob.bin": b"\0" * 100}, "A blob")
    w.story.llmc("reset", "adam", "--yes")
    w.work({"blob.bin": b"\0worker"})
    w.upstream({"blob.bin": b"\0user"})


@table.add(Refused("conflicts with main in", "llmc rebase adam"))
def a_directory_meets_a_file(w: World) -> None:
    w.work({"x/inner.txt": "worker\n"})
    w.upstream({"x": "user\n"})


@table.add(Refused("and 2 more", "llmc rebase adam"))
def many_files_conflict(w: World) -> None:
    w.work({f"{n}.txt": "worker\n" for n in range(7)})
    w.upstream({f"{n}.txt": "user\n" for n in range(7)})


# --- the work is in no state to be accepted ---------------------------------------------------------


@table.add(Refused("needs a worker that is needs_review; adam is idle", "llmc explain adam"), reviewed=False)
def there_is_no_work(w: World) -> None:
    assert w.story.worker("adam").work is Work.IDLE


@table.add(Refused("adam is working", "llmc explain adam"), reviewed=False)
def it_is_still_being_made(w: World) -> None:
    w.story.rewrite("adam", work=Work.WORKING, reports_events=True, turn=Turn.OPEN, current_prompt="x")


@table.add(Refused("uncommitted changes in README", "llmc message adam"))
def a_change_is_not_committed(w: World) -> None:
    w.work(NEW)
    (w.worktree / "README").write_text("half\n")


@table.add(Refused("uncommitted changes in half.txt", "llmc message adam"))
def a_file_is_not_tracked(w: World) -> None:
    w.work(NEW)
    (w.worktree / "half.txt").write_text("half\n")


@table.add(Refused("uncommitted changes in half.txt", "llmc message adam"))
def a_change_is_staged_only(w: World) -> None:
    w.work(NEW)
    (w.worktree / "half.txt").write_text("half\n")
    w.in_worktree("add", "half.txt")


@table.add(Lands(NEW))
def ignored_files_are_no_hindrance(w: World) -> None:
    w.work(NEW)
    (w.worktree / "x.log").write_text("log\n")


@table.add(Refused("on no branch at all", "llmc attach adam"))
def no_branch_is_checked_out(w: World) -> None:
    w.work(NEW)
    w.in_worktree("checkout", "--quiet", "--detach")


@table.add(Refused("but on other", "llmc attach adam"))
def another_branch_is_checked_out(w: World) -> None:
    w.work(NEW)
    w.to_review()
    w.in_worktree("checkout", "--quiet", "-b", "other")


@table.add(Refused("adam is needs_input", "llmc explain adam", record_moves=True))
def its_commits_were_taken_back(w: World) -> None:
    w.work(NEW)
    w.to_review()
    w.in_worktree("reset", "--quiet", "--hard", "HEAD~1")


@table.add(Refused("nothing that main does not have", "llmc reset adam"))
def its_only_commit_is_empty(w: World) -> None:
    w.work({}, "Nothing")


@table.add(Refused("is gone", "llmc doctor", foreseen=False))
def its_worktree_is_gone(w: World) -> None:
    w.work(NEW)
    w.to_review()
    shutil.rmtree(w.worktree)


@table.add(Refused("on no branch at all", "llmc attach"))
def its_worktree_is_being_rebased(w: World) -> None:
    w.work({"README": README.replace("line 3\n", "worker\n")})
    w.to_review()
    tip = w.upstream({"README": README.replace("line 3\n", "user\n")})
    w.story.fetch_upstream()
    w.story.site.git.run(str(w.worktree), "rebase", tip, check=False)


# --- the checks -------------------------------------------------------------------------------------


@table.add(Lands(NEW))
def checks_that_pass(w: World) -> None:
    w.work(NEW)
    w.config("repo.validate", '["test -f a.txt", "git diff --quiet HEAD"]')


@table.add(Lands(NEW))
def checks_see_what_will_land(w: World) -> None:
    w.work(NEW, "One\n")
    w.in_worktree("commit", "--quiet", "--amend", "-m", "The work")
    w.work({}, "fixup! The work")
    w.upstream({"hand.txt": "h\n"})
    w.config("repo.validate", '["test -f hand.txt && test $(git rev-list --count origin/main..HEAD) = 1"]')


@table.add(Lands(NEW))
def checks_that_leave_files_behind(w: World) -> None:
    w.work(NEW)
    w.upstream({"hand.txt": "h\n"})
    w.config("repo.validate", '["echo x > coverage.xml; mkdir -p out; echo y > out/y"]')


@table.add(Refused("failed with exit code 3", "llmc reject", foreseen=False))
def checks_that_fail(w: World) -> None:
    w.work(NEW)
    w.config("repo.validate", '["echo fine", "echo no good; exit 3"]')


@table.add(Refused("no good", "llmc reject", foreseen=False))
def checks_that_fail_on_top_of_the_new_branch(w: World) -> None:
    w.work(NEW)
    w.work({"b.txt": "b\n"}, "More")
    w.upstream({"hand.txt": "h\n"})
    w.config("repo.validate", '["echo x > left.txt; echo x > README; echo no good; false"]')


@table.add(Refused("did not end within", "validate_timeout_secs", foreseen=False))
def checks_that_hang(w: World) -> None:
    w.work(NEW)
    w.config("repo.validate", '["touch half.txt; sleep 100"]')
    w.config("repo.validate_timeout_secs", "0.3")


@table.add(Refused("changed what it was to check: a.txt", "llmc reject adam", foreseen=False))
def checks_that_change_the_work(w: World) -> None:
    w.work(NEW)
    w.config("repo.validate", '["echo formatted > a.txt"]')


@table.add(Refused("changed what it was to check: a.txt", "llmc reject adam", foreseen=False))
def checks_that_change_the_work_on_top_of_the_new_branch(w: World) -> None:
    w.work(NEW)
    w.upstream({"hand.txt": "h\n"})
    w.config("repo.validate", '["echo formatted > a.txt"]')


# --- in the same second -----------------------------------------------------------------------------


def once(w: World, command: str) -> str:
    """A check during which the user does something, the first time that it runs."""
    flag = w.story.place / "done"
    return f'["test -e {flag} || (touch {flag} && cd {w.source} && {command})"]'


@table.add(Lands(NEW, meanwhile=True))
def the_user_commits_while_it_is_checked(w: World) -> None:
    w.work(NEW)
    w.config("repo.validate", once(w, "git commit --quiet --allow-empty -m Meanwhile"))


@table.add(Lands(NEW, meanwhile=True))
def the_user_takes_a_commit_back_while_it_is_checked(w: World) -> None:
    w.upstream({}, "Oops")
    w.story.llmc("reset", "adam", "--yes")
    w.work(NEW)
    w.config("repo.validate", once(w, "git reset --quiet --hard HEAD~1"))


# --- what it needs is gone --------------------------------------------------------------------------


@pytest.mark.parametrize("words", [(), ("--dry-run",)], ids=["accept", "dry run"])
def test_a_source_that_is_gone(world: World, words: tuple[str, ...]) -> None:
    world.work(NEW)
    world.to_review()
    before = world.picture()
    aside = world.source.rename(world.story.place / "aside")
    said = world.story.llmc("accept", "adam", *words, code=1)
    assert "there is no git repository at" in said.err
    assert "llmc config set repo.source" in said.err
    aside.rename(world.source)
    assert world.picture() == before
    world.story.llmc("accept", "adam")


@pytest.mark.parametrize("words", [(), ("--dry-run",)], ids=["accept", "dry run"])
def test_a_branch_of_the_user_that_is_gone(world: World, words: tuple[str, ...]) -> None:
    world.work(NEW)
    world.to_review()
    world.in_source("branch", "-m", "main", "other")
    before = world.picture()
    said = world.story.llmc("accept", "adam", *words, code=1)
    assert "has no branch main any more" in said.err
    assert "repo.branch" in said.err
    assert world.picture() == before


def test_a_branch_of_the_worker_that_is_gone(world: World) -> None:
    head = world.work(NEW)
    world.to_review()
    world.in_clone("update-ref", "-d", "refs/heads/llmc/adam")
    before = seen(world.story, world.source)
    assert "adam is needs_input" in world.story.llmc("accept", "adam", code=1).err
    assert seen(world.story, world.source) == before
    assert world.in_clone("cat-file", "-t", head) == "commit"


def test_a_branch_that_never_rests_is_given_up(world: World) -> None:
    world.work(NEW)
    world.to_review()
    meanwhile = "date +%N > moved.txt && git add moved.txt && git commit --quiet -m Meanwhile"
    world.config("repo.validate", f'["cd {world.source} && {meanwhile}"]')
    before = world.picture()
    said = world.story.llmc("accept", "adam", code=1)
    assert "main moved while the work was being landed" in said.err
    assert "accept again" in said.err
    after = world.picture()
    assert (after["work"], after["record"]) == (before["work"], before["record"])
    assert "The work" not in world.story.subjects()


@pytest.mark.parametrize("scenario", table.rows, ids=lambda scenario: scenario.name)
def test_accept(world: World, scenario: Scenario) -> None:
    scenario.play(world)
